//! A session: the wardens whose runs share a network, IPC and a `/tmp`, and the launch of a
//! permitted command in one of them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ringfence_confine::account;
use ringfence_policy::action::{Action, RunCommand};
use ringfence_policy::permissions::{Limits, Network, SandboxPolicy, TmpPolicy};
use ringfence_policy::permit::{Confinement, Permit};
use rustix::fs::{Mode, OFlags};
use tokio::net::unix::pipe;
use tokio::sync::Mutex;

use crate::error::LaunchError;
use crate::line::{self, Line, Stage, WardenProgram};
use crate::plan;
use crate::process::{Output, Process};
use crate::surroundings::Surroundings;
use crate::terminal::{Terminal, TerminalSize};
use crate::warden::protocol::{self, Boot, Fence, Identity, Launch, RawPath, Report, World};

/// What a session is opened with.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// Who serves as warden.
    pub program: WardenProgram,
    /// The workspace. A root harness runs fenced commands as its owner.
    pub workspace: PathBuf,
    /// Whether a machine without namespaces may fence with what it has.
    pub degraded: Degraded,
}

/// What to do where namespaces are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Degraded {
    /// Refuse policies that cannot be enforced whole.
    Refuse,
    /// Go on with Landlock and seccomp, and without what only namespaces give.
    Allow,
}

/// Whether fenced commands have namespaces here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strength {
    /// Namespaces, Landlock and seccomp.
    Whole,
    /// Landlock and seccomp alone.
    Degraded,
}

/// A command's standard input, output and error.
#[derive(Debug)]
pub enum Io {
    /// Output and error through pipes.
    Pipes(Input),
    /// A terminal of its own.
    Terminal(TerminalSize),
}

/// Where standard input comes from.
#[derive(Debug)]
pub enum Input {
    /// Nowhere.
    Null,
    /// The harness's own standard input.
    Inherited,
    /// A descriptor of the caller's.
    From(OwnedFd),
    /// A pipe that the caller writes to.
    Pipe,
}

/// A session.
pub struct Session {
    options: SessionOptions,
    identity: Identity,
    lines: Mutex<Vec<(World, Line)>>,
    surroundings: Surroundings,
}

impl Session {
    /// Opens a session. Nothing is started until the first launch.
    pub fn open(options: SessionOptions) -> Result<Self, LaunchError> {
        let identity = identity(&options.workspace)?;
        Ok(Self {
            options,
            identity,
            lines: Mutex::new(Vec::new()),
            surroundings: Surroundings::default(),
        })
    }

    /// The user that fenced commands run as.
    pub fn uid(&self) -> u32 {
        self.identity.uid
    }

    /// The user that fenced commands run as, its group, and all its groups where the harness's have
    /// to be replaced.
    pub fn identity(&self) -> (u32, u32, Option<&[u32]>) {
        let identity = &self.identity;
        (identity.uid, identity.gid, identity.groups.as_deref())
    }

    /// Starts what a policy will need, ahead of the first launch.
    pub async fn warm_up(
        &self,
        sandbox: &SandboxPolicy,
        limits: &Limits,
    ) -> Result<(), LaunchError> {
        let world = plan::world(sandbox, limits);
        let mut lines = self.lines.lock().await;
        self.line(&mut lines, &world).await.map(|_| ())
    }

    /// Runs a permitted command. Returns once its program has been executed.
    pub async fn launch(&self, permit: Permit, io: Io) -> Result<Process, LaunchError> {
        let (action, confinement) = permit.redeem();
        let Action::RunCommand(command) = action else {
            return Err(LaunchError::NotACommand);
        };
        let (stage, fence, limits) = self.stage_for(&confinement).await?;
        let launch = Launch {
            argv: argv(&command)?,
            environment: environment(&command, &confinement)?,
            cwd: RawPath::from(command.cwd.as_path()),
            fence,
            limits: plan::limits(&limits),
            terminal: match io {
                Io::Terminal(size) => Some(size),
                Io::Pipes(_) => None,
            },
        };
        let process = start(stage, &launch, io).await?;
        self.prepare_next(&confinement).await?;
        Ok(process)
    }

