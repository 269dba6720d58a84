//! `ringfence check`: what would become of a command, and why.

use std::process::ExitCode;

use anyhow::Result;
use ringfence::policy::action::Action;
use ringfence::policy::command_line::{CommandLine, Profile};
use ringfence::policy::verdict::{Grounds, Verdict};
use serde_json::{Value, json};

use crate::arguments::Common;
use crate::opening::{self, Caller};
use crate::paint;
use crate::reveal;

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
    let engine = opening::open_to_look(&arguments.common, Caller::Model)?;
    let line = CommandLine::Shell {
        shell: engine.shell().clone(),
        text: arguments.command.clone(),
        profile: Profile::Plain,
    };
    let judged = engine.check(Action::RunCommand(engine.person_command(line)));
    if arguments.common.json {
        paint::line(&serde_json::to_string_pretty(&to_json(
            &judged.verdict,
            &judged.grounds,
        ))?);
    } else {
        show(&judged.verdict, &judged.grounds);
    }
    Ok(match judged.verdict {
        Verdict::Allow(_) => ExitCode::SUCCESS,
        Verdict::Ask(_) => ExitCode::from(ASK),
        Verdict::Deny(_) => ExitCode::from(DENY),
    })
}

fn to_json(verdict: &Verdict, grounds: &Grounds) -> Value {
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
    })
}

fn show(verdict: &Verdict, grounds: &Grounds) {
    let mut lines = vec![format!("{}: {}", verdict.name(), grounds.because)];
    if let Some(class) = grounds.class {
        lines.push(format!("class: {class}"));
    }
    if let Some(rule) = &grounds.rule {
        lines.push(format!("rule: {rule}"));
    }
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
