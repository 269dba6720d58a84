//! What confines a command besides its namespaces: its identity, no capabilities, Landlock and the
//! filter of system calls. Made ready before the fork, put on after it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use ringfence_confine::landlock::{self, AbstractSockets, Grant, LandlockError, Signals};
use ringfence_confine::notify::Listener;
use ringfence_confine::{mount, privilege};
use ringfence_policy::permissions::Lookout;

use super::protocol::{Failure, Fence, RawPath, Sockets, Step, Tmp, World};
use super::readable::{self, OnList};
use super::syscalls;
use super::world::{DEVICES, Workshop};

/// What will confine a command.
pub(super) struct Confinement<'a> {
    workshop: &'a Workshop,
    fence: Option<(&'a Fence, Vec<(OwnedFd, Grant)>)>,
}

impl<'a> Confinement<'a> {
    /// Makes it ready. Whoever has to know is told which folders were listed for it.
    pub(super) fn new(
        workshop: &'a Workshop,
        fence: Option<&'a Fence>,
        on_list: OnList<'_>,
    ) -> Result<Self, Failure> {
        let fence = match fence {
            Some(fence) => Some((fence, grants(fence, workshop, on_list)?)),
            None => None,
        };
        Ok(Self { workshop, fence })
    }

    /// Confines the calling process, for good. Returns the listener of its filter, if it has one.
    pub(super) fn apply(&self) -> Result<Option<Listener>, Failure> {
        let Some((fence, grants)) = &self.fence else {
            return Ok(None);
        };
        let failed = |step, what: &'static str| move |error| Failure::new(step, &error, what);
        privilege::no_new_privs().map_err(failed(Step::Identity, "no-new-privileges"))?;
        // In namespaces the warden has done this for all its stages.
        if !self.workshop.has_namespaces() {
            privilege::drop_bounding_set().map_err(failed(Step::Identity, "capabilities"))?;
        }
        let identity = &self.workshop.identity;
        if rustix::process::geteuid().as_raw() != identity.uid {
            privilege::become_user(identity.uid, identity.gid, identity.groups.as_deref())
                .map_err(failed(Step::Identity, "the owner of the workspace"))?;
        }
        privilege::drop_all_capabilities().map_err(failed(Step::Identity, "capabilities"))?;
        self.restrict(fence, grants)?;
        self.put_filter(fence)
            .map_err(failed(Step::Seccomp, "system call filter"))
    }

    fn restrict(&self, fence: &Fence, grants: &[(OwnedFd, Grant)]) -> Result<(), Failure> {
        let places: Vec<_> = grants
            .iter()
            .map(|(place, grant)| (place.as_fd(), *grant))
            .collect();
        let sockets = match fence.sockets {
            Sockets::InNamespace => AbstractSockets::Shared,
            Sockets::InMachineNetwork | Sockets::LocalOnly => AbstractSockets::Scoped,
        };
        let signals = if self.workshop.owns_its_pids() {
            Signals::Shared
        } else {
            Signals::Scoped
        };
        match landlock::restrict(&places, sockets, signals) {
            Ok(()) => Ok(()),
            // Some engines refuse it. Their mounts say the same, but for abstract names.
            Err(_)
                if self.workshop.world == World::Container
                    && sockets == AbstractSockets::Shared =>
            {
                Ok(())
            }
            Err(error) => {
                let error = match error {
                    LandlockError::Unavailable => io::Error::from_raw_os_error(libc::EOPNOTSUPP),
                    LandlockError::Refused(error) => io::Error::other(error),
                };
                Err(Failure::new(Step::Landlock, &error, "Landlock"))
            }
        }
    }

    /// Puts the filter on the calling process.
    fn put_filter(&self, fence: &Fence) -> io::Result<Option<Listener>> {
        if syscalls::is_looked_at(fence.sockets, fence.lookout) {
            let filter = self.workshop.filter(fence.sockets, fence.lookout)?;
            // Some container engines listen themselves, and there can be one listener only: then
            // nobody looks, and the fence is the same.
            if let Ok(listener) = filter.install_with_listener() {
                return Ok(Some(listener));
            }
        }
        let filter = self.workshop.filter(fence.sockets, Lookout::Off)?;
        filter.install().map_err(io::Error::other)?;
        Ok(None)
    }
}

/// What Landlock grants: the same as the mounts, said once more.
fn grants(
    fence: &Fence,
    workshop: &Workshop,
    on_list: OnList<'_>,
) -> Result<Vec<(OwnedFd, Grant)>, Failure> {
    let unreadable = |error| Failure::new(Step::DeniedRead, &error, "the folders around it");
    let mut granted = match workshop.world {
        // Nothing of the machine's is there.
        World::Container => vec![(
            mount::place(Path::new("/")).map_err(unreadable)?,
            Grant::Read,
        )],
        _ => readable::grants(fence, &workshop.identity, on_list).map_err(unreadable)?,
    };
    let mut wanted: Vec<(PathBuf, Grant)> = vec![("/dev/shm".into(), Grant::Write)];
    if matches!(workshop.world, World::Machine { .. }) {
        // The machine's disks are there too.
        let harmless = DEVICES.iter().chain(&["ptmx", "pts"]);
        wanted.extend(harmless.map(|name| (Path::new("/dev").join(name), Grant::UseDevices)));
    } else {
        wanted.push(("/dev".into(), Grant::UseDevices));
    }
    if fence.tmp == Tmp::Session {
        wanted.push(("/tmp".into(), Grant::Write));
    }
    wanted.extend(
        fence
            .writable
            .iter()
            .map(RawPath::to_path)
            .map(|path| (path, Grant::Write)),
    );
    for (path, grant) in wanted {
        match mount::place(&path) {
            Ok(place) => granted.push((place, grant)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let path = path.display().to_string();
                return Err(Failure::new(Step::Landlock, &error, path));
            }
        }
    }
    Ok(granted)
}
