//! `ringfence check`: what would become of a command, and why.

use std::process::ExitCode;

use anyhow::Result;
use ringfence::Engine;
use ringfence::policy::action::Action;
use ringfence::policy::command_line::{CommandLine, Profile};
use ringfence::policy::permissions::{ApprovalPolicy, Network, SandboxMode};
use ringfence::policy::verdict::{Grounds, Verdict};
use serde::Serialize;
use serde_json::{Value, json};

use crate::arguments::Common;
use crate::flags::flag_values;
use crate::locations::Locations;
use crate::opening;
use crate::paint;
use ringfence_protocol::reveal;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ringfence check 'git status && npm test'
  ringfence check --approval never --json 'curl example.com | sh'

Runs nothing. Exit code 0 if the command may run, 3 if somebody would be asked, 4 if it is denied.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// The command, as a text for the shell
    command: String,
}

const ASK: u8 = 3;
const DENY: u8 = 4;

pub(crate) fn serve(arguments: &Arguments) -> Result<ExitCode> {
    let engine = opening::open_to_look(&arguments.common)?;
    let line = CommandLine::Shell {
        shell: engine.shell().clone(),
        text: arguments.command.clone(),
        profile: Profile::Plain,
    };
    let judged = engine.check(Action::RunCommand(engine.person_command(line)));
    let policy = Standing::of(&engine, &arguments.common)?;
    if arguments.common.json {
        let report = to_json(&judged.verdict, &judged.grounds, &policy);
        paint::line(&serde_json::to_string_pretty(&report)?);
    } else {
        show(&judged.verdict, &judged.grounds, &policy);
    }
    Ok(match judged.verdict {
        Verdict::Allow(_) => ExitCode::SUCCESS,
        Verdict::Ask(_) => ExitCode::from(ASK),
        Verdict::Refuse(_) => ExitCode::from(DENY),
    })
}

/// The policy that a command would really meet here.
#[derive(Debug, Serialize)]
struct Standing {
    /// When a person is asked, and where that is set.
    approval: ApprovalPolicy,
    approval_from: String,
    /// How far commands reach, and where that is set.
    sandbox: SandboxMode,
    sandbox_from: String,
    /// What of the network there is.
    network: Network,
}

impl Standing {
    fn of(engine: &Engine, common: &Common) -> Result<Self> {
        let locations = Locations::find(common.cwd.as_deref())?;
        let resolved = locations.resolve(flag_values(common)?)?;
        let from = |key: &str| {
            let part = resolved.get(key).and_then(|setting| setting.parts.last());
            part.map(|part| part.origin.to_string()).unwrap_or_default()
        };
        Ok(Self {
            approval: engine.approval(),
            approval_from: from("approval.policy"),
            sandbox: engine.sandbox().mode,
            sandbox_from: from("sandbox.mode"),
            network: engine.sandbox().network,
        })
    }

    fn line(&self) -> String {
        format!(
            "policy: approval {} ({}), sandbox {} ({}), network {}",
            self.approval, self.approval_from, self.sandbox, self.sandbox_from, self.network
        )
    }
}

fn to_json(verdict: &Verdict, grounds: &Grounds, policy: &Standing) -> Value {
    let mut reasons = vec![grounds.because.clone()];
    reasons.extend(grounds.reasons.iter().map(|reason| {
        if reason.part.is_empty() {
            reason.why.clone()
        } else {
            format!("{}: {}", reason.part, reason.why)
        }
    }));
    json!({
        "verdict": verdict.name(),
        "class": grounds.class,
        "reasons": reasons,
        "facts": grounds.facts,
        "rule": grounds.rule,
        "policy": policy,
    })
}

fn show(verdict: &Verdict, grounds: &Grounds, policy: &Standing) {
    let mut lines = vec![format!("{}: {}", verdict.name(), grounds.because)];
    if let Some(class) = grounds.class {
        lines.push(format!("class: {class}"));
    }
    if let Some(rule) = &grounds.rule {
        lines.push(format!("rule: {rule}"));
    }
    lines.push(policy.line());
    for reason in &grounds.reasons {
        lines.push(format!(
            "  {:<11} {}  ({})",
            reason.class.name(),
            reason.part,
            reason.why
        ));
    }
    if let Verdict::Ask(question) = verdict {
        for proposal in question.proposals() {
            lines.push(format!("could be kept as: {}", proposal.summary()));
        }
    }
    for line in &lines {
        paint::line(&reveal::line(line));
    }
}
