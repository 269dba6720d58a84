//! A session: the wardens whose runs share a network, IPC and a `/tmp`, and the launch of a
//! permitted command in one of them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence_confine::account;
use ringfence_policy::action::{Action, RunCommand};
use ringfence_policy::permissions::{Limits, Network, SandboxPolicy, TmpPolicy};
use ringfence_policy::permit::{Confinement, Permit};
use rustix::fs::{Mode, OFlags};
use tokio::net::unix::pipe;
use tokio::sync::Mutex;

use crate::backend::container::spec::Spec;
use crate::backend::{Backend, Choice, ContainerOptions, Site, bubblewrap};
use crate::error::LaunchError;
use crate::git::{Covers, Mended, Setup};
use crate::line::{self, Line, Stage, WardenProgram};
use crate::net::{self, Closed, Gate, Outlet};
use crate::plan;
use crate::process::{Output, Process};
use crate::surroundings::Surroundings;
use crate::terminal::{Terminal, TerminalSize};
use crate::warden::CERTIFICATES_INSIDE;
use crate::warden::protocol::{self, Enclosure, Fence, Identity, Launch, RawPath, Report, World};

/// What a session is opened with.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// Who serves as warden.
    pub program: WardenProgram,
    /// The workspace. A root harness runs fenced commands as its owner.
    pub workspace: PathBuf,
    /// Whether a machine without namespaces may fence with what it has.
    pub degraded: Degraded,
    /// What builds the fence.
    pub backend: Choice,
    /// How the container backend works.
    pub container: ContainerOptions,
    /// The certificates that commands are to trust, as PEM, where they differ from the machine's.
    pub certificates: Option<Vec<u8>>,
    /// Sockets of the machine's, by their paths, that commands can connect to.
    pub unix_sockets: Vec<PathBuf>,
    /// How many launches are expected.
    pub launches: Launches,
    /// A folder of the front end's, out of reach of commands, in which sessions keep track of the
    /// names that they hold. All that may work in the same folders should share it. Protected paths
    /// that do not exist cannot be held without one.
    pub marks: Option<PathBuf>,
}

impl SessionOptions {
    /// The usual ones: the best fence there is, and nothing less than the policy.
    pub fn new(program: WardenProgram, workspace: impl Into<PathBuf>) -> Self {
        Self {
            program,
            workspace: workspace.into(),
            degraded: Degraded::Refuse,
            backend: Choice::Auto,
            container: ContainerOptions::default(),
            certificates: None,
            unix_sockets: Vec::new(),
            launches: Launches::Many,
            marks: None,
        }
    }
}

/// How many launches a session is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launches {
    /// One: nothing is prepared for another.
    One,
    /// Many: the next one is prepared while a command runs.
    Many,
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

impl Io {
    /// The same once more.
    fn again(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Terminal(size) => Self::Terminal(*size),
            Self::Pipes(input) => Self::Pipes(match input {
                Input::Null => Input::Null,
                Input::Inherited => Input::Inherited,
                Input::Pipe => Input::Pipe,
                Input::From(descriptor) => Input::From(descriptor.try_clone()?),
            }),
        })
    }
}

/// How often a launch is tried. A stage that was made ahead of need may give up in the very moment
/// in which it is needed. And `bwrap` takes paths: one that it shall cover may go away on its way
/// there, and the next try does not name that path any more.
const TRIES: u32 = 3;

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
    lines: Mutex<Lines>,
    surroundings: Surroundings,
}

/// The lines to wardens, by where those are.
#[derive(Default)]
struct Lines {
    open: Vec<(Site, Line)>,
    /// Where the machine has said no: it will again.
    refused: Vec<(Site, Vec<String>)>,
}

/// Where a run will be, and how far it reaches there.
struct Ground {
    site: Site,
    enclosure: Enclosure,
}

impl Ground {
    fn new(site: Site, fence: Option<Fence>, limits: &Limits) -> Self {
        let limits = plan::limits(limits);
        Self {
            site,
            enclosure: Enclosure { fence, limits },
        }
    }
}

