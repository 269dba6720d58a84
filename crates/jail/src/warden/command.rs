//! The process that becomes the command. It is forked and confined before the command is known,
//! waits for it, and executes it: all that is left to do by then is to take its place.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use ringfence_confine::notify::Listener;
use ringfence_confine::process::{self, Fork, Pid};
use ringfence_confine::{descriptor, privilege, signal};
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::bounds::Bound;
use super::confinement::Confinement;
use super::container;
use super::protocol::{self, Failure, Launch, Step, TerminalSize, World};
use super::syscalls::Connecting;
use super::world::Workshop;

/// Where the command comes from.
pub(super) enum Source<'a> {
    /// A socket on which the harness will send it.
    Awaited(&'a OwnedFd),
    /// It came before.
    Known(Launch, Vec<OwnedFd>),
}

/// A process that is confined and waits to become the command.
pub(super) struct Waiting {
    pub(super) pid: Pid,
    /// What it has to say. Closed when the program has been executed.
    pub(super) word: OwnedFd,
    /// The filter's listener, and what it is for.
    pub(super) listener: Option<(Listener, Connecting)>,
}

/// What the process tells its init before it is the command.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Word {
    /// It is confined. The filter's listener comes along, if it has one.
    Confined(Connecting),
    /// The outer end of the command's terminal comes along.
    Terminal,
    /// No command will come.
    Unwanted,
    /// It will not become the command.
    Failed(Failure),
}

/// Forks the process and has it confine itself.
pub(super) fn fork(
    workshop: &Workshop,
    confinement: Confinement<'_>,
    bounds: &[Bound],
    source: Source<'_>,
) -> Result<Waiting, Failure> {
    let failed = |error: io::Error| Failure::new(Step::Fork, &error, "the command");
    let (word, theirs) = descriptor::socket_pair().map_err(failed)?;
    #[allow(unsafe_code)]
    // SAFETY: a stage has a single thread.
    let forked = unsafe { process::fork() }.map_err(failed)?;
    let child = match forked {
        Fork::Child => {
            drop(word);
            let failure = become_command(workshop, confinement, bounds, source, &theirs);
            let _ = protocol::send(&theirs, &Word::Failed(failure), &[]);
            process::exit_now(127)
        }
        Fork::Parent(child) => child,
    };
    drop((theirs, confinement));
    match protocol::receive::<Word>(&word).map_err(failed)? {
        Some((Word::Confined(connecting), along)) => Ok(Waiting {
            pid: child.pid,
            word,
            listener: along
                .into_iter()
                .next()
                .map(|listener| (Listener::from(listener), connecting)),
        }),
        Some((Word::Failed(failure), _)) => Err(failure),
        Some((Word::Terminal | Word::Unwanted, _)) | None => {
            Err(failed(io::ErrorKind::UnexpectedEof.into()))
        }
    }
}

/// Confines the calling process, waits for the command and becomes it. Returns only what went
/// wrong.
fn become_command(
    workshop: &Workshop,
    confinement: Confinement<'_>,
    bounds: &[Bound],
    source: Source<'_>,
    word: &OwnedFd,
) -> Failure {
    let _ = rustix::process::setsid();
    let ready = || -> Result<(Launch, Vec<OwnedFd>), Failure> {
        let listener = confinement.apply()?;
        let unsaid = |error: io::Error| Failure::new(Step::Message, &error, "the command");
        // After the identity has changed, which clears this.
        privilege::parent_death_signal_kill()
            .map_err(|error| Failure::new(Step::Identity, &error, "parent death signal"))?;
        signal::reset_for_exec();
        let along: Vec<_> = listener
            .iter()
            .map(|(listener, _)| listener.as_fd())
            .collect();
        let connecting = listener.as_ref().map_or(Connecting::Free, |(_, how)| *how);
        protocol::send(word, &Word::Confined(connecting), &along).map_err(unsaid)?;
        drop(listener);
        match source {
            Source::Known(launch, descriptors) => Ok((launch, descriptors)),
            Source::Awaited(socket) => match protocol::receive::<Launch>(socket) {
                Ok(Some(received)) => Ok(received),
                Ok(None) => {
                    let _ = protocol::send(word, &Word::Unwanted, &[]);
                    process::exit_now(0)
                }
                Err(error) => Err(unsaid(error)),
            },
        }
    };
    let (mut launch, descriptors) = match ready() {
        Ok(ready) => ready,
        Err(failure) => return failure,
    };
    if workshop.world == World::Container {
        container::fit(&mut launch);
    }
    let exec = Exec::new(&launch)
        .and_then(|exec| take_place(&launch, descriptors, bounds, word).map(|()| exec));
    match exec {
        Ok(exec) => exec.run(),
        Err(failure) => failure,
    }
}

/// The command's descriptors, working folder and bounds.
fn take_place(
    launch: &Launch,
    descriptors: Vec<OwnedFd>,
    bounds: &[Bound],
    word: &OwnedFd,
) -> Result<(), Failure> {
    let failed = |step, what: &'static str| move |error| Failure::new(step, &error, what);
    let standard = match launch.terminal {
        Some(size) => {
            let (outer, inner) =
                open_terminal(size).map_err(failed(Step::Terminal, "/dev/ptmx"))?;
            protocol::send(word, &Word::Terminal, &[outer.as_fd()])
                .map_err(failed(Step::Terminal, "/dev/ptmx"))?;
            Standard::Terminal(inner)
        }
        None => Standard::three(descriptors)?,
    };
    standard
        .place()
        .map_err(failed(Step::Descriptors, "standard descriptors"))?;
    // As the command, not as the stage: a folder that is closed to it stays closed.
    let cwd = launch.cwd.to_path();
    rustix::process::chdir(&cwd).map_err(|error| {
        let path = cwd.display().to_string();
        Failure::new(Step::WorkingDirectory, &error.into(), path)
    })?;
    // Last: all of the above needs memory and descriptors itself.
    for bound in bounds {
        bound
            .set()
            .map_err(failed(Step::Limits, "resource limits"))?;
    }
    Ok(())
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

/// A new terminal, owned by whom the command runs as: the outer end for the harness, the inner one
/// for the command.
fn open_terminal(size: TerminalSize) -> io::Result<(OwnedFd, OwnedFd)> {
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
    Ok((outer, inner))
}

/// A program to execute, with everything that needs memory made before the bounds are set.
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
