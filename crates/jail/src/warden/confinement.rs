//! What confines a command besides its namespaces: its identity, no capabilities, Landlock and the
//! filter of system calls. Made ready before the fork, put on after it.

use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use ringfence_confine::landlock::{self, AbstractSockets, Grant, LandlockError, Rules, Signals};
use ringfence_confine::notify::Listener;
use ringfence_confine::seccomp::{Answer, Filter};
use ringfence_confine::{caller, mount, privilege};
use ringfence_policy::permissions::Lookout;

use super::protocol::{Failure, Fence, RawPath, Sockets, Step, Tmp, World};
use super::readable::{self, OnList};
use super::syscalls::{self, Connecting};
use super::world::{DEVICES, Workshop};

/// What will confine a command.
pub(super) struct Confinement<'a> {
    workshop: &'a Workshop,
    fence: Option<(&'a Fence, Option<Rules>)>,
    disk: Disk,
}

/// Whether what a command writes to disks is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disk {
    Counted,
    Free,
}

impl<'a> Confinement<'a> {
    /// Makes it ready. Whoever has to know is told which folders were listed for it.
    pub(super) fn new(
        workshop: &'a Workshop,
        fence: Option<&'a Fence>,
        disk: Disk,
        on_list: OnList<'_>,
    ) -> Result<Self, Failure> {
        let fence = match fence {
            Some(fence) => Some((fence, rules(fence, workshop, on_list)?)),
            None => None,
        };
        Ok(Self {
            workshop,
            fence,
            disk,
        })
    }

    /// Confines the calling process, for good. Returns the listener of its filter, if it has one.
    pub(super) fn apply(self) -> Result<Option<(Listener, Connecting)>, Failure> {
        let Self {
            workshop,
            fence,
            disk,
        } = self;
        let Some((fence, rules)) = fence else {
            return Ok(None);
        };
        let failed = |step, what: &'static str| move |error| Failure::new(step, &error, what);
        privilege::no_new_privs().map_err(failed(Step::Identity, "no-new-privileges"))?;
        // In namespaces the warden has done this for all its stages.
        if !workshop.has_namespaces() {
            privilege::drop_bounding_set().map_err(failed(Step::Identity, "capabilities"))?;
        }
        let identity = &workshop.identity;
        if rustix::process::geteuid().as_raw() != identity.uid {
            privilege::become_user(identity.uid, identity.gid, identity.groups.as_deref())
                .map_err(failed(Step::Identity, "the owner of the workspace"))?;
        }
        privilege::drop_all_capabilities().map_err(failed(Step::Identity, "capabilities"))?;
        match rules.map(Rules::enforce) {
            Some(Err(error)) if !is_dispensable(fence, workshop) => {
                return Err(unrestricted(error));
            }
            _ => {}
        }
        keep_from_sockets(workshop, fence)
            .map_err(failed(Step::Landlock, "Landlock: unix sockets"))?;
        if disk == Disk::Counted {
            let filter = Filter::new(syscalls::UNCOUNTED, Answer::Allow);
            let put = filter.and_then(|filter| filter.install());
            let failed = failed(Step::Seccomp, "a filter for a limit on disks");
            put.map_err(io::Error::from).map_err(failed)?;
        }
        put_filter(workshop, fence).map_err(failed(Step::Seccomp, "a filter with a listener"))
    }
}

/// A second lock on unix sockets, where the kernel has one: it cannot tell what another run has
/// made in a writable root from what was there before, but knows all others.
fn keep_from_sockets(workshop: &Workshop, fence: &Fence) -> io::Result<()> {
    let named = fence.unix_sockets.iter().map(RawPath::to_path);
    let written = wanted(fence, workshop)
        .into_iter()
        .filter(|(_, grant)| *grant == Grant::Write)
        .map(|(path, _)| path);
    let places = written.chain(named);
    let places: Vec<_> = places
        .filter_map(|path| mount::open_path(&path).ok())
        .collect();
    let places: Vec<_> = places.iter().map(AsFd::as_fd).collect();
    landlock::restrict_unix_sockets(&places).map(|_| ())
}

fn unrestricted(error: LandlockError) -> Failure {
    let error = match error {
        LandlockError::Unavailable => io::Error::from_raw_os_error(libc::EOPNOTSUPP),
        LandlockError::Refused(error) => io::Error::other(error),
    };
    Failure::new(Step::Landlock, &error, "Landlock")
}

