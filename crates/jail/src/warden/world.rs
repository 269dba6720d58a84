//! The world that a session's commands live in: its namespaces, made once, and a workshop of
//! parts that every run's view is put together from.
//!
//! In the warden's own mount namespace the machine looks as ever, except that `/run` is the
//! workshop: a private tmpfs that holds the session's `/tmp`, a minimal `/dev`, and the empty
//! things that cover what may not be seen. Each stage gets a copy of this namespace, takes the
//! parts it needs, and then covers the workshop itself.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use ringfence_confine::mount::{self, Attributes, Reach};
use ringfence_confine::namespace::{self, Flags, Identities};
use ringfence_confine::seccomp::{Answer, Filter, SeccompError};
use ringfence_policy::permissions::Lookout;

use crate::net;

use super::protocol::{Boot, Failure, Identity, RawPath, RunFolder, Sockets, Step, World};
use super::reach::Roll;
use super::shared_list::SharedList;
use super::syscalls::{self, Connecting};

/// Where the workshop is mounted, in the warden's own namespace.
pub(super) const WORKSHOP: &str = "/run";
/// Parts of the workshop.
pub(super) const TMP: &str = "/run/tmp";
pub(super) const DEV: &str = "/run/dev";
/// Where runs find the certificates that they are to trust.
pub(crate) const CERTIFICATES_INSIDE: &str = "/run/ringfence/certificates.pem";
/// An empty folder that can be listed.
pub(super) const VOID: &str = "/run/void";
/// A folder and a file that nobody can open.
pub(super) const SHUT_FOLDER: &str = "/run/shut";
pub(super) const SHUT_FILE: &str = "/run/shut-file";

/// What stages are made from.
pub(super) struct Workshop {
    pub(super) world: World,
    pub(super) identity: Identity,
    /// The sockets that the session's commands listen on.
    pub(super) roll: Roll,
    /// When the session began, in seconds since the epoch.
    pub(super) began: i64,
    /// What stages can read, where several may share it.
    pub(super) list: SharedList,
    filters: Filters,
}

/// Filters that were assembled before they are needed.
struct Filters(Vec<(Sockets, Lookout, Filter)>);

impl Filters {
    /// Those that runs of a world may need. A world that is made for one run needs one of them, and
    /// will know which.
    fn for_runs_in(world: &World) -> Result<Self, SeccompError> {
        let kinds: &[Sockets] = match world {
            World::Namespaces {
                own_network: true, ..
            } => &[Sockets::InNamespace],
            World::Namespaces { .. } => &[Sockets::InMachineNetwork],
            World::Machine { .. } => &[Sockets::LocalOnly, Sockets::InMachineNetwork],
            _ => &[],
        };
        let mut filters = Vec::new();
        for sockets in kinds {
            for lookout in [Lookout::Off, Lookout::Connections, Lookout::Writes] {
                let filter = assemble(*sockets, lookout, Connecting::Held)?;
                filters.push((*sockets, lookout, filter));
            }
        }
        Ok(Self(filters))
    }
}

fn assemble(
    sockets: Sockets,
    lookout: Lookout,
    connecting: Connecting,
) -> Result<Filter, SeccompError> {
    let table = syscalls::table(sockets, lookout, connecting);
    Filter::new(&table, Answer::Allow)
}

impl Workshop {
    /// The namespaces that every stage has for itself.
    pub(super) fn stage_namespaces(&self) -> i32 {
        match self.world {
            World::Namespaces { .. } => namespace::CLONE_NEWPID | namespace::CLONE_NEWNS,
            World::Bubblewrap { .. }
            | World::BubblewrapRun
            | World::Container
            | World::Machine { .. } => 0,
        }
    }

    /// A socket that listens inside the session's own network, for the harness to answer on. Without
    /// a network of its own there is none, and a launch that needs one says so.
    pub(super) fn outlet(&self) -> Option<OwnedFd> {
        let listen = || namespace::listen_on_loopback(net::OUTLETS);
        match self.world {
            World::Namespaces { own_network, .. } | World::Bubblewrap { own_network, .. } => {
                own_network.then(listen)?.ok()
            }
            // In one that has the machine's network nobody asks for it.
            World::Container => listen().ok(),
            World::BubblewrapRun | World::Machine { .. } => None,
        }
    }

    /// Whether a stage puts its view together itself.
    pub(super) fn has_namespaces(&self) -> bool {
        matches!(self.world, World::Namespaces { .. })
    }

    /// Whether a stage is the first process of a PID namespace, whose end is the end of all in it.
    pub(super) fn owns_its_pids(&self) -> bool {
        matches!(self.world, World::Namespaces { .. } | World::BubblewrapRun)
    }

