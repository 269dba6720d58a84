//! Codex: `prefix_rule`, `network_rule` and `host_executable`.
//!
//! There the strictest rule wins, an allowance runs outside its sandbox, and a rule about a name
//! holds for a path only if `host_executable` lists it. Here an allowance stays inside the fence.

use super::{
    Draft, ImportError, Outcome,
    starlark::{Call, Value, read as read_calls},
};
use crate::rule::{Decision, HostPattern, Hosts, Prefix, PrefixWord, Selector};

pub(super) fn read(file: &str, text: &str) -> Result<Draft, ImportError> {
    let calls = read_calls(file, text)?;
    let mut draft = Draft::new(file);
    let executables: Vec<(String, Vec<String>)> = calls
        .iter()
        .filter(|call| call.name == "host_executable")
        .filter_map(|call| Some((call.text("name")?, call.texts("paths")?)))
        .collect();
    for call in &calls {
        match call.name.as_str() {
            "prefix_rule" => prefix_rule(call, &executables, file, &mut draft)?,
            "network_rule" => network_rule(call, file, &mut draft)?,
            "host_executable" => {
                let name = call.text("name").unwrap_or_default();
                draft.item(call.line, &format!("host_executable {name}"), Outcome::Kept);
            }
            other => {
                let why = format!("`{other}` is not a function that is known");
                return Err(refused(file, call.line, why));
            }
        }
    }
    Ok(draft)
}

fn refused(file: &str, line: usize, problem: String) -> ImportError {
    ImportError::Unreadable {
        file: file.to_owned(),
        line,
        problem,
        fix: "remove or correct this call",
    }
}