    /// Has the next stage made while this command runs, and not before: it would take its core.
    async fn prepare_next(&self, confinement: &Confinement) -> Result<(), LaunchError> {
        let world = match confinement {
            Confinement::Fenced { sandbox, limits } => plan::world(sandbox, limits),
            Confinement::Unfenced { limits } => plan::machine(limits),
        };
        let mut lines = self.lines.lock().await;
        match lines.iter_mut().find(|(made, _)| *made == world) {
            Some((_, line)) => line.ask(),
            None => Ok(()),
        }
    }

    /// A stage in the right world, and the fence that goes with it.
    async fn stage_for(
        &self,
        confinement: &Confinement,
    ) -> Result<(Stage, Option<Fence>, Limits), LaunchError> {
        let mut lines = self.lines.lock().await;
        match confinement {
            Confinement::Unfenced { limits } => {
                let stage = self
                    .line(&mut lines, &plan::machine(limits))
                    .await?
                    .stage()
                    .await?;
                Ok((stage, None, limits.clone()))
            }
            Confinement::Fenced { sandbox, limits } => {
                let world = plan::world(sandbox, limits);
                match self.line(&mut lines, &world).await {
                    Ok(line) => {
                        let fence = plan::fence(sandbox, &self.surroundings)?;
                        let stage = line.stage().await?;
                        Ok((stage, Some(fence), limits.clone()))
                    }
                    Err(LaunchError::CannotEnforce { missing }) => {
                        self.accept_degraded(sandbox, missing)?;
                        let fence = plan::degraded_fence(sandbox)?;
                        let stage = self
                            .line(&mut lines, &plan::machine(limits))
                            .await?
                            .stage()
                            .await?;
                        Ok((stage, Some(fence), limits.clone()))
                    }
                    Err(error) => Err(error),
                }
            }
        }
    }

    fn accept_degraded(
        &self,
        sandbox: &SandboxPolicy,
        refused: Vec<String>,
    ) -> Result<(), LaunchError> {
        if self.options.degraded == Degraded::Allow {
            return Ok(());
        }
        let mut missing = refused;
        missing.push(format!(
            "without namespaces these would be lost: {}",
            plan::lost_without_namespaces(sandbox).join(", ")
        ));
        missing.push("set `sandbox.degraded = \"allow\"` to accept that".to_owned());
        Err(LaunchError::CannotEnforce { missing })
    }

    async fn line<'a>(
        &self,
        lines: &'a mut Vec<(World, Line)>,
        world: &World,
    ) -> Result<&'a mut Line, LaunchError> {
        if let Some(index) = lines.iter().position(|(made, _)| made == world) {
            return Ok(&mut lines[index].1);
        }
        let boot = Boot {
            world: world.clone(),
            identity: self.identity.clone(),
        };
        let line = Line::open(&self.options.program, &boot).await?;
        lines.push((world.clone(), line));
        let last = lines.len() - 1;
        Ok(&mut lines[last].1)
    }
}

/// Whom fenced commands run as: the user of the harness, or the workspace's owner if that is root.
pub(crate) fn identity(workspace: &Path) -> Result<Identity, LaunchError> {
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    if !uid.is_root() {
        return Ok(Identity {
            uid: uid.as_raw(),
            gid: gid.as_raw(),
            groups: None,
        });
    }
    let owner = std::fs::metadata(workspace).map_err(|reason| LaunchError::Path {
        path: workspace.to_path_buf(),
        reason,
    })?;
    if owner.uid() == 0 {
        return Ok(Identity {
            uid: 0,
            gid: gid.as_raw(),
            groups: None,
        });
    }
    Ok(match account::by_uid(owner.uid()) {
        Some(account) => Identity {
            uid: account.uid,
            gid: account.gid,
            groups: Some(account::groups_of(&account)),
        },
        None => Identity {
            uid: owner.uid(),
            gid: owner.gid(),
            groups: Some(vec![owner.gid()]),
        },
    })
}

fn argv(command: &RunCommand) -> Result<Vec<Vec<u8>>, LaunchError> {
    let argv = command.line.argv();
    match argv.first() {
        None => return Err(LaunchError::EmptyCommand),
        Some(program) if program.is_empty() => return Err(LaunchError::EmptyCommand),
        Some(_) => {}
    }
    argv.into_iter()
        .map(|word| without_nul(word.into_bytes()))
        .collect()
}

