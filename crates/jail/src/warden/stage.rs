//! A stage: the first process of a run. It is forked ahead of need, waits for a launch, confines
//! the command, starts it, and stays as its init.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use ringfence_confine::caller;
use ringfence_confine::cgroup::Controls;
use ringfence_confine::landlock::{self, AbstractSockets, Grant, LandlockError, Signals};
use ringfence_confine::process::{self, Pid};
use ringfence_confine::{descriptor, mount, privilege, signal};
use ringfence_policy::permissions::Lookout as Lookouts;
use rustix::fs::{Mode, OFlags};

use super::bounds::{self, Bound, Means};
use super::bubblewrap;
use super::container;
use super::init;
use super::lookout::Lookout;
use super::protocol::{
    self, Failure, Fence, Launch, RawPath, Report, Sockets, Step, TerminalSize, Tmp, World,
};
use super::reach::Reach;
use super::syscalls::Connecting;
use super::view::Canvas;
use super::watch::Watch;
use super::world::{DEVICES, Workshop};

/// Serves one run on a socket to the harness. Never returns.
pub(super) fn serve(
    workshop: &Workshop,
    harness: &OwnedFd,
    ledger: &OwnedFd,
    controls: &Controls,
) -> ! {
    let code = match run(workshop, harness, ledger, controls) {
        Ok(()) => 0,
        Err(_) => 1,
    };
    process::exit_now(code)
}

fn run(
    workshop: &Workshop,
    harness: &OwnedFd,
    ledger: &OwnedFd,
    controls: &Controls,
) -> io::Result<()> {
    privilege::parent_death_signal_kill()?;
    privilege::undumpable()?;
    forget_the_warden()?;
    if !workshop.owns_its_pids() {
        privilege::become_subreaper()?;
    }
    let canvas = workshop.has_namespaces().then(Canvas::prepare);
    let Some((mut launch, descriptors)) = protocol::receive::<Launch>(harness)? else {
        return Ok(());
    };
    if workshop.world == World::Container {
        container::fit(&mut launch);
    }
    if let World::Bubblewrap { bwrap, .. } = &workshop.world {
        let failure = bubblewrap::become_bwrap(
            bwrap,
            workshop,
            launch,
            &descriptors,
            harness,
            ledger,
            controls,
        );
        return protocol::send(harness, &Report::Failed(failure), &[]);
    }
    let mut locks = Vec::new();
    let means = Means {
        controls,
        kernel: None,
    };
    let unprepared = |error| Failure::new(Step::Prepare, &error, "mounts");
    let canvas = canvas.transpose().map_err(unprepared);
    let started = canvas.and_then(|canvas| {
        let watch = bounds::set(&launch.limits, &means, workshop)?;
        let bounds = bounds::of_each_process(&launch.limits, controls);
        let view = canvas.map(|canvas| (canvas, ledger, &mut locks));
        let started = start(workshop, &launch, view, descriptors, &bounds)?;
        Ok((watch, started))
    });
    match started {
        Ok((watch, started)) => {
            let along: Vec<_> = started.terminal.iter().map(AsFd::as_fd).collect();
            protocol::send(harness, &Report::Started, &along)?;
            drop(started.terminal);
            let life = (started.command, started.lookout);
            stay_as_init(workshop, harness, &launch, controls, &watch, life)
        }
        Err(failure) => protocol::send(harness, &Report::Failed(failure), &[]),
    }
}

/// Serves one run as the first process of what `bwrap` has made for it.
pub(super) fn run_inside(
    workshop: &Workshop,
    harness: &OwnedFd,
    launch: &Launch,
    standard: Vec<OwnedFd>,
    means: &Means<'_>,
) -> io::Result<()> {
    privilege::undumpable()?;
    forget_the_warden()?;
    let started = bounds::set(&launch.limits, means, workshop).and_then(|watch| {
        let bounds = bounds::of_each_process(&launch.limits, means.controls);
        let started = start(workshop, launch, None, standard, &bounds)?;
        Ok((watch, started))
    });
    match started {
        Ok((watch, started)) => {
            // The warden knows `bwrap`; whoever ends the run must know its first process.
            let own = rustix::process::pidfd_open(
                rustix::process::getpid(),
                rustix::process::PidfdFlags::empty(),
            )?;
            let along = started.terminal.iter().chain([&own]);
            let along: Vec<_> = along.map(AsFd::as_fd).collect();
            protocol::send(harness, &Report::Started, &along)?;
            drop((started.terminal, own));
            let life = (started.command, started.lookout);
            stay_as_init(workshop, harness, launch, means.controls, &watch, life)
        }
        Err(failure) => protocol::send(harness, &Report::Failed(failure), &[]),
    }
}

