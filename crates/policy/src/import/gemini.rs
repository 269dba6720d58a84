//! Gemini CLI: `[[rule]]` entries of a policy file.
//!
//! There the rule with the highest priority wins. Here a refusal always wins, so that only
//! questions and allowances have to be compared.

use serde::Deserialize;
use toml::Spanned;

use super::{ALLOWS_EVERYTHING, Draft, ImportError, Outcome, command_tools};
use crate::rule::{Decision, Prefix, Selector, TextPattern};

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    rule: Vec<Spanned<Written>>,
    #[serde(default)]
    safety_checker: Vec<toml::Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    tool_name: Option<OneOrMany>,
    mcp_name: Option<String>,
    args_pattern: Option<String>,
    command_prefix: Option<OneOrMany>,
    command_regex: Option<String>,
    decision: String,
    #[serde(default)]
    priority: i64,
    modes: Option<Vec<String>>,
    deny_message: Option<String>,
    #[serde(flatten)]
    other: toml::Table,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn as_slice(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

pub(super) fn read(file: &str, text: &str) -> Result<Draft, ImportError> {
    let line_of = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count();
    let parsed: File = toml::from_str(text).map_err(|error| ImportError::Unreadable {
        file: file.to_owned(),
        line: error.span().map_or(1, |span| line_of(span.start)),
        problem: error.message().trim().replace('\n', " "),
        fix: "give it a policy file with [[rule]] entries",
    })?;
    let mut draft = Draft::new(file);
    for written in &parsed.rule {
        rule(written.get_ref(), line_of(written.span().start), &mut draft);
    }
    for _ in &parsed.safety_checker {
        draft.item(
            0,
            "safety_checker",
            Outcome::Lost("it runs a program of that tool".into()),
        );
    }
    Ok(draft)
}

fn rule(written: &Written, line: usize, draft: &mut Draft) {
    let original = describe(written);
    let decision = match written.decision.as_str() {
        "allow" => Decision::Allow,
        "ask_user" => Decision::Ask,
        "deny" => Decision::Deny,
        other => {
            draft.item(
                line,
                &original,
                Outcome::Lost(format!("the decision `{other}` is not known")),
            );
            return;
        }
    };
    let leave = |draft: &mut Draft, why: &str| {
        let outcome = match decision {
            Decision::Allow => Outcome::Dropped(why.to_owned()),
            _ => Outcome::Lost(why.to_owned()),
        };
        draft.item(line, &original, outcome);
    };
    let mut narrowed = None;
    if written.modes.is_some() {
        if decision == Decision::Allow {
            return leave(draft, "it holds only in some modes of that tool");
        }
        narrowed = Some("in every mode".to_owned());
    }
    let harmless = [
        "allowRedirection",
        "allow_redirection",
        "interactive",
        "denyMessage",
        "name",
        "description",
    ];
    if let Some(key) = written
        .other
        .keys()
        .find(|key| !harmless.contains(&key.as_str()))
    {
        if decision == Decision::Allow {
            return leave(
                draft,
                &format!("`{key}` limits it in a way that is not known"),
            );
        }
        narrowed = Some(format!("`{key}` is not known, and left aside"));
    }
    if written.args_pattern.is_some() {
        return leave(draft, "a pattern over JSON arguments cannot be expressed");
    }
    let shell = is_shell(written);
    if written.command_prefix.is_some() || written.command_regex.is_some() {
        if !shell {
            return leave(draft, "it is about commands of a tool that runs none");
        }
        return commands(written, decision, line, &original, narrowed, draft);
    }
    let tools = tools_of(written, shell);
    if tools.is_empty() {
        return leave(draft, "there is no such tool here");
    }
    if decision == Decision::Allow && (shell || tools.iter().any(|tool| tool.starts_with('*'))) {
        return leave(draft, ALLOWS_EVERYTHING);
    }
    let item = draft.item(line, &original, outcome(narrowed));
    let rule = draft.push(item, written.priority, decision, Selector::Tool);
    rule.tools = tools;
    rule.reason.clone_from(&written.deny_message);
}

fn outcome(narrowed: Option<String>) -> Outcome {
    narrowed.map_or(Outcome::Kept, Outcome::Stricter)
}

fn describe(written: &Written) -> String {
    let mut text = String::new();
    let mut part = |value: &str| {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(value);
    };
    part(&written.decision);
    if let Some(server) = &written.mcp_name {
        part(&format!("mcp {server}"));
    }
    for name in written
        .tool_name
        .as_ref()
        .map_or(&[][..], OneOrMany::as_slice)
    {
        part(name);
    }
    for prefix in written
        .command_prefix
        .as_ref()
        .map_or(&[][..], OneOrMany::as_slice)
    {
        part(&format!("`{}`", prefix.trim()));
    }
    if let Some(regex) = &written.command_regex {
        part(&format!("/{regex}/"));
    }
    text
}

fn is_shell(written: &Written) -> bool {
    let names = written
        .tool_name
        .as_ref()
        .map_or(&[][..], OneOrMany::as_slice);
    written.mcp_name.is_none()
        && (!names.is_empty()
            && names
                .iter()
                .all(|n| n == "run_shell_command" || n == "ShellTool"))
}

fn tools_of(written: &Written, shell: bool) -> Vec<String> {
    if shell {
        return command_tools();
    }
    let names = written
        .tool_name
        .as_ref()
        .map_or(&[][..], OneOrMany::as_slice);
    if let Some(server) = &written.mcp_name {
        return match names {
            [] => vec![format!("mcp.{server}.*")],
            names => names
                .iter()
                .map(|name| format!("mcp.{server}.{name}"))
                .collect(),
        };
    }
    let mut tools = Vec::new();
    for name in names {
        match name.as_str() {
            "write_file" | "replace" | "edit" => tools.push("apply_patch".to_owned()),
            "web_fetch" => tools.push("http".to_owned()),
            "glob" | "search_file_content" | "grep_search" => tools.push("file_search".to_owned()),
            "*" => tools.push("*".to_owned()),
            name => match name.split_once("__") {
                Some((server, tool)) => tools.push(format!("mcp.{server}.{tool}")),
                // One tool that doesn't exist here takes the rule with it.
                None => return Vec::new(),
            },
        }
    }
    tools.dedup();
    tools
}

fn commands(
    written: &Written,
    decision: Decision,
    line: usize,
    original: &str,
    narrowed: Option<String>,
    draft: &mut Draft,
) {
    let mut selectors = Vec::new();
    let mut narrowed = narrowed;
    for prefix in written
        .command_prefix
        .as_ref()
        .map_or(&[][..], OneOrMany::as_slice)
    {
        let plain = prefix
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || " -_./=:,@%+".contains(c));
        if prefix.trim().is_empty() || !plain {
            let why = "the prefix is more than plain words";
            let outcome = if decision == Decision::Allow {
                Outcome::Dropped(why.into())
            } else {
                Outcome::Lost(why.into())
            };
            draft.item(line, original, outcome);
            return;
        }
        selectors.push(Selector::Prefix(Prefix::of(prefix.split_whitespace())));
    }
    if let Some(regex) = &written.command_regex {
        match TextPattern::regex(regex) {
            Ok(pattern) => {
                let why = if decision == Decision::Allow {
                    "it must match a whole simple command"
                } else {
                    "it is looked for anywhere in the command"
                };
                narrowed.get_or_insert_with(|| why.to_owned());
                selectors.push(Selector::Text(pattern));
            }
            Err(why) => {
                let outcome = if decision == Decision::Allow {
                    Outcome::Dropped(why)
                } else {
                    Outcome::Lost(why)
                };
                draft.item(line, original, outcome);
                return;
            }
        }
    }
    let item = draft.item(line, original, outcome(narrowed));
    for selector in selectors {
        let rule = draft.push(item, written.priority, decision, selector);
        rule.reason.clone_from(&written.deny_message);
    }
}
