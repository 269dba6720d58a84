//! A jail: the wardens whose runs share a network, IPC and a `/tmp`, and the launch of a
//! permitted command in one of them.
//!
//! - `options`: what it is opened with; `identity`: whom commands run as
//! - `command`: the command as a stage takes it; `stdio`: its standard descriptors

#[cfg(feature = "launch")]
mod command;
mod identity;
mod options;
mod packages;
pub(crate) mod stdio;

use std::path::PathBuf;
use std::sync::Arc;

use ringfence_policy::action::{Action, RunCommand};
use ringfence_policy::permissions::{Limits, SandboxPolicy};
use ringfence_policy::permit::{Confinement, Permit};
use tokio::sync::Mutex;

use crate::backend::container::spec::Spec;
use crate::backend::{Backend, Holder, Site, bubblewrap};
use crate::error::LaunchError;
use crate::git::{Beginning, Repair, Setup};
use crate::line::{Line, Stage};
#[cfg(feature = "launch")]
use crate::net::{Closed, Gate, Outlet};
use crate::plan;
use crate::process::Process;
use crate::surroundings::Surroundings;
use crate::survey::{self, Survey};
use crate::warden::protocol::{Enclosure, Fence, Identity, Launch, RawPath};
#[cfg(feature = "launch")]
use command::{argv, environment};

pub(crate) use identity::identity;
pub use options::{Degraded, JailOptions, Launches, Strength};
pub use stdio::{Input, Io};

/// How often a launch is tried. A stage that was made ahead of need may give up in the very moment
/// in which it is needed. And `bwrap` takes paths: one that it shall cover may go away on its way
/// there, and the next try does not name that path any more.
const TRIES: u32 = 3;

/// A jail.
pub struct Jail {
    options: JailOptions,
    identity: Identity,
    lines: Mutex<Lines>,
    surroundings: Arc<Surroundings>,
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
    /// What was found in its roots, where it has covers, and since when it counts as alive.
    surveyed: Option<(Arc<Survey>, Beginning)>,
}

impl Ground {
    fn new(site: Site, fence: Option<Fence>, limits: &Limits) -> Self {
        let limits = plan::limits(limits);
        Self {
            site,
            enclosure: Enclosure { fence, limits },
            surveyed: None,
        }
    }

    fn surveyed(site: Site, survey: Arc<Survey>, beginning: Beginning, limits: &Limits) -> Self {
        let ground = Self::new(site, Some(survey.fence().clone()), limits);
        Self {
            surveyed: Some((survey, beginning)),
            ..ground
        }
    }
}