/// The command's environment, with the marks of the fence in it.
fn environment(
    command: &RunCommand,
    confinement: &Confinement,
) -> Result<Vec<Vec<u8>>, LaunchError> {
    let mut environment = command.environment.clone();
    if let Confinement::Fenced { sandbox, .. } = confinement {
        environment.insert("RINGFENCE_SANDBOX".to_owned(), "native".to_owned());
        if sandbox.network != Network::Full {
            environment.insert(
                "RINGFENCE_SANDBOX_NETWORK_DISABLED".to_owned(),
                "1".to_owned(),
            );
        }
        // A temporary folder elsewhere cannot be written.
        if sandbox.tmp == TmpPolicy::Private && environment.contains_key("TMPDIR") {
            environment.insert("TMPDIR".to_owned(), "/tmp".to_owned());
        }
    }
    environment
        .iter()
        .map(|(name, value)| without_nul(format!("{name}={value}").into_bytes()))
        .collect()
}

fn without_nul(bytes: Vec<u8>) -> Result<Vec<u8>, LaunchError> {
    if bytes.contains(&0) {
        Err(LaunchError::NulInArgument)
    } else {
        Ok(bytes)
    }
}

/// Hands the launch to the stage and waits for its word.
async fn start(stage: Stage, launch: &Launch, io: Io) -> Result<Process, LaunchError> {
    let Stage { socket, pidfd } = stage;
    let (ends, input, output) = ends(io).map_err(LaunchError::Warden)?;
    let borrowed: Vec<_> = ends.iter().map(AsFd::as_fd).collect();
    protocol::send(socket.get_ref(), launch, &borrowed).map_err(LaunchError::Warden)?;
    drop(ends);
    match line::receive::<Report>(&socket)
        .await
        .map_err(LaunchError::Warden)?
    {
        Some((Report::Started, terminal)) => {
            let output = match (output, terminal.into_iter().next()) {
                (Some(output), _) => output,
                (None, Some(terminal)) => {
                    Output::Terminal(Terminal::new(terminal).map_err(LaunchError::Warden)?)
                }
                (None, None) => return Err(LaunchError::WardenGone),
            };
            Ok(Process::new(socket, pidfd, input, output))
        }
        Some((Report::Failed(failure), _)) => Err(LaunchError::from(failure)),
        Some((Report::Exited { .. } | Report::Over { .. }, _)) | None => {
            Err(LaunchError::WardenGone)
        }
    }
}

/// How much a pipe holds: a command that prints much stops less often for its reader.
const PIPE_BYTES: usize = 1 << 20;

type Ends = (Vec<OwnedFd>, Option<pipe::Sender>, Option<Output>);

/// The command's ends of its pipes, and ours.
fn ends(io: Io) -> io::Result<Ends> {
    let Io::Pipes(input) = io else {
        return Ok((Vec::new(), None, None));
    };
    let (stdin, sender) = match input {
        Input::From(descriptor) => (descriptor, None),
        Input::Inherited => (rustix::io::dup(rustix::stdio::stdin())?, None),
        Input::Null => (
            rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?,
            None,
        ),
        Input::Pipe => {
            let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
            rustix::io::ioctl_fionbio(&writer, true)?;
            (reader, Some(pipe::Sender::from_owned_fd(writer)?))
        }
    };
    let (stdout, stdout_end) = output_pipe()?;
    let (stderr, stderr_end) = output_pipe()?;
    Ok((
        vec![stdin, stdout_end, stderr_end],
        sender,
        Some(Output::Pipes { stdout, stderr }),
    ))
}

fn output_pipe() -> io::Result<(pipe::Receiver, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    // An ordinary user has a budget for this; the default size serves as well.
    let _ = rustix::pipe::fcntl_setpipe_size(&reader, PIPE_BYTES);
    rustix::io::ioctl_fionbio(&reader, true)?;
    Ok((pipe::Receiver::from_owned_fd(reader)?, writer))
}