/// Attends to the run that has been started, with nothing left that it does not need for that.
fn stay_as_init(
    workshop: &Workshop,
    harness: &OwnedFd,
    launch: &Launch,
    controls: &Controls,
    watch: &Watch,
    (command, lookout): (Pid, Option<Lookout>),
) -> io::Result<()> {
    shed_privileges(workshop, launch, lookout.as_ref());
    let run = init::Run {
        harness,
        own_pids: workshop.owns_its_pids(),
        limits: &launch.limits,
        tmp: launch.fence.as_ref().map(|fence| fence.tmp),
        controls,
        watch,
    };
    run.attend(command, lookout)
}

/// Gives up what an init does not need.
fn shed_privileges(workshop: &Workshop, launch: &Launch, lookout: Option<&Lookout>) {
    let identity = &workshop.identity;
    if lookout.is_some() && rustix::process::geteuid().as_raw() != identity.uid {
        // A path is followed as the command would follow it, and whoever it is connected to sees
        // its user.
        let _ = privilege::act_as(identity.uid, identity.gid, identity.groups.as_deref());
    }
    let _ = privilege::no_new_privs();
    // What a process has written, and what its arguments point to, is told to those only who may
    // look into it.
    let _ = match (launch.limits.disk_bytes, lookout) {
        (None, None) => privilege::drop_all_capabilities(),
        _ => privilege::drop_all_capabilities_but_looking(),
    };
}

/// The standard descriptors of a stage are the warden's: its line to the harness among them.
fn forget_the_warden() -> io::Result<()> {
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    for number in 0..3 {
        descriptor::place(&null, number)?;
    }
    Ok(())
}

/// What a view is painted on, where it is told what is placed for it, and what keeps that there.
type View<'a> = (Canvas, &'a OwnedFd, &'a mut Vec<OwnedFd>);

/// A command that has been started.
struct Started {
    command: Pid,
    /// The outer end of its terminal.
    terminal: Option<OwnedFd>,
    lookout: Option<Lookout>,
}

/// Confines and starts the command.
fn start(
    workshop: &Workshop,
    launch: &Launch,
    view: Option<View<'_>>,
    descriptors: Vec<OwnedFd>,
    bounds: &[Bound],
) -> Result<Started, Failure> {
    if let (Some((canvas, ledger, locks)), Some(fence)) = (view, &launch.fence) {
        locks.extend(canvas.paint(fence, ledger)?);
    }
    let (terminal, standard) = match launch.terminal {
        Some(size) => {
            let (outer, inner) = open_terminal(size, workshop.identity.uid)
                .map_err(|error| Failure::new(Step::Terminal, &error, "/dev/ptmx"))?;
            (Some(outer), Standard::Terminal(inner))
        }
        None => (None, Standard::three(descriptors)?),
    };
    let exec = Exec::new(launch)?;
    let (calls, handed_over) = descriptor::socket_pair()
        .map_err(|error| Failure::new(Step::Seccomp, &error, "a socket for the lookout"))?;
    let confinement = Confinement::new(workshop, launch, handed_over)?;
    let reach = reach(workshop, launch)?;
    let cwd = launch.cwd.to_path();
    let mut failure = None;
    let mut body = || {
        let failed = become_command(&standard, &cwd, bounds, &confinement)
            .err()
            .unwrap_or_else(|| exec.run());
        failure = Some(failed);
        process::exit_now(127)
    };
    #[allow(unsafe_code)]
    // SAFETY: a stage has a single thread, and `body` ends in exec or exit.
    let pid = unsafe { process::spawn_sharing_memory(&mut body) }
        .map_err(|error| Failure::new(Step::Fork, &error, "the command"))?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    // Nobody else can hand over anything: there is a listener by now, or none.
    drop(confinement);
    let mut word = [0; 1];
    let listener = descriptor::receive(&calls, &mut word)
        .ok()
        .and_then(|message| message.descriptors.into_iter().next());
    let reach = reach.filter(|_| word == HOLDS);
    let lookout = listener.zip(launch.fence.as_ref());
    Ok(Started {
        command: pid,
        terminal,
        lookout: lookout.map(|(listener, fence)| {
            Lookout::new(listener.into(), fence, workshop.has_mounts(), reach)
        }),
    })
}

/// What comes along with a listener: whether connections are held, or only looked at.
const HOLDS: [u8; 1] = *b"!";
const LOOKS: [u8; 1] = *b"?";

/// Which sockets the command can connect to through its init, which keeps to what the command
/// itself must keep to.
fn reach(workshop: &Workshop, launch: &Launch) -> Result<Option<Reach>, Failure> {
    let Some(fence) = &launch.fence else {
        return Ok(None);
    };
    let failed = |error| Failure::new(Step::Seccomp, &error, "the sockets that can be reached");
    if fence.sockets != Sockets::InNamespace && landlock::version() >= 6 {
        privilege::no_new_privs().map_err(failed)?;
        landlock::scope_abstract_sockets()
            .map_err(|error| Failure::new(Step::Landlock, &io::Error::other(error), "Landlock"))?;
    }
    Reach::of(fence, &workshop.world, &workshop.roll, workshop.began)
        .map(Some)
        .map_err(failed)
}