    /// Whether mounts say what can be written, and not Landlock alone.
    pub(super) fn has_mounts(&self) -> bool {
        !matches!(self.world, World::Machine { .. })
    }

    /// The filter for a run with these sockets, whose calls are looked at like this.
    pub(super) fn filter(
        &self,
        sockets: Sockets,
        lookout: Lookout,
        connecting: Connecting,
    ) -> io::Result<Cow<'_, Filter>> {
        let Filters(filters) = &self.filters;
        let made = filters
            .iter()
            .find(|(of, by, _)| (*of, *by) == (sockets, lookout) && connecting == Connecting::Held);
        match made {
            Some((_, _, filter)) => Ok(Cow::Borrowed(filter)),
            None => assemble(sockets, lookout, connecting)
                .map(Cow::Owned)
                .map_err(io::Error::other),
        }
    }
}

/// Makes the world. The calling process moves into it.
pub(super) fn make(boot: &Boot) -> Result<Workshop, Failure> {
    let filters = Filters::for_runs_in(&boot.world)
        .map_err(|error| Failure::new(Step::Seccomp, &io::Error::other(error), "filter"))?;
    let roll = Roll::new().map_err(|error| Failure::new(Step::Prepare, &error, "a memory file"))?;
    let workshop = Workshop {
        world: boot.world.clone(),
        identity: boot.identity.clone(),
        roll,
        began: rustix::time::clock_gettime(rustix::time::ClockId::Realtime).tv_sec,
        list: SharedList::default(),
        filters,
    };
    let unfinished = |(error, what): Unfinished| Failure::new(Step::BaseMounts, &error, what);
    match &boot.world {
        World::Namespaces {
            own_network,
            tmp_bytes,
            ..
        } => {
            enter_namespaces(&boot.identity, *own_network)?;
            bound_shared_memory(*tmp_bytes);
            set_up(*tmp_bytes, &boot.run_folder).map_err(unfinished)?;
        }
        // The rest of the workshop came with the namespaces.
        World::Bubblewrap {
            bwrap, tmp_bytes, ..
        } => {
            bound_shared_memory(*tmp_bytes);
            make_covers().map_err(unfinished)?;
            super::bubblewrap::try_out(bwrap)?;
        }
        World::BubblewrapRun | World::Container | World::Machine { .. } => {}
    }
    Ok(workshop)
}

fn enter_namespaces(identity: &Identity, own_network: bool) -> Result<(), Failure> {
    let failed = |step, what: &'static str| move |error| Failure::new(step, &error, what);
    let identities = if rustix::process::geteuid().is_root() {
        Identities::All
    } else {
        Identities::One {
            uid: identity.uid,
            gid: identity.gid,
        }
    };
    #[allow(unsafe_code)]
    // SAFETY: a warden has a single thread.
    unsafe { namespace::enter_user_namespace(identities) }
        .map_err(failed(Step::UserNamespace, "user namespace"))?;
    let mut flags = Flags::NEWNS | Flags::NEWIPC | Flags::NEWUTS;
    if own_network {
        flags |= Flags::NEWNET;
    }
    namespace::unshare(flags).map_err(failed(Step::OtherNamespaces, "namespaces"))?;
    if own_network {
        namespace::loopback_up().map_err(failed(Step::Loopback, "loopback"))?;
    }
    // No stage ever needs to gain a capability by running a program.
    ringfence_confine::privilege::drop_bounding_set()
        .map_err(failed(Step::Identity, "capabilities"))?;
    // A second lock: the filter refuses to make user namespaces too.
    let _ = namespace::forbid_nested_user_namespaces();
    Ok(())
}

/// Bounds what commands can leave behind in memory in the session's own IPC namespace. A kernel that
/// does not let its owner do that (before 6.10), and `bwrap` for an ordinary user, go without.
fn bound_shared_memory(bytes: Option<u64>) {
    const QUEUES: u32 = 256;
    let _ = namespace::bound_shared_memory(bytes, QUEUES);
}

