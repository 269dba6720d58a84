//! How actions and verdicts are put on record.

use std::path::PathBuf;
use std::time::Duration;

use ringfence_jail::Repair;
use ringfence_policy::Permit;
use ringfence_policy::action::{Action, TypeInput};
use ringfence_policy::classify::Class;
use ringfence_policy::command_line::CommandLine;
use ringfence_policy::permit::Confinement;
use ringfence_policy::settle::Answer;
use ringfence_policy::verdict::{Grounds, Refusal};

use crate::audit;
use crate::denial::Denial;

/// What the record says of an action.
#[derive(Debug, Clone)]
pub(super) struct ActionRecord {
    pub(super) tool: String,
    pub(super) command: audit::Command,
    pub(super) shell: Option<PathBuf>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) justification: Option<String>,
}

impl ActionRecord {
    /// Of an action that this tool takes.
    pub(super) fn of(tool: &str, action: &Action) -> Self {
        let tool = tool.to_owned();
        match action {
            Action::RunCommand(command) => Self {
                tool,
                command: match &command.line {
                    CommandLine::Argv(argv) => audit::Command::Argv(argv.clone()),
                    CommandLine::Shell { text, .. } => audit::Command::Line(text.clone()),
                },
                shell: match &command.line {
                    CommandLine::Argv(_) => None,
                    CommandLine::Shell { shell, .. } => Some(shell.path.clone()),
                },
                cwd: Some(command.cwd.clone()),
                justification: command.justification.clone(),
            },
            other => Self {
                tool,
                command: audit::Command::Line(subject(other)),
                shell: None,
                cwd: None,
                justification: None,
            },
        }
    }
}

/// What an action is about, in one line.
pub fn subject(action: &Action) -> String {
    match action {
        Action::RunCommand(command) => command.line.display(),
        Action::RunScript(script) => script.source.clone(),
        Action::ApplyPatch(patch) => {
            let files: Vec<_> = patch
                .writes
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            format!("patch {}", files.join(", "))
        }
        Action::SearchFiles(search) => format!("search {}", search.root.display()),
        Action::Connect(connect) => {
            format!(
                "connect to {}:{} ({})",
                connect.host, connect.port, connect.protocol
            )
        }
        Action::SendHttp(request) => format!("{} {}", request.method, request.url),
        Action::TypeInput(input) => typed(input),
        Action::StopProcess(stop) => format!("stop {} ({})", stop.process, stop.command),
    }
}

/// What is typed, into what. The text stands at the end as it is, so that secrets in it are found.
fn typed(input: &TypeInput) -> String {
    let into = format!("type into {} ({})", input.process, input.command);
    let end = if input.closes {
        "; then its input ends"
    } else {
        ""
    };
    match (input.is_hidden, input.text.len()) {
        (_, 0) => format!("{into}: nothing{end}"),
        (true, bytes) => format!("{into}: {bytes} bytes that its terminal does not show{end}"),
        (false, _) => format!("{into}{end}: {}", input.text),
    }
}

/// What the record says of a verdict.
pub(super) struct Decided<'a> {
    pub(super) verdict: audit::Decision,
    pub(super) sandbox: String,
    pub(super) class: Option<Class>,
    pub(super) reason: String,
    pub(super) rule: Option<String>,
    pub(super) by: Option<&'a str>,
}

impl<'a> Decided<'a> {
    pub(super) fn by_policy(permit: &Permit, grounds: &Grounds) -> Self {
        Self {
            verdict: audit::Decision::Allow,
            sandbox: sandbox_name(permit.confinement()),
            class: grounds.class,
            reason: grounds.because.clone(),
            rule: grounds.rule.clone(),
            by: None,
        }
    }

    pub(super) fn approved(
        permit: &Permit,
        class: Option<Class>,
        because: &str,
        by: Option<&'a str>,
    ) -> Self {
        Self {
            verdict: audit::Decision::Allow,
            sandbox: sandbox_name(permit.confinement()),
            class,
            reason: because.to_owned(),
            rule: None,
            by,
        }
    }

    pub(super) fn refused(refusal: &Refusal, grounds: &Grounds) -> Self {
        Self {
            verdict: audit::Decision::Deny,
            sandbox: "none".to_owned(),
            class: grounds.class,
            reason: refusal.reason.clone(),
            rule: grounds.rule.clone(),
            by: None,
        }
    }

    /// What nobody has decided: it was given up before.
    pub(super) fn given_up() -> Self {
        Self {
            verdict: audit::Decision::Ask,
            sandbox: "none".to_owned(),
            class: None,
            reason: "it was given up before it was decided".to_owned(),
            rule: None,
            by: None,
        }
    }
}

/// How far something may reach, in a word.
fn sandbox_name(confinement: &Confinement) -> String {
    match confinement {
        Confinement::Fenced { sandbox, .. } => sandbox.mode.to_string(),
        Confinement::Unfenced { .. } => "none".to_owned(),
    }
}

/// What was put back of git's set-up, in words.
pub(super) fn mended_lines(mended: &[Repair]) -> Vec<String> {
    let lines = mended.iter().map(Denial::of_repair);
    lines.map(|denial| denial.line()).collect()
}

pub(super) fn recorded(answer: &Answer) -> audit::Answer {
    match answer {
        Answer::Approved | Answer::Granted { .. } | Answer::Outside => audit::Answer::Approved,
        Answer::ApprovedForSession => audit::Answer::ApprovedForSession,
        Answer::ApprovedWithRule(_) => audit::Answer::ApprovedWithRule,
        Answer::Denied { .. } | Answer::NobodyToAsk(_) => audit::Answer::Denied,
        Answer::Abort => audit::Answer::Aborted,
        Answer::TimedOut => audit::Answer::TimedOut,
    }
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
