//! Claude Code: `permissions.allow`, `.ask` and `.deny` of a `settings.json`.
//!
//! There a refusal wins over a question and a question over an allowance, whatever is more
//! specific.

use serde_json::Value;

use super::{ALLOWS_EVERYTHING, Draft, ImportError, Outcome, command_tools};
use crate::rule::{
    Access, Decision, HostPattern, Hosts, PathPattern, Prefix, Selector, TextPattern,
};

pub(super) fn read(file: &str, text: &str) -> Result<Draft, ImportError> {
    let unreadable = |line: usize, problem: String| ImportError::Unreadable {
        file: file.to_owned(),
        line,
        problem,
        fix: "give it a settings.json with permissions.allow, ask and deny",
    };
    let settings: Value =
        serde_json::from_str(text).map_err(|error| unreadable(error.line(), error.to_string()))?;
    let Some(permissions) = settings.get("permissions").and_then(Value::as_object) else {
        return Err(unreadable(1, "there is no `permissions`".into()));
    };
    let mut draft = Draft::new(file);
    for (key, value) in permissions {
        let decision = match key.as_str() {
            "allow" => Decision::Allow,
            "ask" => Decision::Ask,
            "deny" => Decision::Deny,
            "additionalDirectories" => {
                directories(value, text, &mut draft);
                continue;
            }
            other => {
                draft.item(
                    0,
                    other,
                    Outcome::Dropped("it is a setting, not a rule".into()),
                );
                continue;
            }
        };
        let Some(entries) = value.as_array() else {
            return Err(unreadable(1, format!("`{key}` must be a list")));
        };
        for entry in entries {
            let Some(entry) = entry.as_str() else {
                return Err(unreadable(1, format!("`{key}` must hold texts")));
            };
            rule(entry, decision, line_of(text, entry), &mut draft);
        }
    }
    Ok(draft)
}

fn line_of(text: &str, entry: &str) -> usize {
    let quoted = Value::String(entry.to_owned()).to_string();
    text.find(&quoted)
        .map_or(0, |at| 1 + text[..at].matches('\n').count())
}

fn directories(value: &Value, text: &str, draft: &mut Draft) {
    for entry in value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        let (line, original) = (
            line_of(text, entry),
            format!("additionalDirectories {entry}"),
        );
        if !entry.starts_with('/') && !entry.starts_with("~/") {
            let why = "a relative folder depends on where the tool was started";
            draft.item(line, &original, Outcome::Dropped(why.into()));
            continue;
        }
        let item = draft.item(line, &original, Outcome::Kept);
        let pattern = PathPattern {
            written: entry.trim_end_matches('/').to_owned(),
            access: Access::Write,
        };
        draft.push(item, 0, Decision::Allow, Selector::Path(pattern));
    }
}

fn rule(entry: &str, decision: Decision, line: usize, draft: &mut Draft) {
    let (tool, specifier) = match entry.split_once('(') {
        Some((tool, rest)) => match rest.strip_suffix(')') {
            Some(specifier) => (tool, Some(specifier)),
            None => {
                return leave(
                    entry,
                    decision,
                    line,
                    "its parenthesis is not closed",
                    draft,
                );
            }
        },
        None => (entry, None),
    };
    match (tool, specifier) {
        ("Bash", None | Some("*" | "")) => {
            whole_tool(entry, decision, line, command_tools(), draft);
        }
        ("Bash", Some(pattern)) => bash(entry, pattern, decision, line, draft),
        ("Read", Some(path)) => path_rule(entry, path, Access::Read, decision, line, draft),
        ("Edit" | "Write" | "MultiEdit" | "NotebookEdit", Some(path)) => {
            path_rule(entry, path, Access::Write, decision, line, draft);
        }
        ("Edit" | "Write" | "MultiEdit", None) => {
            whole_tool(entry, decision, line, vec!["apply_patch".into()], draft);
        }
        ("WebFetch", Some(specifier)) => fetch(entry, specifier, decision, line, draft),
        ("WebFetch", None) => whole_tool(entry, decision, line, vec!["http".into()], draft),
        (tool, None) if tool.starts_with("mcp__") => {
            let mut parts = tool["mcp__".len()..].splitn(2, "__");
            let server = parts.next().unwrap_or_default();
            let name = parts.next().unwrap_or("*");
            if server.is_empty() || server.contains('*') && decision == Decision::Allow {
                return leave(entry, decision, line, "it names no server", draft);
            }
            let item = draft.item(line, entry, Outcome::Kept);
            draft.push(item, 0, decision, Selector::Tool).tools =
                vec![format!("mcp.{server}.{name}")];
        }
        _ => leave(entry, decision, line, "there is no such tool here", draft),
    }
}

/// Notes a rule that cannot be expressed.
fn leave(entry: &str, decision: Decision, line: usize, why: &str, draft: &mut Draft) {
    let outcome = match decision {
        Decision::Allow => Outcome::Dropped(why.into()),
        _ => Outcome::Lost(why.into()),
    };
    draft.item(line, entry, outcome);
}

