//! The pipeline: every action, whoever asks for it, takes these steps in this order.
//!
//! judge → ask → settle → record → launch → drive → record → (denied? ask again, once)

mod desk;
mod record;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::{Duration, Instant};

use ringfence_confine::account;
use ringfence_jail::{Input, Io, Session as Jail, SessionOptions, WardenProgram};
use ringfence_policy::action::{Action, FenceRequest, RunCommand};
use ringfence_policy::command_line::{CommandLine, Shell};
use ringfence_policy::judge::Escalation;
use ringfence_policy::permissions::Network;
use ringfence_policy::permit::Confinement;
use ringfence_policy::ruleset::RuleSet;
use ringfence_policy::verdict::{Denial as Refusal, DenialCode, Judgement};
use ringfence_policy::{Ground, Permit, Verdict};
use ringfence_script::Pool;

use crate::approval::Approver;
use crate::audit::{self, AuditLog, CallId, SessionId};
use crate::config::{Backend, Config, Degraded, OnTimeout, ScriptRuntime};
use crate::denial::{self, Denial, Scene};
use crate::error::CallError;
use crate::event::{Event, EventSink};
use crate::execution::{Cancel, Ending, Execution, Timing, drive};
use crate::limit::{self, LimitHit};
use crate::output::{Excerpt, SpillPlace, Transcript, TranscriptLimits};
use crate::session::base_environment;
use crate::tasks::Tasks;
pub(crate) use desk::Desk;
use record::sandbox_name;

pub use record::subject;

/// What a front end hands over to open an engine. The library looks nothing of this up itself.
pub struct EngineOptions {
    /// The folder that the work is about. Absolute.
    pub workspace: PathBuf,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The environment of the harness.
    pub environment: BTreeMap<String, String>,
    /// The configuration.
    pub config: Config,
    /// The rules, of all layers.
    pub rules: RuleSet,
    /// The file that approved rules are added to; they hold for the session only if absent.
    pub rules_file: Option<PathBuf>,
    /// The user's shell.
    pub shell: Shell,
    /// Where the record goes; nowhere if absent.
    pub audit: Option<AuditLog>,
    /// Where long output goes. Removed with the engine.
    pub scratch: Option<PathBuf>,
    /// Where patches are written down while they are applied; there are none if absent. One that
    /// commands can reach would let them have files changed: use a folder that is also private.
    pub journals: Option<PathBuf>,
    /// Who answers questions.
    pub approver: Arc<dyn Approver>,
    /// Who listens.
    pub events: EventSink,
    /// Who serves as warden.
    pub warden: WardenProgram,
    /// Folders of the harness's own that commands may neither read nor write.
    pub private: Vec<PathBuf>,
    /// Which front end this is, for the audit log.
    pub front: &'static str,
}

/// The one place where the steps meet.
pub struct Engine {
    pub(crate) config: Config,
    pub(crate) shell: Shell,
    pub(crate) ground: Ground,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) login: tokio::sync::OnceCell<Option<BTreeMap<String, String>>>,
    pub(crate) tasks: Tasks,
    pub(crate) scripts: OnceLock<Pool>,
    pub(crate) desk: Arc<Desk>,
    pub(crate) jail: Jail,
    pub(crate) journals: Option<PathBuf>,
    scratch: Option<PathBuf>,
}

/// One call on its way through.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// How to stop it.
    pub cancel: Cancel,
}

/// How a command is run.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// The time it has.
    pub timeout: Option<Duration>,
    /// Where its input comes from.
    pub input: StandardInput,
}

/// Where a command's standard input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandardInput {
    /// Nowhere.
    Null,
    /// The harness's own.
    Inherited,
}

/// Whether anybody hears a command's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    Yes,
    No,
}

/// What came of a command.
#[derive(Debug)]
pub struct Outcome {
    /// The run.
    pub execution: Execution,
    /// What the fence refused.
    pub denials: Vec<Denial>,
    /// The limits that it hit.
    pub limits_hit: Vec<LimitHit>,
    /// The policy's name for where it ran.
    pub sandbox: &'static str,
    /// Why a refused command was not tried again.
    pub not_retried: Option<String>,
    /// The task that keeps what the command left running.
    pub task: Option<String>,
}