/// The command's standard input, output and error.
enum Standard {
    Three([OwnedFd; 3]),
    Terminal(OwnedFd),
}

impl Standard {
    fn three(descriptors: Vec<OwnedFd>) -> Result<Self, Failure> {
        <[OwnedFd; 3]>::try_from(descriptors)
            .map(Self::Three)
            .map_err(|_| {
                let error = io::Error::from_raw_os_error(libc::EBADF);
                Failure::new(
                    Step::Descriptors,
                    &error,
                    "standard input, output and error",
                )
            })
    }

    fn place(&self) -> io::Result<()> {
        let three = match self {
            Self::Three(three) => three.each_ref(),
            Self::Terminal(terminal) => {
                rustix::process::ioctl_tiocsctty(terminal)?;
                [terminal; 3]
            }
        };
        for (number, descriptor) in (0..).zip(three) {
            descriptor::place(descriptor, number)?;
        }
        descriptor::close_on_exec_from(3)
    }
}

/// A new terminal: the outer end for the harness, the inner one for the command.
fn open_terminal(size: TerminalSize, owner: u32) -> io::Result<(OwnedFd, OwnedFd)> {
    use rustix::pty::OpenptFlags;
    let outer =
        rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    rustix::pty::unlockpt(&outer)?;
    let name = rustix::pty::ptsname(&outer, Vec::new())?;
    let inner = rustix::fs::open(
        name,
        OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    rustix::termios::tcsetwinsize(
        &outer,
        rustix::termios::Winsize {
            ws_row: size.rows,
            ws_col: size.columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        },
    )?;
    // Programs reopen their terminal by name, as the user they run as.
    let _ = rustix::fs::fchown(&inner, Some(rustix::process::Uid::from_raw(owner)), None);
    Ok((outer, inner))
}

/// Everything that confines a command besides its namespaces, made ready before the fork.
struct Confinement<'a> {
    workshop: &'a Workshop,
    fence: Option<(&'a Fence, Vec<(OwnedFd, Grant)>)>,
    /// Where the listener of the filter goes.
    calls: OwnedFd,
}

impl<'a> Confinement<'a> {
    fn new(workshop: &'a Workshop, launch: &'a Launch, calls: OwnedFd) -> Result<Self, Failure> {
        let fence = match &launch.fence {
            Some(fence) => Some((fence, grants(fence, &workshop.world)?)),
            None => None,
        };
        Ok(Self {
            workshop,
            fence,
            calls,
        })
    }

    /// Confines the calling process, for good.
    fn apply(&self) -> Result<(), Failure> {
        let Some((fence, grants)) = &self.fence else {
            return Ok(());
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
            Ok(()) => {}
            // Some engines refuse it. Their mounts say the same, but for abstract names.
            Err(_)
                if self.workshop.world == World::Container
                    && sockets == AbstractSockets::Shared => {}
            Err(error) => {
                let error = match error {
                    LandlockError::Unavailable => io::Error::from_raw_os_error(libc::EOPNOTSUPP),
                    LandlockError::Refused(error) => io::Error::other(error),
                };
                return Err(Failure::new(Step::Landlock, &error, "Landlock"));
            }
        }
        self.keep_from_sockets(fence)
            .map_err(failed(Step::Landlock, "Landlock: unix sockets"))?;
        self.put_filter(fence)
            .map_err(failed(Step::Seccomp, "system call filter"))
    }

    /// A second lock, where the kernel has one: it cannot tell what another run has made in a
    /// writable root from what was there before, but knows all others.
    fn keep_from_sockets(&self, fence: &Fence) -> io::Result<()> {
        let Some((_, grants)) = &self.fence else {
            return Ok(());
        };
        let named: Vec<OwnedFd> = fence
            .unix_sockets
            .iter()
            .filter_map(|path| mount::place(&path.to_path()).ok())
            .collect();
        let written = grants.iter().filter(|(_, grant)| *grant == Grant::Write);
        let places = written.map(|(place, _)| place).chain(&named);
        let places: Vec<_> = places.map(AsFd::as_fd).collect();
        landlock::restrict_unix_sockets(&places).map(|_| ())
    }

    /// Puts the filter on the calling process, and hands over its listener.
    fn put_filter(&self, fence: &Fence) -> io::Result<()> {
        let (sockets, lookout) = (fence.sockets, fence.lookout);
        let filter = self.workshop.filter(sockets, lookout, Connecting::Held)?;
        let held = caller::can_copy_descriptors()
            .and_then(|()| filter.install_with_listener().map_err(io::Error::from));
        match held {
            Ok(listener) => return descriptor::send(&self.calls, &HOLDS, &[listener.as_fd()]),
            // Some engines listen themselves, and there can be one listener only, or keep processes
            // from each other's descriptors. Nothing of the machine's is in sight there but what is
            // in the writable roots.
            Err(_) if self.workshop.world == World::Container => {}
            Err(error) => return Err(error),
        }
        let filter = self.workshop.filter(sockets, lookout, Connecting::Free)?;
        if let Ok(listener) = filter.install_with_listener() {
            return descriptor::send(&self.calls, &LOOKS, &[listener.as_fd()]);
        }
        let filter = self
            .workshop
            .filter(sockets, Lookouts::Off, Connecting::Free)?;
        filter.install().map_err(io::Error::from)
    }
}

/// What Landlock grants: the same as the mounts, said once more.
fn grants(fence: &Fence, world: &World) -> Result<Vec<(OwnedFd, Grant)>, Failure> {
    let mut wanted: Vec<(PathBuf, Grant)> =
        vec![("/".into(), Grant::Read), ("/dev/shm".into(), Grant::Write)];
    if matches!(world, World::Machine { .. }) {
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
    wanted
        .into_iter()
        .filter_map(|(path, grant)| match mount::place(&path) {
            Ok(place) => Some(Ok((place, grant))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(Failure::new(
                Step::Landlock,
                &error,
                path.display().to_string(),
            ))),
        })
        .collect()
}

/// Turns the calling process into the command, but for the exec.
fn become_command(
    standard: &Standard,
    cwd: &Path,
    bounds: &[Bound],
    confinement: &Confinement<'_>,
) -> Result<(), Failure> {
    let failed = |step, what: &'static str| move |error| Failure::new(step, &error, what);
    let _ = rustix::process::setsid();
    standard
        .place()
        .map_err(failed(Step::Descriptors, "standard descriptors"))?;
    confinement.apply()?;
    // After the identity has changed, which clears this.
    privilege::parent_death_signal_kill().map_err(failed(Step::Identity, "parent death signal"))?;
    // As the command, not as the stage: a folder that is closed to it stays closed.
    rustix::process::chdir(cwd).map_err(|error| {
        let path = cwd.display().to_string();
        Failure::new(Step::WorkingDirectory, &error.into(), path)
    })?;
    // Last: all of the above needs memory and descriptors itself.
    for bound in bounds {
        bound
            .set()
            .map_err(failed(Step::Limits, "resource limits"))?;
    }
    signal::reset_for_exec();
    Ok(())
}

/// A program to execute, with everything that needs memory made before the fork.
struct Exec {
    candidates: Vec<CString>,
    argv: Vec<CString>,
    environment: Vec<CString>,
}

impl Exec {
    fn new(launch: &Launch) -> Result<Self, Failure> {
        let strings = |list: &[Vec<u8>]| -> Result<Vec<CString>, Failure> {
            list.iter()
                .map(|bytes| CString::new(bytes.clone()))
                .collect::<Result<_, _>>()
                .map_err(|_| {
                    let error = io::Error::from_raw_os_error(libc::EINVAL);
                    Failure::new(Step::Message, &error, "a NUL in an argument")
                })
        };
        let (argv, environment) = (strings(&launch.argv)?, strings(&launch.environment)?);
        let program = launch.argv.first().cloned().unwrap_or_default();
        let path = launch
            .environment
            .iter()
            .find_map(|line| line.strip_prefix(b"PATH="));
        let candidates = strings(&candidates(&program, path.unwrap_or(b"/usr/bin:/bin")))?;
        Ok(Self {
            candidates,
            argv,
            environment,
        })
    }

    /// Executes the program. Returns only what went wrong.
    fn run(&self) -> Failure {
        let mut worst = io::Error::from_raw_os_error(libc::ENOENT);
        for candidate in &self.candidates {
            let error = process::exec(candidate, &self.argv, &self.environment);
            match error.raw_os_error() {
                Some(libc::ENOENT | libc::ENOTDIR) => {}
                Some(libc::EACCES) => worst = error,
                _ => {
                    worst = error;
                    break;
                }
            }
        }
        let program = self
            .argv
            .first()
            .map(|word| word.to_string_lossy().into_owned());
        Failure::new(Step::Program, &worst, program.unwrap_or_default())
    }
}

/// The files that a program's name may mean.
fn candidates(program: &[u8], path: &[u8]) -> Vec<Vec<u8>> {
    if program.contains(&b'/') || program.is_empty() {
        return vec![program.to_vec()];
    }
    path.split(|byte| *byte == b':')
        .map(|folder| {
            let folder = if folder.is_empty() { b"." } else { folder };
            [folder, b"/", program].concat()
        })
        .collect()
}