fn whole_tool(entry: &str, decision: Decision, line: usize, tools: Vec<String>, draft: &mut Draft) {
    if decision == Decision::Allow {
        return leave(entry, decision, line, ALLOWS_EVERYTHING, draft);
    }
    let item = draft.item(line, entry, Outcome::Kept);
    draft.push(item, 0, decision, Selector::Tool).tools = tools;
}

/// `git diff:*` and `git diff *` are prefixes of whole words, a text without a star is exact, and
/// other stars stand for anything.
fn bash(entry: &str, pattern: &str, decision: Decision, line: usize, draft: &mut Draft) {
    let pattern = pattern.trim();
    let prefix = pattern
        .strip_suffix(":*")
        .or_else(|| pattern.strip_suffix(" *"));
    let selector = match prefix {
        Some(prefix) if is_plain(prefix) => Selector::Prefix(Prefix::of(prefix.split_whitespace())),
        _ if pattern.trim_matches('*').trim().is_empty() => {
            return leave(entry, decision, line, ALLOWS_EVERYTHING, draft);
        }
        _ if pattern.contains(":*") => {
            return leave(
                entry,
                decision,
                line,
                "`:*` stands inside, where it means nothing",
                draft,
            );
        }
        _ if decision == Decision::Allow && pattern.starts_with('*') => {
            return leave(entry, decision, line, "it would allow any program", draft);
        }
        _ => Selector::Text(TextPattern::Glob(pattern.to_owned())),
    };
    let outcome = match (&selector, decision) {
        // We match the command without its quotes and part by part.
        (Selector::Text(_), Decision::Allow)
            if pattern.contains(['\'', '"', '\\', '|', '&', ';', '>', '<', '$', '`', '(']) =>
        {
            Outcome::Stricter("it is compared with each simple command by itself".into())
        }
        _ => Outcome::Kept,
    };
    let item = draft.item(line, entry, outcome);
    draft.push(item, 0, decision, selector);
}

fn is_plain(text: &str) -> bool {
    !text.trim().is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || " -_./=:,@%+".contains(c))
}

/// `//x` is absolute, `~/x` below the home folder, `/x` and `x` below the project.
fn path_rule(
    entry: &str,
    path: &str,
    access: Access,
    decision: Decision,
    line: usize,
    draft: &mut Draft,
) {
    if path.contains(['[', '!', '{', '\\'])
        || path.starts_with("../")
        || path.matches("**").count() > 2
    {
        return leave(
            entry,
            decision,
            line,
            "the pattern has more than stars",
            draft,
        );
    }
    let written = match path.strip_prefix("//") {
        Some(absolute) => format!("/{absolute}"),
        None if path.starts_with("~/") || path == "~" => path.to_owned(),
        None => path
            .trim_start_matches("./")
            .trim_start_matches('/')
            .to_owned(),
    };
    let bare = written
        .trim_end_matches("/**")
        .trim_end_matches('/')
        .to_owned();
    if bare.is_empty() || bare == "**" || bare == "*" {
        if decision == Decision::Allow {
            return leave(entry, decision, line, "it would allow every file", draft);
        }
        let why = "commands that name a file are refused or asked about, but the fence cannot hide every file";
        let item = draft.item(line, entry, Outcome::Partly(why.into()));
        let written = "/".to_owned();
        draft.push(
            item,
            0,
            decision,
            Selector::Path(PathPattern { written, access }),
        );
        return;
    }
    // As in a .gitignore, a name without a slash means every depth.
    let anywhere = decision != Decision::Allow && !path.contains('/');
    let open = anywhere || bare.contains(['*', '?']);
    let outcome = match decision {
        Decision::Deny if open => Outcome::Partly(
            "the fence holds the files that are there when a command starts; one that comes into \
             being later is refused by its name only"
                .into(),
        ),
        _ => Outcome::Kept,
    };
    let item = draft.item(line, entry, outcome);
    draft.push(
        item,
        0,
        decision,
        Selector::Path(PathPattern {
            written: bare.clone(),
            access,
        }),
    );
    if anywhere {
        let written = format!("**/{bare}");
        draft.push(
            item,
            0,
            decision,
            Selector::Path(PathPattern { written, access }),
        );
    }
}

/// `domain:example.com`, for the tool that fetches, not for commands.
fn fetch(entry: &str, specifier: &str, decision: Decision, line: usize, draft: &mut Draft) {
    let host = specifier
        .strip_prefix("domain:")
        .and_then(|host| HostPattern::parse(host.trim()).ok());
    let Some(pattern) =
        host.filter(|pattern| decision != Decision::Allow || pattern.host != Hosts::All)
    else {
        return leave(entry, decision, line, "it names no domain", draft);
    };
    let outcome = match decision {
        Decision::Allow => Outcome::Kept,
        _ => Outcome::Stricter("for every tool".into()),
    };
    let item = draft.item(line, entry, outcome);
    let rule = draft.push(item, 0, decision, Selector::Host(pattern));
    if decision == Decision::Allow {
        rule.tools = vec!["http".into()];
    }
}
