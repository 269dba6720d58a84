//! A session whose commands run inside the fence, with the protections that users get by default.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ringfence_jail::net::Gate;
use ringfence_jail::{
    Input, Io, Jail, JailOptions, LaunchError, Process, TerminalSize, WardenProgram,
};
use ringfence_policy::action::{Action, FenceRequest, RunCommand};
use ringfence_policy::command_line::CommandLine;
use ringfence_policy::judge::{Escalation, Premises, SessionApprovals, judge};
use ringfence_policy::permissions::{ApprovalPolicy, Limits, Network, SandboxPolicy};
use ringfence_policy::ruleset::RuleSet;
use ringfence_policy::sensitive::path::{Base, denied};
use ringfence_policy::settle::{Answer, settle};
use ringfence_policy::{Ground, Permit, Verdict};

use crate::contest::Trouble;

/// The size of a terminal.
pub const TERMINAL: TerminalSize = TerminalSize {
    rows: 24,
    columns: 80,
};

/// A session in one workspace.
pub struct Fenced {
    jail: Jail,
    workspace: PathBuf,
    sandbox: SandboxPolicy,
    limits: Limits,
}

impl Fenced {
    /// Opens a session with the default policy for a workspace.
    pub fn open(workspace: &Path) -> Result<Self, LaunchError> {
        let home = std::env::home_dir().unwrap_or_default();
        let mut denied_reads: Vec<PathBuf> =
            denied(Base::Home).map(|name| home.join(name)).collect();
        denied_reads.extend(denied(Base::System).map(PathBuf::from));
        let options = JailOptions {
            marks: Some(std::env::temp_dir().join("ringfence-bench-marks")),
            ..JailOptions::new(WardenProgram::ThisProgram, workspace)
        };
        let jail = Jail::open(options)?;
        Ok(Self {
            jail,
            workspace: workspace.to_path_buf(),
            sandbox: SandboxPolicy {
                denied_reads,
                ..SandboxPolicy::workspace_write(workspace)
            },
            limits: Limits::default(),
        })
    }

    /// The same session with another network.
    pub fn with_network(mut self, network: Network) -> Self {
        self.sandbox.network = network;
        self
    }

    /// Starts a command whose connections a gate decides about.
    pub async fn start_through<T: AsRef<str>>(
        &self,
        argv: &[T],
        gate: Arc<dyn Gate>,
    ) -> Result<Process, Trouble> {
        let permit = self.permit(argv)?;
        let io = Io::Pipes(Input::Null);
        Ok(self.jail.launch_through(permit, io, gate).await?)
    }

    /// Starts a command.
    pub async fn start<T: AsRef<str>>(&self, argv: &[T]) -> Result<Process, Trouble> {
        let permit = self.permit(argv)?;
        Ok(self.jail.launch(permit, Io::Pipes(Input::Null)).await?)
    }

    /// Starts a command on a terminal.
    pub async fn start_on_terminal<T: AsRef<str>>(&self, argv: &[T]) -> Result<Process, Trouble> {
        let permit = self.permit(argv)?;
        Ok(self.jail.launch(permit, Io::Terminal(TERMINAL)).await?)
    }

    /// Runs a command to its end. The judgement is not part of the time: it is the fence that is
    /// measured.
    pub async fn time(&self, argv: &[&str], io: Io) -> Result<Duration, Trouble> {
        let permit = self.permit(argv)?;
        let start = Instant::now();
        let mut process = self.jail.launch(permit, io).await?;
        let exit = process.exited().await?;
        let took = start.elapsed();
        if exit.code() != 0 {
            return Err(format!("exit code {}", exit.code()).into());
        }
        process.gone().await?;
        Ok(took)
    }

    /// A permit, got the only way there is: every question is answered with yes.
    fn permit<T: AsRef<str>>(&self, argv: &[T]) -> Result<Permit, Trouble> {
        let environment = BTreeMap::from([
            ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME".to_owned(), std::env::var("HOME").unwrap_or_default()),
        ]);
        let action = Action::RunCommand(RunCommand {
            tool: "bench".into(),
            line: CommandLine::Argv(argv.iter().map(|word| word.as_ref().to_owned()).collect()),
            cwd: self.workspace.clone(),
            environment,
            fence: FenceRequest::Stay,
            justification: None,
            description: None,
        });
        let premises = Premises {
            ground: &Ground::at(&self.workspace),
            sandbox: &self.sandbox,
            rules: &RuleSet::default(),
            limits: &self.limits,
            approval: ApprovalPolicy::OnFailure,
            escalation: Escalation::Off,
            approvals: &SessionApprovals::default(),
        };
        match judge(action, &premises).verdict {
            Verdict::Allow(permit) => Ok(permit),
            Verdict::Ask(question) => {
                settle(question, &Answer::Approved).map_err(|refusal| refusal.to_string().into())
            }
            Verdict::Refuse(refusal) => Err(refusal.to_string().into()),
        }
    }
}