impl Call {
    fn get(&self, name: &str) -> Option<&Value> {
        self.arguments
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    fn text(&self, name: &str) -> Option<String> {
        match self.get(name)? {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    fn texts(&self, name: &str) -> Option<Vec<String>> {
        match self.get(name)? {
            Value::List(values) => values.iter().map(as_text).collect(),
            _ => None,
        }
    }

    fn only(&self, known: &[&str], file: &str) -> Result<(), ImportError> {
        match self
            .arguments
            .iter()
            .find(|(key, _)| !known.contains(&key.as_str()))
        {
            Some((key, _)) => Err(refused(
                file,
                self.line,
                format!("`{key}` is not an argument of {}", self.name),
            )),
            None => Ok(()),
        }
    }
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn prefix_rule(
    call: &Call,
    executables: &[(String, Vec<String>)],
    file: &str,
    draft: &mut Draft,
) -> Result<(), ImportError> {
    call.only(
        &["pattern", "decision", "justification", "match", "not_match"],
        file,
    )?;
    let Some(Value::List(pattern)) = call.get("pattern") else {
        return Err(refused(file, call.line, "`pattern` must be a list".into()));
    };
    let words: Option<Vec<PrefixWord>> = pattern
        .iter()
        .map(|value| match value {
            Value::Text(word) => Some(PrefixWord {
                alternatives: vec![word.clone()],
            }),
            Value::List(words) if !words.is_empty() => Some(PrefixWord {
                alternatives: words.iter().map(as_text).collect::<Option<_>>()?,
            }),
            _ => None,
        })
        .collect();
    let words = words.filter(|words| !words.is_empty() && words.len() <= 64);
    let Some(mut words) = words else {
        return Err(refused(
            file,
            call.line,
            "`pattern` must hold texts or lists of texts".into(),
        ));
    };
    let decision = match call.text("decision").as_deref() {
        None if call.get("decision").is_none() => Decision::Allow,
        Some("allow") => Decision::Allow,
        Some("prompt") => Decision::Ask,
        Some("forbidden") => Decision::Deny,
        _ => {
            return Err(refused(
                file,
                call.line,
                "`decision` must be allow, prompt or forbidden".into(),
            ));
        }
    };
    let original = format!(
        "prefix_rule {}",
        Prefix {
            words: words.clone(),
            exact_program: false
        }
    );
    let mut outcome = match decision {
        Decision::Allow => Outcome::Stricter("it stays inside the fence".into()),
        _ => Outcome::Kept,
    };
    if decision == Decision::Allow {
        // A name holds for exactly the paths that are listed for it.
        let listed: Vec<String> = executables
            .iter()
            .filter(|(name, _)| words[0].alternatives.contains(name))
            .flat_map(|(_, paths)| paths.iter().cloned())
            .collect();
        words[0].alternatives.extend(listed);
    }
    let matches = examples(call, "match", file)?;
    let not_matches = examples(call, "not_match", file)?;
    if decision == Decision::Allow
        && words.len() == 1
        && words[0].alternatives.iter().any(|w| runs_anything(w))
    {
        outcome =
            Outcome::Dropped("it would allow everything that this interpreter can run".into());
        draft.item(call.line, &original, outcome);
        return Ok(());
    }
    let item = draft.item(call.line, &original, outcome);
    let exact_program = decision == Decision::Allow;
    let rule = draft.push(
        item,
        0,
        decision,
        Selector::Prefix(Prefix {
            words,
            exact_program,
        }),
    );
    rule.reason = call.text("justification");
    rule.matches = matches;
    rule.not_matches = not_matches;
    Ok(())
}

/// Whether a rule about the bare program would allow whatever it is given to run.
fn runs_anything(program: &str) -> bool {
    let name = crate::facts::base_name(program);
    crate::sensitive::program::interprets(name) || crate::facts::wrapper::find(name).is_some()
}

/// Examples: texts, or lists of words, which are written as one would type them.
fn examples(call: &Call, name: &str, file: &str) -> Result<Vec<String>, ImportError> {
    let values = match call.get(name) {
        None | Some(Value::Nothing) => return Ok(Vec::new()),
        Some(Value::List(values)) => values,
        Some(_) => return Err(refused(file, call.line, format!("`{name}` must be a list"))),
    };
    let mut examples = Vec::new();
    for value in values {
        match value {
            Value::Text(text) => examples.push(text.clone()),
            Value::List(words) => {
                let words: Option<Vec<String>> = words.iter().map(as_text).collect();
                let Some(words) = words else {
                    return Err(refused(
                        file,
                        call.line,
                        format!("`{name}` must hold texts"),
                    ));
                };
                let typed: Vec<String> = words
                    .iter()
                    .map(|word| crate::propose::quoted(word))
                    .collect();
                examples.push(typed.join(" "));
            }
            _ => {
                return Err(refused(
                    file,
                    call.line,
                    format!("`{name}` must hold texts"),
                ));
            }
        }
    }
    Ok(examples)
}

fn network_rule(call: &Call, file: &str, draft: &mut Draft) -> Result<(), ImportError> {
    call.only(&["host", "protocol", "decision", "justification"], file)?;
    let (Some(host), Some(decision)) = (call.text("host"), call.text("decision")) else {
        return Err(refused(
            file,
            call.line,
            "`host` and `decision` must be texts".into(),
        ));
    };
    let protocol = call.text("protocol").unwrap_or_default();
    let decision = match decision.as_str() {
        "allow" => Decision::Allow,
        "prompt" => Decision::Ask,
        "deny" | "forbidden" => Decision::Deny,
        _ => {
            return Err(refused(
                file,
                call.line,
                "`decision` must be allow, prompt or deny".into(),
            ));
        }
    };
    let original = format!("network_rule {protocol} {host}");
    let pattern = HostPattern::parse(&host).ok();
    let Some(mut pattern) = pattern.filter(|pattern| pattern.host != Hosts::All) else {
        let outcome = match decision {
            Decision::Allow => Outcome::Dropped("it is no single host".into()),
            _ => Outcome::Lost("it is no single host".into()),
        };
        draft.item(call.line, &original, outcome);
        return Ok(());
    };
    let port = match protocol.as_str() {
        "https" | "https_connect" => Some(443),
        "http" => Some(80),
        _ => None,
    };
    let outcome = match (decision, port) {
        (Decision::Allow, Some(port)) if pattern.ports.is_empty() => {
            pattern.ports = vec![port];
            Outcome::Stricter(format!("only port {port}"))
        }
        (Decision::Allow, None) if pattern.ports.is_empty() => {
            draft.item(
                call.line,
                &original,
                Outcome::Dropped(
                    "protocols other than http and https are not told apart here".into(),
                ),
            );
            return Ok(());
        }
        (Decision::Allow, _) => Outcome::Kept,
        _ => Outcome::Stricter("for every protocol and port".into()),
    };
    let item = draft.item(call.line, &original, outcome);
    draft
        .push(item, 0, decision, Selector::Host(pattern))
        .reason = call.text("justification");
    Ok(())
}
