//! The pipeline: every action, whoever asks for it, takes these steps in this order.
//!
//! judge → ask → settle → record → launch → drive → record → (denied? ask again, once)

mod record;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use ringfence_confine::account;
use ringfence_jail::{Input, Io, Session as Jail, SessionOptions, WardenProgram};
use ringfence_policy::action::{Action, FenceRequest, RunCommand};
use ringfence_policy::command_line::{CommandLine, Shell};
use ringfence_policy::judge::{ApprovalKey, Bench, Escalation, Remembered, judge, judge_retry};
use ringfence_policy::permissions::{Network, SandboxPolicy};
use ringfence_policy::permit::Confinement;
use ringfence_policy::propose::Proposal;
use ringfence_policy::rule::Layer;
use ringfence_policy::ruleset::RuleSet;
use ringfence_policy::settle::{Answer, settle};
use ringfence_policy::verdict::{Denial as Refusal, DenialCode, Grounds, Judgement, Question};
use ringfence_policy::{Ground, Permit, Verdict};
use ringfence_script::Pool;

use crate::approval::Approver;
use crate::audit::{self, AuditLog, CallId, Clock, SessionId, SystemClock};
use crate::config::{Backend, Config, Degraded, OnTimeout, ScriptRuntime};
use crate::denial::{self, Denial, Scene};
use crate::error::CallError;
use crate::event::{Event, EventSink};
use crate::execution::{Cancel, Ending, Execution, Timing, drive};
use crate::output::{Excerpt, SpillPlace, Transcript, TranscriptLimits};
use crate::rules;
use crate::session::base_environment;
use crate::tasks::Tasks;
use record::{ActionRecord, Decided, millis, recorded, sandbox_name};

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
    sandbox: SandboxPolicy,
    jail: Jail,
    rules: RwLock<RuleSet>,
    rules_file: Option<PathBuf>,
    remembered: Mutex<Remembered>,
    audit: Option<AuditLog>,
    approver: Arc<dyn Approver>,
    events: EventSink,
    scratch: Option<PathBuf>,
    session: SessionId,
    calls: AtomicU64,
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
        let engine = Self {
            ground: Ground {
                cwd: options.workspace.clone(),
                workspace: options.workspace.clone(),
                home: options.home,
                writable: [sandbox.effective_writable_roots(), &[PathBuf::from("/tmp")]].concat(),
            },
            config: options.config,
            shell: options.shell,
            environment,
            login: tokio::sync::OnceCell::new(),
            tasks: Tasks::default(),
            scripts: OnceLock::new(),
            sandbox,
            jail,
            rules: RwLock::new(options.rules),
            rules_file: options.rules_file,
            remembered: Mutex::default(),
            audit: options.audit,
            approver: options.approver,
            events: options.events,
            scratch: options.scratch,
            session: SessionId(crate::identifier::random("ses")),
            calls: AtomicU64::new(0),
        };
        engine.record(|| {
            audit::Record::SessionStarted(audit::SessionStarted {
                session: engine.session.clone(),
                cwd: options.workspace,
                sandbox: engine.sandbox.mode.to_string(),
                approval: engine.config.approval.policy.to_string(),
                front: options.front.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            })
        })?;
        Ok(engine)
    }

    /// A new call.
    pub fn new_call(&self) -> Call {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        Call {
            id: CallId(format!("{}-{number}", self.session.0)),
            cancel: Cancel::new(),
        }
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
        let remembered = self
            .remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        judge(action, &self.bench(&rules, &remembered))
    }

    /// Takes a command the whole way.
    pub async fn run_command(
        &self,
        call: &Call,
        command: RunCommand,
        how: How,
    ) -> Result<Outcome, CallError> {
        let started = Instant::now();
        (self.events)(&Event::Begin {
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
        (self.events)(&Event::End {
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
        let permit = self.permit(&call, action).await?;
        self.execute(&call, permit, how, Heard::No).await
    }

    async fn through(
        &self,
        call: &Call,
        command: RunCommand,
        how: How,
    ) -> Result<Outcome, CallError> {
        let action = Action::RunCommand(command);
        let permit = self.permit(call, action.clone()).await?;
        let mut outcome = self.execute(call, permit, how, Heard::Yes).await?;
        if !outcome.denials.is_empty() && outcome.execution.ending == Ending::Exited {
            match self.permit_retry(call, action, &outcome.denials).await? {
                Ok(permit) => outcome = self.execute(call, permit, how, Heard::Yes).await?,
                Err(refusal) => outcome.not_retried = Some(refusal.to_string()),
            }
        }
        self.keep_what_remains(&mut outcome);
        Ok(outcome)
    }

    /// Judges an action and, if need be, asks about it.
    pub(crate) async fn permit(&self, call: &Call, action: Action) -> Result<Permit, CallError> {
        let record = ActionRecord::of(&action);
        let Judgement { verdict, grounds } = self.check(action);
        match verdict {
            Verdict::Allow(permit) => {
                self.record_intent(call, &record, Decided::by_policy(&permit, &grounds))?;
                Ok(permit)
            }
            Verdict::Deny(refusal) => {
                self.record_intent(call, &record, Decided::denied(&refusal, &grounds))?;
                Err(CallError::Denied(refusal))
            }
            Verdict::Ask(question) => match self.ask(call, &record, question, &grounds).await? {
                Ok(permit) => Ok(permit),
                Err(refusal) => Err(CallError::Denied(refusal)),
            },
        }
    }

    /// Asks whether a command that the fence refused something may run again without it.
    async fn permit_retry(
        &self,
        call: &Call,
        action: Action,
        denials: &[Denial],
    ) -> Result<Result<Permit, Refusal>, CallError> {
        let record = ActionRecord::of(&action);
        let denied = denials.iter().map(Denial::line).collect();
        let verdict = {
            let remembered = self
                .remembered
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
            judge_retry(action, denied, &self.bench(&rules, &remembered))
        };
        match verdict {
            Verdict::Ask(question) => self.ask(call, &record, question, &Grounds::default()).await,
            Verdict::Allow(permit) => Ok(Ok(permit)),
            Verdict::Deny(refusal) => Ok(Err(refusal)),
        }
    }

    /// Puts a question to the approver, with a limit on its time, and records both sides.
    async fn ask(
        &self,
        call: &Call,
        record: &ActionRecord,
        question: Question,
        grounds: &Grounds,
    ) -> Result<Result<Permit, Refusal>, CallError> {
        let asked = Instant::now();
        self.record(|| {
            audit::Record::ApprovalAsked(audit::ApprovalAsked {
                call: call.id.clone(),
                session: self.session.clone(),
                command: record.command.clone(),
                reason: question.because().to_owned(),
                proposed_rule: question.proposals().first().map(Proposal::summary),
                justification: record.justification.clone(),
            })
        })?;
        let limit = self.config.approval.timeout;
        let answer = tokio::time::timeout(limit, self.approver.ask(&question, grounds))
            .await
            .unwrap_or(Answer::TimedOut);
        self.record(|| {
            audit::Record::ApprovalAnswered(audit::ApprovalAnswered {
                call: call.id.clone(),
                session: self.session.clone(),
                answer: recorded(&answer),
                by: self.approver.name().to_owned(),
                waited_ms: millis(asked.elapsed()),
                rule: match &answer {
                    Answer::ApprovedWithRule(rule) => Some(rule.clone()),
                    _ => None,
                },
            })
        })?;
        let because = question.because().to_owned();
        let key = ApprovalKey::of(&question);
        let settled = settle(question, &answer);
        match &settled {
            Ok(permit) => {
                if let Answer::ApprovedWithRule(rule) = &answer {
                    self.keep_rule(call, rule, &because)?;
                } else if answer == Answer::ApprovedForSession {
                    let mut remembered = self
                        .remembered
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner);
                    remembered.insert(key);
                }
                let by = Some(self.approver.name());
                self.record_intent(call, record, Decided::approved(permit, &because, by))?;
            }
            Err(refusal) => {
                self.record_intent(call, record, Decided::denied(refusal, grounds))?;
            }
        }
        Ok(settled)
    }

    /// Keeps an approved rule: in the file, and for the calls that follow.
    fn keep_rule(&self, call: &Call, rule: &str, because: &str) -> Result<(), CallError> {
        let layer = if self.rules_file.is_some() {
            Layer::User
        } else {
            Layer::Session
        };
        if let Some(path) = &self.rules_file {
            rules::add(path, rule, because, SystemClock.now())?;
        } else {
            self.notice(call, "the rule holds for this session only".to_owned());
        }
        let kept = RuleSet::parse(layer, "the approved rule", rule)
            .map_err(rules::RulesFileError::from)?;
        self.rules
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(kept);
        Ok(())
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
        let cwd = match permit.action() {
            Action::RunCommand(command) => command.cwd.clone(),
            _ => self.ground.cwd.clone(),
        };
        let started = Instant::now();
        let execution = match self.launch_and_drive(call, permit, how, heard).await {
            Ok(execution) => execution,
            Err(error) => {
                self.record_outcome(call, Err((error.code(), started.elapsed())))?;
                return Err(error);
            }
        };
        let denials = fence.map_or_else(Vec::new, |fence| {
            let text = Excerpt::of(&execution.output.both, usize::MAX).text;
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
        self.record_outcome(call, Ok((&execution, !denials.is_empty())))?;
        Ok(Outcome {
            execution,
            denials,
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
                (self.events)(&Event::Output {
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

    fn bench<'a>(&'a self, rules: &'a RuleSet, remembered: &'a Remembered) -> Bench<'a> {
        Bench {
            ground: &self.ground,
            sandbox: &self.sandbox,
            limits: &self.config.limits,
            approval: self.config.approval.policy,
            escalation: if self.config.sandbox.allow_disable_sandbox {
                Escalation::Askable
            } else {
                Escalation::Off
            },
            rules,
            remembered,
        }
    }

    /// The user's shell.
    pub fn shell(&self) -> &Shell {
        &self.shell
    }

    /// An outcome as JSON, with spec 2's field names.
    pub fn exec_output(&self, outcome: &Outcome) -> serde_json::Value {
        crate::tools::exec_output(self, outcome)
    }

    pub(crate) fn tell(&self, event: &Event<'_>) {
        (self.events)(event);
    }

    pub(crate) fn notice(&self, call: &Call, text: String) {
        (self.events)(&Event::Notice {
            call: call.id.clone(),
            text,
        });
    }

    fn record(&self, record: impl FnOnce() -> audit::Record) -> Result<(), CallError> {
        match &self.audit {
            Some(log) => Ok(log.record(record())?),
            None => Ok(()),
        }
    }

    fn record_intent(
        &self,
        call: &Call,
        action: &ActionRecord,
        decided: Decided<'_>,
    ) -> Result<(), CallError> {
        self.record(|| {
            audit::Record::Intent(audit::Intent {
                call: call.id.clone(),
                session: self.session.clone(),
                parent: None,
                tool: action.tool.clone(),
                command: action.command.clone(),
                cwd: action
                    .cwd
                    .clone()
                    .unwrap_or_else(|| self.ground.cwd.clone()),
                sandbox: decided.sandbox.to_owned(),
                verdict: decided.verdict,
                reason: decided.reason,
                rule: decided.rule,
                approved_by: decided.by.map(str::to_owned),
                justification: action.justification.clone(),
            })
        })
    }

    pub(crate) fn record_outcome(
        &self,
        call: &Call,
        result: Result<(&Execution, bool), (&'static str, Duration)>,
    ) -> Result<(), CallError> {
        self.record(|| {
            let (call, session) = (call.id.clone(), self.session.clone());
            audit::Record::Outcome(match result {
                Ok((execution, denied_by_sandbox)) => audit::Outcome {
                    call,
                    session,
                    exit_code: Some(execution.exit_code()),
                    duration_ms: millis(execution.duration),
                    timed_out: execution.ending == Ending::TimedOut,
                    denied_by_sandbox,
                    stdout_bytes: execution.output.stdout.total(),
                    stderr_bytes: execution.output.stderr.total(),
                    error: None,
                },
                Err((code, duration)) => audit::Outcome {
                    call,
                    session,
                    exit_code: None,
                    duration_ms: millis(duration),
                    timed_out: false,
                    denied_by_sandbox: false,
                    stdout_bytes: 0,
                    stderr_bytes: 0,
                    error: Some(code.to_owned()),
                },
            })
        })
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
        let session = self.session.clone();
        let calls = self.calls.load(Ordering::Relaxed);
        let _ = self.record(|| {
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