/// Puts the filter on the calling process. Its listener holds connections, or the launch fails.
fn put_filter(workshop: &Workshop, fence: &Fence) -> io::Result<Option<(Listener, Connecting)>> {
    let (sockets, lookout) = (fence.sockets, fence.lookout);
    let filter = workshop.filter(sockets, lookout, Connecting::Held)?;
    let held = caller::can_copy_descriptors()
        .and_then(|()| filter.install_with_listener().map_err(io::Error::from));
    match held {
        Ok(listener) => return Ok(Some((listener, Connecting::Held))),
        // Some engines listen themselves, and there can be one listener only, or keep processes
        // from each other's descriptors. Nothing of the machine's is in sight there but what is in
        // the writable roots.
        Err(_) if workshop.world == World::Container => {}
        Err(error) => return Err(error),
    }
    let filter = workshop.filter(sockets, lookout, Connecting::Free)?;
    if let Ok(listener) = filter.install_with_listener() {
        return Ok(Some((listener, Connecting::Free)));
    }
    let filter = workshop.filter(sockets, Lookout::Off, Connecting::Free)?;
    filter.install().map_err(io::Error::from)?;
    Ok(None)
}

/// Whether a run can do without Landlock. Some engines refuse it; their mounts say the same, but
/// for abstract names.
fn is_dispensable(fence: &Fence, workshop: &Workshop) -> bool {
    workshop.world == World::Container && fence.sockets == Sockets::InNamespace
}

/// What Landlock grants: the same as the mounts, said once more. None where it is refused and can
/// be done without.
fn rules(
    fence: &Fence,
    workshop: &Workshop,
    on_list: OnList<'_>,
) -> Result<Option<Rules>, Failure> {
    let shared = match workshop.list.of(fence) {
        Some(list) => list.take(on_list).map_err(|error| unlisted(&error))?,
        None => None,
    };
    let mut rules = match shared {
        Some(rules) => rules,
        None => match empty_rules(fence, workshop) {
            Ok(mut rules) => {
                if workshop.world != World::Container {
                    readable::grant(&mut rules, fence, &workshop.identity, on_list)
                        .map_err(|error| unlisted(&error))?;
                }
                rules
            }
            Err(_) if is_dispensable(fence, workshop) => return Ok(None),
            Err(error) => return Err(unrestricted(error)),
        },
    };
    for (path, grant) in wanted(fence, workshop) {
        match mount::open_path(&path) {
            Ok(place) => rules.grant(place.as_fd(), grant).map_err(unrestricted)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let path = path.display().to_string();
                return Err(Failure::new(Step::Landlock, &error, path));
            }
        }
    }
    Ok(Some(rules))
}

fn unlisted(error: &io::Error) -> Failure {
    Failure::new(Step::DeniedRead, error, "the folders around it")
}

/// Rules that grant nothing yet.
pub(super) fn empty_rules(fence: &Fence, workshop: &Workshop) -> Result<Rules, LandlockError> {
    let sockets = match fence.sockets {
        Sockets::InNamespace => AbstractSockets::Shared,
        Sockets::InMachineNetwork | Sockets::LocalOnly => AbstractSockets::Scoped,
    };
    let signals = if workshop.owns_its_pids() {
        Signals::Shared
    } else {
        Signals::Scoped
    };
    Rules::new(sockets, signals)
}

/// What is granted besides reading.
fn wanted(fence: &Fence, workshop: &Workshop) -> Vec<(PathBuf, Grant)> {
    let mut wanted: Vec<(PathBuf, Grant)> = vec![("/dev/shm".into(), Grant::Write)];
    match workshop.world {
        // The machine's disks are there too.
        World::Machine { .. } => {
            let harmless = DEVICES.iter().chain(&["ptmx", "pts"]);
            wanted.extend(harmless.map(|name| (Path::new("/dev").join(name), Grant::UseDevices)));
        }
        // Nothing of the machine's is there to be kept from being read.
        World::Container => wanted.extend([
            ("/".into(), Grant::Read),
            ("/dev".into(), Grant::UseDevices),
        ]),
        _ => wanted.push(("/dev".into(), Grant::UseDevices)),
    }
    if fence.tmp == Tmp::Session {
        wanted.push(("/tmp".into(), Grant::Write));
    }
    let roots = fence.writable.iter().chain(&fence.cache);
    let roots = roots.map(RawPath::to_path);
    wanted.extend(roots.map(|path| (path, Grant::Write)));
    wanted
}