impl Session {
    /// Opens a session. Nothing is started until the first launch.
    pub fn open(options: SessionOptions) -> Result<Self, LaunchError> {
        let identity = identity(&options.workspace)?;
        Ok(Self {
            options,
            identity,
            lines: Mutex::default(),
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

    /// Runs a permitted command. Returns once its program has been executed. With an allow-list it
    /// reaches no host: who decides about hosts comes with [`Self::launch_through`].
    pub async fn launch(&self, permit: Permit, io: Io) -> Result<Process, LaunchError> {
        self.launch_through(permit, io, Arc::new(Closed)).await
    }

    /// Runs a permitted command whose connections, where it has an allow-list, a gate decides
    /// about.
    pub async fn launch_through(
        &self,
        permit: Permit,
        io: Io,
        gate: Arc<dyn Gate>,
    ) -> Result<Process, LaunchError> {
        let (action, confinement) = permit.redeem();
        let Action::RunCommand(command) = action else {
            return Err(LaunchError::NotACommand);
        };
        let mut io = io;
        let mut tries = TRIES;
        loop {
            let again = io.again().map_err(LaunchError::Warden)?;
            let gate = Arc::clone(&gate);
            tries -= 1;
            match self.try_launch(&command, &confinement, io, gate).await {
                Err(LaunchError::Bubblewrap(_)) | Ok(None) if tries > 0 => io = again,
                Ok(None) => return Err(LaunchError::WardenGone),
                Ok(Some(process)) => return Ok(process),
                Err(error) => return Err(error),
            }
        }
    }

    /// Tries once. None if the stage had given up waiting.
    async fn try_launch(
        &self,
        command: &RunCommand,
        confinement: &Confinement,
        io: Io,
        gate: Arc<dyn Gate>,
    ) -> Result<Option<Process>, LaunchError> {
        let (mut stage, ground) = self.stage_for(confinement).await?;
        let outlet = outlet(&mut stage, confinement, gate)?;
        let launch = Launch {
            argv: argv(command)?,
            environment: environment(
                command,
                confinement,
                ground.site.backend(),
                outlet.as_ref(),
                self.options.certificates.is_some(),
            )?,
            cwd: RawPath::from(command.cwd.as_path()),
            terminal: match io {
                Io::Terminal(size) => Some(size),
                Io::Pipes(_) => None,
            },
        };
        let setup = self.git_setup(confinement, &ground.site);
        let process = start(stage, &launch, io, &ground.site).await?;
        self.prepare_next(&ground).await?;
        Ok(process.map(|process| process.with_outlet(outlet).with_setup(setup)))
    }

    /// Git's set-up before a fenced command runs.
    fn git_setup(&self, confinement: &Confinement, site: &Site) -> Option<Setup> {
        let Confinement::Fenced { sandbox, .. } = confinement else {
            return None;
        };
        let covers = match site {
            Site::Native(World::Machine { .. }) => Covers::None,
            _ => Covers::InForce,
        };
        let setup = plan::git_setup(sandbox, covers, &self.identity, &self.surroundings)?;
        Some(setup.beside_others(self.options.marks.as_deref()))
    }

    /// What was mended of git's set-up after the runs that had changed it had been told of.
    pub fn mended_since(&self) -> Vec<Mended> {
        self.surroundings.git.take_mended()
    }

    /// The same once every look that is under way has come to its end.
    pub fn settled(&self) -> Vec<Mended> {
        self.surroundings.git.settle();
        self.mended_since()
    }

    /// The paths in a policy's writable roots that decide what git runs. Patches are kept from them
    /// as commands are.
    pub fn guarded(&self, sandbox: &SandboxPolicy) -> Vec<PathBuf> {
        plan::git_guarded(sandbox, &self.surroundings)
    }

    /// Has the next stage made while this command runs, and not before: it would take its core.
    /// Most commands of a session have the policy of the one before.
    async fn prepare_next(&self, ground: &Ground) -> Result<(), LaunchError> {
        if self.options.launches == Launches::One {
            return Ok(());
        }
        let mut lines = self.lines.lock().await;
        match lines.open.iter_mut().find(|(made, _)| *made == ground.site) {
            Some((_, line)) => line.ask(&ground.enclosure),
            None => Ok(()),
        }
    }

    /// A stage in the right place, and the fence that goes with it.
    async fn stage_for(&self, confinement: &Confinement) -> Result<(Stage, Ground), LaunchError> {
        let mut lines = self.lines.lock().await;
        let ground = match confinement {
            Confinement::Unfenced { limits } => {
                Ground::new(Site::Native(plan::machine(limits)), None, limits)
            }
            Confinement::Fenced { sandbox, limits } => {
                self.fenced(&mut lines, sandbox, limits).await?
            }
        };
        let line = self.line(&mut lines, &ground).await?;
        let stage = match line.stage(&ground.enclosure).await {
            // The warden was killed, or its container: another takes its place.
            Err(LaunchError::WardenGone | LaunchError::Warden(_)) => {
                lines.open.retain(|(site, _)| *site != ground.site);
                let line = self.line(&mut lines, &ground).await?;
                line.stage(&ground.enclosure).await?
            }
            other => other?,
        };
        Ok((stage, ground))
    }

    /// The best place that can enforce a policy, brought up.
    async fn fenced(
        &self,
        lines: &mut Lines,
        sandbox: &SandboxPolicy,
        limits: &Limits,
    ) -> Result<Ground, LaunchError> {
        let candidates = self.options.backend.candidates();
        if candidates.is_empty() {
            return Err(LaunchError::NoFence);
        }
        let mut refused = Vec::new();
        for backend in candidates {
            let found = match self.ground(*backend, sandbox, limits) {
                Ok(ground) => self.line(lines, &ground).await.map(|_| ground),
                Err(error) => Err(error),
            };
            match found {
                Err(LaunchError::CannotEnforce { missing }) => refused.extend(missing),
                other => return other,
            }
        }
        if !candidates.contains(&Backend::Native) {
            return Err(LaunchError::CannotEnforce { missing: refused });
        }
        self.accept_degraded(sandbox, refused)?;
        let site = Site::Native(plan::machine(limits));
        let ground = Ground::new(site, Some(plan::degraded_fence(sandbox)?), limits);
        self.line(lines, &ground).await?;
        Ok(ground)
    }

    /// What only the native backend brings inside.
    fn lacking(&self, backend: Backend, sandbox: &SandboxPolicy) -> Result<(), LaunchError> {
        let mut missing = Vec::new();
        if backend != Backend::Native {
            if !sandbox.unix_sockets.is_empty() {
                missing.push(format!("{}: sockets by path", backend.name()));
            }
            if self.options.certificates.is_some() {
                missing.push(format!(
                    "{}: certificates of the session's own",
                    backend.name()
                ));
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(LaunchError::CannotEnforce { missing })
    }

    /// Where a backend would run a policy, and with what fence.
    fn ground(
        &self,
        backend: Backend,
        sandbox: &SandboxPolicy,
        limits: &Limits,
    ) -> Result<Ground, LaunchError> {
        self.lacking(backend, sandbox)?;
        let in_namespaces = || plan::fence(sandbox, &self.surroundings);
        let (site, fence) = match backend {
            Backend::Native => (Site::Native(plan::world(sandbox, limits)), in_namespaces()?),
            Backend::Bubblewrap => {
                let bwrap = bubblewrap::find()?;
                let world = plan::bubblewrap_world(&bwrap, sandbox, limits);
                (Site::Bubblewrap { bwrap, world }, in_namespaces()?)
            }
            Backend::Container => {
                let (spec, fence) = Spec::of(sandbox, limits, &self.identity, &self.surroundings)?;
                (Site::Container(Box::new(spec)), fence)
            }
            Backend::None => return Err(LaunchError::NoFence),
        };
        Ok(Ground::new(site, Some(fence), limits))
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
        lines: &'a mut Lines,
        Ground { site, enclosure }: &Ground,
    ) -> Result<&'a mut Line, LaunchError> {
        if let Some(index) = lines.open.iter().position(|(made, _)| made == site) {
            return Ok(&mut lines.open[index].1);
        }
        if let Some((_, missing)) = lines.refused.iter().find(|(refused, _)| refused == site) {
            return Err(LaunchError::CannotEnforce {
                missing: missing.clone(),
            });
        }
        match site.open(&self.options, &self.identity, enclosure).await {
            Ok(line) => lines.open.push((site.clone(), line)),
            Err(LaunchError::CannotEnforce { missing }) => {
                lines.refused.push((site.clone(), missing.clone()));
                return Err(LaunchError::CannotEnforce { missing });
            }
            Err(error) => return Err(error),
        }
        let last = lines.open.len() - 1;
        Ok(&mut lines.open[last].1)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Whoever ends a session may go on to use git.
        self.surroundings.git.settle();
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

/// The proxy of a run with an allow-list.
fn outlet(
    stage: &mut Stage,
    confinement: &Confinement,
    gate: Arc<dyn Gate>,
) -> Result<Option<Outlet>, LaunchError> {
    match confinement {
        Confinement::Fenced { sandbox, .. } if sandbox.network == Network::AllowList => {
            let listener = stage
                .outlet
                .take()
                .ok_or_else(|| LaunchError::CannotEnforce {
                    missing: vec![
                    "an allow-list needs a network namespace; `sandbox.network` can be `off` or \
                     `full` here"
                        .to_owned(),
                ],
                })?;
            let outlet = Outlet::open(listener, gate).map_err(LaunchError::Warden)?;
            Ok(Some(outlet))
        }
        _ => Ok(None),
    }
}

/// The command's environment, with the marks of the fence in it.
fn environment(
    command: &RunCommand,
    confinement: &Confinement,
    backend: Backend,
    outlet: Option<&Outlet>,
    has_certificates: bool,
) -> Result<Vec<Vec<u8>>, LaunchError> {
    let mut environment = command.environment.clone();
    if let Confinement::Fenced { sandbox, .. } = confinement {
        environment.insert("RINGFENCE_SANDBOX".to_owned(), backend.name().to_owned());
        if sandbox.network == Network::Off {
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
    if let Some(outlet) = outlet {
        if has_certificates {
            let variables = net::certificate_variables(CERTIFICATES_INSIDE);
            environment.extend(
                variables
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value)),
            );
        }
        let java = environment.get("JAVA_TOOL_OPTIONS").map(String::as_str);
        let variables = net::proxy_variables(outlet.port(), java);
        environment.extend(
            variables
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
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

/// Hands the launch to the stage and waits for its word. None if the stage has given up waiting.
async fn start(
    stage: Stage,
    launch: &Launch,
    io: Io,
    site: &Site,
) -> Result<Option<Process>, LaunchError> {
    let backend = site.backend();
    let Stage {
        launch: launcher,
        control: socket,
        pidfd,
        ..
    } = stage;
    let (mut ends, input, output) = ends(io).map_err(LaunchError::Warden)?;
    // What `bwrap` has to say comes here, if it gives up before our program runs in it.
    let complaints = protocol::file_of(&[]).map_err(LaunchError::Warden)?;
    if backend == Backend::Bubblewrap {
        ends.push(complaints.try_clone().map_err(LaunchError::Warden)?);
    }
    let borrowed: Vec<_> = ends.iter().map(AsFd::as_fd).collect();
    match protocol::send(&launcher, launch, &borrowed) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(None),
        other => other.map_err(LaunchError::Warden)?,
    }
    drop((ends, launcher));
    match line::receive::<Report>(&socket)
        .await
        .map_err(LaunchError::Warden)?
    {
        Some((Report::Started, along)) => {
            let mut along = along.into_iter();
            let output = if let Some(output) = output {
                output
            } else {
                let terminal = along.next().ok_or(LaunchError::WardenGone)?;
                Output::Terminal(Terminal::new(terminal).map_err(LaunchError::Warden)?)
            };
            let first = along.next().unwrap_or(pidfd);
            let process = Process::new(socket, (first, site.kin()), input, output);
            Ok(Some(process))
        }
        Some((Report::Failed(failure), _)) => Err(LaunchError::from(failure)),
        None if backend == Backend::Bubblewrap => {
            let said = protocol::read_file(&complaints).map_err(LaunchError::Warden)?;
            let said = String::from_utf8_lossy(&said).trim().to_owned();
            Err(LaunchError::Bubblewrap(said))
        }
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