impl Jail {
    /// Opens a jail. Nothing is started until the first launch.
    pub fn open(options: JailOptions) -> Result<Self, LaunchError> {
        let identity = identity(&options.workspace)?;
        let surroundings = Arc::<Surroundings>::default();
        if options.launches == Launches::One {
            surroundings.look_ahead(&options.workspace);
        }
        Ok(Self {
            options,
            identity,
            lines: Mutex::default(),
            surroundings,
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

    #[cfg(feature = "launch")]
    /// Runs a permitted command. Returns once its program has been executed. With an allow-list it
    /// reaches no host: who decides about hosts comes with [`Self::launch_through`].
    pub async fn launch(&self, permit: Permit, io: Io) -> Result<Process, LaunchError> {
        self.launch_through(permit, io, Arc::new(Closed)).await
    }

    #[cfg(feature = "launch")]
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

    #[cfg(feature = "launch")]
    /// Tries once. None if the stage had given up waiting.
    async fn try_launch(
        &self,
        command: &RunCommand,
        confinement: &Confinement,
        io: Io,
        gate: Arc<dyn Gate>,
    ) -> Result<Option<Process>, LaunchError> {
        let (mut stage, mut ground, holder) = self.stage_for(confinement).await?;
        let outlet = Outlet::for_run(stage.outlet.take(), confinement, gate)?;
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
        let setup = self.setup(confinement, &mut ground);
        let setup = match stage.testament.take() {
            Some(warden) => setup.map(|setup| setup.told_to(warden)),
            None => setup,
        };
        let process = stage.launch(&launch, io, &ground.site, holder).await?;
        self.prepare_next(&ground).await?;
        Ok(process.map(|process| process.with_outlet(outlet).with_setup(setup)))
    }

    /// What the end of a fenced command is compared with.
    fn setup(&self, confinement: &Confinement, ground: &mut Ground) -> Option<Setup> {
        let Confinement::Fenced { sandbox, .. } = confinement else {
            return None;
        };
        let setup = match ground.surveyed.take() {
            Some((survey, beginning)) => {
                survey.setup(beginning, &self.identity, &self.surroundings)
            }
            None => survey::bare_setup(sandbox, &self.identity, &self.surroundings),
        };
        Some(setup?.beside_others(self.options.marks.as_deref()))
    }

    /// What was mended of git's set-up after the runs that had changed it had been told of.
    pub fn mended_since(&self) -> Vec<Repair> {
        self.surroundings.git.take_mended()
    }

    /// The same once every look that is under way has come to its end.
    pub fn settled(&self) -> Vec<Repair> {
        self.surroundings.git.settle();
        self.mended_since()
    }

    /// The paths in a policy's writable roots that decide what git runs. Patches are kept from them
    /// as commands are.
    pub fn guarded(&self, sandbox: &SandboxPolicy) -> Vec<PathBuf> {
        survey::guarded(sandbox, &self.surroundings)
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
    async fn stage_for(
        &self,
        confinement: &Confinement,
    ) -> Result<(Stage, Ground, Holder), LaunchError> {
        let mut lines = self.lines.lock().await;
        let ground = match confinement {
            Confinement::Unfenced { limits } => {
                Ground::new(Site::Native(plan::machine(limits)), None, limits)
            }
            Confinement::Fenced { sandbox, limits } => {
                self.fenced(&mut lines, sandbox, limits).await?
            }
        };
        let is_fenced = ground.enclosure.fence.is_some();
        let line = self.line(&mut lines, &ground.site).await?;
        let holder = Holder::at(&ground.site, is_fenced, line.engine());
        let stage = match line.stage(&ground.enclosure).await {
            // The warden was killed, or its container: another takes its place.
            Err(LaunchError::WardenGone | LaunchError::Warden(_)) => {
                lines.open.retain(|(site, _)| *site != ground.site);
                let line = self.line(&mut lines, &ground.site).await?;
                line.stage(&ground.enclosure).await?
            }
            other => other?,
        };
        Ok((stage, ground, holder))
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
            match self.ground(*backend, lines, sandbox, limits).await {
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
        self.line(lines, &ground.site).await?;
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

    /// Where a backend runs a policy, brought up, and with what fence. The roots are looked at while
    /// the warden comes up, where it does not depend on them.
    async fn ground(
        &self,
        backend: Backend,
        lines: &mut Lines,
        sandbox: &SandboxPolicy,
        limits: &Limits,
    ) -> Result<Ground, LaunchError> {
        self.lacking(backend, sandbox)?;
        let site = match backend {
            Backend::Native => Site::Native(plan::world(sandbox, limits)),
            Backend::Bubblewrap => {
                let bwrap = bubblewrap::find(&self.options.programs)?;
                let world = plan::bubblewrap_world(&bwrap, sandbox, limits);
                Site::Bubblewrap { bwrap, world }
            }
            Backend::Container => {
                let survey = Survey::of(sandbox, &self.surroundings)?;
                let spec = Spec::of(sandbox, limits, &self.identity, survey.fence())?;
                Site::Container(Box::new(spec))
            }
            Backend::None => return Err(LaunchError::NoFence),
        };
        let look = async {
            let beginning = survey::begin(sandbox);
            (beginning, Survey::of(sandbox, &self.surroundings))
        };
        let (line, (beginning, survey)) = tokio::join!(self.line(lines, &site), look);
        line?;
        Ok(Ground::surveyed(site, survey?, beginning, limits))
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
        site: &Site,
    ) -> Result<&'a mut Line, LaunchError> {
        if let Some(index) = lines.open.iter().position(|(made, _)| made == site) {
            return Ok(&mut lines.open[index].1);
        }
        if let Some((_, missing)) = lines.refused.iter().find(|(refused, _)| refused == site) {
            return Err(LaunchError::CannotEnforce {
                missing: missing.clone(),
            });
        }
        match site.open(&self.options, &self.identity).await {
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

impl Drop for Jail {
    fn drop(&mut self) {
        // Whoever ends a jail may go on to use git.
        self.surroundings.git.settle();
    }
}