impl Engine {
    /// Opens an engine.
    pub fn open(options: EngineOptions) -> Result<Self, CallError> {
        refuse_what_is_not_there(&options.config)?;
        let mut sandbox = options
            .config
            .sandbox
            .policy(&options.workspace, options.home.as_deref());
        sandbox.denied_reads.extend(options.private);
        let jail = Jail::open(SessionOptions {
            program: options.warden,
            workspace: options.workspace.clone(),
            degraded: match options.config.sandbox.degraded {
                Degraded::Refuse => ringfence_jail::Degraded::Refuse,
                Degraded::Allow => ringfence_jail::Degraded::Allow,
            },
        })?;
        let environment = base_environment(
            &options.config.environment,
            &options.environment,
            account::own_uid(),
            jail.uid(),
        );
        let ground = Ground {
            cwd: options.workspace.clone(),
            workspace: options.workspace.clone(),
            home: options.home,
            writable: [sandbox.effective_writable_roots(), &[PathBuf::from("/tmp")]].concat(),
        };
        let desk = Desk {
            ground: ground.clone(),
            sandbox,
            limits: options.config.limits.clone(),
            approval: options.config.approval.policy,
            patience: options.config.approval.timeout,
            escalation: if options.config.sandbox.allow_disable_sandbox {
                Escalation::Askable
            } else {
                Escalation::Off
            },
            rules: RwLock::new(options.rules),
            rules_file: options.rules_file,
            remembered: Mutex::default(),
            audit: options.audit,
            approver: options.approver,
            events: options.events,
            session: SessionId(crate::identifier::random("ses")),
            calls: AtomicU64::new(0),
        };
        desk.record(|| {
            audit::Record::SessionStarted(audit::SessionStarted {
                session: desk.session.clone(),
                cwd: options.workspace,
                sandbox: desk.sandbox.mode.to_string(),
                approval: desk.approval.to_string(),
                front: options.front.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            })
        })?;
        let engine = Self {
            ground,
            config: options.config,
            shell: options.shell,
            environment,
            login: tokio::sync::OnceCell::new(),
            tasks: Tasks::default(),
            scripts: OnceLock::new(),
            desk: Arc::new(desk),
            jail,
            journals: options.journals,
            scratch: options.scratch,
        };
        engine.recover_patches()?;
        Ok(engine)
    }

    /// A new call.
    pub fn new_call(&self) -> Call {
        self.desk.new_call()
    }

    /// A command as a person would have it run: here, with the session's environment.
    pub fn person_command(&self, line: CommandLine) -> RunCommand {
        RunCommand {
            tool: "run".to_owned(),
            line,
            cwd: self.ground.cwd.clone(),
            environment: self.environment.clone(),
            fence: FenceRequest::Stay,
            justification: None,
            description: None,
        }
    }

    /// Says what would become of an action, and does nothing.
    pub fn check(&self, action: Action) -> Judgement {
        self.desk.check(action)
    }

    /// Takes a command the whole way.
    pub async fn run_command(
        &self,
        call: &Call,
        command: RunCommand,
        how: How,
    ) -> Result<Outcome, CallError> {
        let started = Instant::now();
        self.desk.tell(&Event::Begin {
            call: call.id.clone(),
            tool: command.tool.clone(),
            command: command.line.display(),
            cwd: command.cwd.clone(),
        });
        let result = self.through(call, command, how).await;
        let exit_code = result
            .as_ref()
            .ok()
            .map(|outcome| outcome.execution.exit_code());
        self.desk.tell(&Event::End {
            call: call.id.clone(),
            exit_code,
            duration: started.elapsed(),
        });
        result
    }

    /// Runs a command of the harness's own: recorded like any other, but no call of anybody's and
    /// nothing that a person is asked about.
    pub(crate) async fn run_quietly(
        &self,
        command: RunCommand,
        how: How,
    ) -> Result<Outcome, CallError> {
        let call = self.new_call();
        let action = Action::RunCommand(command);
        if let Verdict::Ask(_) = self.check(action.clone()).verdict {
            return Err(CallError::Denied(Refusal {
                code: DenialCode::ApprovalNotPossible,
                reason: "the harness asks nobody about commands of its own".to_owned(),
                hint: None,
            }));
        }
        let permit = self.desk.permit(&call, action).await?;
        self.execute(&call, permit, how, Heard::No).await
    }

    async fn through(
        &self,
        call: &Call,
        command: RunCommand,
        how: How,
    ) -> Result<Outcome, CallError> {
        let action = Action::RunCommand(command);
        let permit = self.desk.permit(call, action.clone()).await?;
        let mut outcome = self.execute(call, permit, how, Heard::Yes).await?;
        if !outcome.denials.is_empty() && outcome.execution.ending == Ending::Exited {
            match self
                .desk
                .permit_retry(call, action, &outcome.denials)
                .await?
            {
                Ok(permit) => outcome = self.execute(call, permit, how, Heard::Yes).await?,
                Err(refusal) => outcome.not_retried = Some(refusal.to_string()),
            }
        }
        self.keep_what_remains(&mut outcome);
        Ok(outcome)
    }