type Unfinished = (io::Error, &'static str);

/// Builds the workshop.
fn set_up(tmp_bytes: Option<u64>, run_folder: &RunFolder) -> Result<(), Unfinished> {
    let about = |what: &'static str| move |error: io::Error| (error, what);
    mount::make_everything_private().map_err(about("private mounts"))?;
    // The devices are cloned off before `/run` is covered: on some machines `/dev` points there.
    let devices = clone_devices().map_err(about("/dev"))?;
    // And so are the machine's sockets that commands may see there.
    let sockets = clone_sockets(run_folder).map_err(about("a socket"))?;
    let quiet = Attributes::MOUNT_ATTR_NOSUID | Attributes::MOUNT_ATTR_NODEV;
    let put = |tree: io::Result<std::os::fd::OwnedFd>, at: &str| -> io::Result<()> {
        mount::attach(tree?.as_fd(), mount::open_path(Path::new(at))?.as_fd())
    };
    put(mount::new_tmpfs("0755", None, quiet), WORKSHOP).map_err(about(WORKSHOP))?;
    for folder in [TMP, DEV] {
        fs::create_dir(folder).map_err(about(folder))?;
    }
    make_covers()?;
    place_certificates(run_folder).map_err(about(CERTIFICATES_INSIDE))?;
    place_sockets(&sockets).map_err(about("a socket"))?;
    put(mount::new_tmpfs("1777", tmp_bytes, quiet), TMP).map_err(about(TMP))?;
    put(
        mount::new_tmpfs("0755", None, Attributes::MOUNT_ATTR_NOSUID),
        DEV,
    )
    .map_err(about(DEV))?;
    furnish_dev(&devices, tmp_bytes).map_err(about("the minimal /dev"))
}

/// The certificates, where every run will see them: what covers `/run` has them in it.
fn place_certificates(run_folder: &RunFolder) -> io::Result<()> {
    let Some(certificates) = &run_folder.certificates else {
        return Ok(());
    };
    let path = in_the_void(Path::new(CERTIFICATES_INSIDE));
    fs::create_dir_all(path.parent().unwrap_or(&path))?;
    fs::write(path, certificates)
}

fn clone_sockets(run_folder: &RunFolder) -> io::Result<Vec<(PathBuf, OwnedFd)>> {
    let mut sockets = Vec::new();
    for path in run_folder.sockets.iter().map(RawPath::to_path) {
        let tree = mount::clone_tree(mount::open_path(&path)?.as_fd(), Reach::Single)?;
        sockets.push((path, tree));
    }
    Ok(sockets)
}

fn place_sockets(sockets: &[(PathBuf, OwnedFd)]) -> io::Result<()> {
    for (path, tree) in sockets {
        let path = in_the_void(path);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(&path, "")?;
        mount::attach(tree.as_fd(), mount::open_path(&path)?.as_fd())?;
    }
    Ok(())
}

/// Where something in `/run` is before the empty folder covers that.
fn in_the_void(path: &Path) -> PathBuf {
    Path::new(VOID).join(path.strip_prefix(WORKSHOP).unwrap_or(path))
}

/// Makes what covers things that may not be seen or opened.
fn make_covers() -> Result<(), Unfinished> {
    let about = |what: &'static str| move |error: io::Error| (error, what);
    for folder in [VOID, SHUT_FOLDER] {
        fs::create_dir(folder).map_err(about(folder))?;
    }
    fs::write(SHUT_FILE, "").map_err(about(SHUT_FILE))?;
    for shut in [SHUT_FOLDER, SHUT_FILE] {
        fs::set_permissions(shut, fs::Permissions::from_mode(0o000)).map_err(about(shut))?;
    }
    Ok(())
}

/// The devices that every program may have.
pub(super) const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

fn clone_devices() -> io::Result<Vec<(&'static str, std::os::fd::OwnedFd)>> {
    let mut devices = Vec::new();
    for name in DEVICES {
        let place = rustix::fs::open(
            Path::new("/dev").join(name),
            rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        )?;
        devices.push((*name, mount::clone_tree(place.as_fd(), Reach::Single)?));
    }
    Ok(devices)
}

fn furnish_dev(
    devices: &[(&'static str, std::os::fd::OwnedFd)],
    tmp_bytes: Option<u64>,
) -> io::Result<()> {
    let dev = Path::new(DEV);
    for (name, tree) in devices {
        let path = dev.join(name);
        fs::write(&path, "")?;
        mount::attach(tree.as_fd(), mount::open_path(&path)?.as_fd())?;
    }
    let terminals = mount::new_filesystem(
        c"devpts",
        &[
            (c"newinstance", ""),
            (c"ptmxmode", "0666"),
            (c"mode", "0620"),
        ],
        Attributes::MOUNT_ATTR_NOSUID | Attributes::MOUNT_ATTR_NOEXEC,
    )?;
    let shared_memory = mount::new_tmpfs(
        "1777",
        tmp_bytes,
        Attributes::MOUNT_ATTR_NOSUID | Attributes::MOUNT_ATTR_NODEV,
    )?;
    for (name, tree) in [("pts", terminals), ("shm", shared_memory)] {
        let path = dev.join(name);
        fs::create_dir(&path)?;
        mount::attach(tree.as_fd(), mount::open_path(&path)?.as_fd())?;
    }
    for (name, target) in [
        ("ptmx", "pts/ptmx"),
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        symlink(target, dev.join(name))?;
    }
    Ok(())
}
