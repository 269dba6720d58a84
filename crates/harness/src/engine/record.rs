//! How actions and verdicts are put on record.

use std::path::PathBuf;
use std::time::Duration;

use ringfence_policy::Permit;
use ringfence_policy::action::Action;
use ringfence_policy::command_line::CommandLine;
use ringfence_policy::permit::Confinement;
use ringfence_policy::settle::Answer;
use ringfence_policy::verdict::{Denial, Grounds};

use crate::audit;

/// What the record says of an action.
pub(super) struct ActionRecord {
    pub(super) tool: String,
    pub(super) command: audit::Command,
    pub(super) shell: Option<PathBuf>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) justification: Option<String>,
}

impl ActionRecord {
    pub(super) fn of(action: &Action) -> Self {
        match action {
            Action::RunCommand(command) => Self {
                tool: command.tool.clone(),
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
                tool: tool_of(other).to_owned(),
                command: audit::Command::Line(subject(other)),
                shell: None,
                cwd: None,
                justification: None,
            },
        }
    }
}

fn tool_of(action: &Action) -> &str {
    match action {
        Action::RunCommand(command) => &command.tool,
        Action::RunScript(script) => &script.tool,
        Action::ApplyPatch(_) => "apply_patch",
        Action::SearchFiles(_) => "file_search",
        Action::Connect(_) => "connect",
        Action::CallMcpTool(_) => "mcp",
        Action::SendHttp(_) => "http",
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
        Action::CallMcpTool(call) => format!("mcp.{}.{}", call.server, call.tool),
        Action::SendHttp(http) => format!("{} {}:{}", http.method, http.host, http.port),
    }
}

/// What the record says of a verdict.
pub(super) struct Decided<'a> {
    pub(super) verdict: audit::Decision,
    pub(super) sandbox: &'static str,
    pub(super) reason: String,
    pub(super) rule: Option<String>,
    pub(super) by: Option<&'a str>,
}

impl<'a> Decided<'a> {
    pub(super) fn by_policy(permit: &Permit, grounds: &Grounds) -> Self {
        Self {
            verdict: audit::Decision::Allow,
            sandbox: sandbox_name(permit.confinement()),
            reason: grounds.because.clone(),
            rule: grounds.rule.clone(),
            by: None,
        }
    }

    pub(super) fn approved(permit: &Permit, because: &str, by: Option<&'a str>) -> Self {
        Self {
            verdict: audit::Decision::Allow,
            sandbox: sandbox_name(permit.confinement()),
            reason: because.to_owned(),
            rule: None,
            by,
        }
    }

    pub(super) fn denied(refusal: &Denial, grounds: &Grounds) -> Self {
        Self {
            verdict: audit::Decision::Deny,
            sandbox: "none",
            reason: refusal.reason.clone(),
            rule: grounds.rule.clone(),
            by: None,
        }
    }
}

/// The name of where something runs.
pub(super) fn sandbox_name(confinement: &Confinement) -> &'static str {
    match confinement {
        Confinement::Fenced { .. } => "native",
        Confinement::Unfenced { .. } => "none",
    }
}

pub(super) fn recorded(answer: &Answer) -> audit::Answer {
    match answer {
        Answer::Approved => audit::Answer::Approved,
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