    /// Runs what is permitted. The intent is on record already; the outcome follows.
    async fn execute(
        &self,
        call: &Call,
        permit: Permit,
        how: How,
        heard: Heard,
    ) -> Result<Outcome, CallError> {
        let sandbox = sandbox_name(permit.confinement());
        let fence = match permit.confinement() {
            Confinement::Fenced { sandbox, .. } => Some(sandbox.clone()),
            Confinement::Unfenced { .. } => None,
        };
        let limits = permit.confinement().limits().clone();
        let cwd = match permit.action() {
            Action::RunCommand(command) => command.cwd.clone(),
            _ => self.ground.cwd.clone(),
        };
        let started = Instant::now();
        let execution = match self.launch_and_drive(call, permit, how, heard).await {
            Ok(execution) => execution,
            Err(error) => {
                self.desk
                    .record_outcome(call, Err((error.code(), started.elapsed())))?;
                return Err(error);
            }
        };
        let text = Excerpt::of(&execution.output.both, usize::MAX).text;
        let limits_hit = limit::find(&limits, how.timeout, &execution, &text);
        let denials = fence.map_or_else(Vec::new, |fence| {
            let exit_code = execution.exit_code();
            denial::find(
                &Scene {
                    sandbox: &fence,
                    cwd: &cwd,
                    exit_code,
                },
                &text,
            )
        });
        self.desk
            .record_outcome(call, Ok((&execution, !denials.is_empty())))?;
        Ok(Outcome {
            execution,
            denials,
            limits_hit,
            sandbox,
            not_retried: None,
            task: None,
        })
    }

    async fn launch_and_drive(
        &self,
        call: &Call,
        permit: Permit,
        how: How,
        heard: Heard,
    ) -> Result<Execution, CallError> {
        let input = match how.input {
            StandardInput::Null => Input::Null,
            StandardInput::Inherited => Input::Inherited,
        };
        let process = self.jail.launch(permit, Io::Pipes(input)).await?;
        let timing = Timing {
            timeout: how.timeout,
            drain: self.config.output.drain,
        };
        let transcript = Transcript::new(call.id.0.clone(), self.transcript_limits());
        let listen = |stream, bytes: &[u8]| {
            if heard == Heard::Yes {
                self.desk.tell(&Event::Output {
                    call: call.id.clone(),
                    stream,
                    bytes,
                });
            }
        };
        Ok(drive(process, timing, &call.cancel, transcript, listen).await?)
    }

    fn transcript_limits(&self) -> TranscriptLimits {
        TranscriptLimits {
            buffer_bytes: usize::try_from(self.config.output.buffer_bytes).unwrap_or(usize::MAX),
            spill_after: self.max_output_chars(),
            spill: self.scratch.as_ref().map(|folder| SpillPlace {
                folder: folder.clone(),
                cap: self.config.output.spill_cap_bytes,
            }),
        }
    }

    pub(crate) fn max_output_chars(&self) -> usize {
        usize::try_from(self.config.bash.max_output_chars).unwrap_or(usize::MAX)
    }

    /// What a command left running becomes a task of the session.
    fn keep_what_remains(&self, outcome: &mut Outcome) {
        if let Some(remaining) = outcome.execution.remaining.take() {
            outcome.task = Some(self.tasks.keep(remaining));
        }
    }

    /// The user's shell.
    pub fn shell(&self) -> &Shell {
        &self.shell
    }

    /// An outcome as JSON, with spec 2's field names.
    pub fn exec_output(&self, outcome: &Outcome) -> serde_json::Value {
        crate::tools::exec_output(self, outcome, None)
    }
}

/// Settings that are known and not served yet are errors: never ignored, never replaced by less.
fn refuse_what_is_not_there(config: &Config) -> Result<(), CallError> {
    let native = "use `auto` or `native`, or `sandbox.mode` to go without a fence";
    let (setting, instead) = match (config.sandbox.backend, config.sandbox.network) {
        (Backend::Bubblewrap, _) => ("sandbox.backend = \"bubblewrap\"", native),
        (Backend::Container, _) => ("sandbox.backend = \"container\"", native),
        (Backend::None, _) => ("sandbox.backend = \"none\"", native),
        (_, Network::AllowList) => ("sandbox.network = \"allow-list\"", "use `off` or `full`"),
        _ if config.bash.on_timeout == OnTimeout::Background => {
            ("bash.on_timeout = \"background\"", "use `kill`")
        }
        _ if config.script.runtime == ScriptRuntime::InProcess => {
            ("script.runtime = \"in-process\"", "use `quickjs`")
        }
        _ => return Ok(()),
    };
    Err(CallError::NotAvailable { setting, instead })
}

impl Drop for Engine {
    fn drop(&mut self) {
        let session = self.desk.session.clone();
        let calls = self.desk.calls();
        let _ = self.desk.record(|| {
            audit::Record::SessionEnded(audit::SessionEnded {
                session,
                calls,
                reason: None,
            })
        });
        if let Some(folder) = &self.scratch {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}
