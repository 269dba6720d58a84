//! Reading rules from TOML.

mod here;
mod parts;
mod whole;
mod written;

use super::{Access, Decision, Layer, Rule, RuleError, Selector, Source, TextPattern};
use here::Here;
use parts::{path, prefix};
use whole::rule;
use written::{File, WrittenPrefix};

/// Limits that keep a rules file from costing too much.
const MAX_RULES: usize = 20_000;
/// A project's are read before anybody has looked at them.
const MAX_PROJECT_RULES: usize = 2_000;

/// Reads the rules of a file. The examples are not checked yet.
pub(crate) fn read_rules(layer: Layer, file: &str, text: &str) -> Result<Vec<Rule>, RuleError> {
    let parsed: File = toml::from_str(text).map_err(|error| RuleError::Syntax {
        file: file.to_owned(),
        line: error.span().map_or(1, |span| line_of(text, span.start)),
        message: hint(error.message()),
    })?;
    // Counted before anything is made of them: patterns cost something.
    let most = match layer {
        Layer::Project | Layer::UntrustedProject => MAX_PROJECT_RULES,
        Layer::Managed | Layer::User | Layer::Session => MAX_RULES,
    };
    let count = parsed.count();
    if count > most {
        let here = Here { file, line: 1 };
        let problem = format!("there are {count}, and {most} is the most");
        return Err(here.value("rule", problem, "split the file or drop rules"));
    }
    let mut rules = Vec::new();
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let source = |start: usize| Source {
        layer,
        file: file.to_owned(),
        line: 1 + ends.partition_point(|end| *end < start),
    };
    for written in parsed.rule {
        let source = source(written.span().start);
        rules.push(rule(written.into_inner(), source)?);
    }
    for (list, kind) in [
        (parsed.allowed_commands, Short::AllowedCommand),
        (parsed.blocked_commands, Short::Command),
        (parsed.blocked_patterns, Short::Pattern),
        (parsed.allowed_paths, Short::AllowedPath),
        (parsed.blocked_paths, Short::BlockedPath),
    ] {
        for written in list {
            let source = source(written.span().start);
            rules.push(short(kind, written.get_ref(), source)?);
        }
    }
    Ok(rules)
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text[..at.min(text.len())].matches('\n').count()
}

/// The parser's message, with what a rule may say.
fn hint(message: &str) -> String {
    let message = message.trim().replace('\n', " ");
    if message.contains("missing field `decision`") {
        return "`decision` is missing: write allow, ask, deny or passthrough".to_owned();
    }
    message
}

#[derive(Clone, Copy)]
enum Short {
    AllowedCommand,
    Command,
    Pattern,
    AllowedPath,
    BlockedPath,
}

/// A rule from one of the short lists.
fn short(kind: Short, written: &str, source: Source) -> Result<Rule, RuleError> {
    let here = Here {
        file: &source.file,
        line: source.line,
    };
    let (selector, decision) = match kind {
        Short::AllowedCommand => {
            let prefix = prefix(&here, WrittenPrefix::Text(written.to_owned()))?;
            (Selector::Prefix(prefix), Decision::Allow)
        }
        Short::Command => {
            let pattern = TextPattern::regex(&regex::escape(written.trim()));
            let pattern = pattern.map_err(|p| here.value("blocked-commands", p, "shorten it"))?;
            (Selector::Text(pattern), Decision::Deny)
        }
        Short::Pattern => {
            let pattern = TextPattern::regex(written);
            let pattern = pattern
                .map_err(|p| here.value("blocked-patterns", p, "correct the regular expression"))?;
            (Selector::Text(pattern), Decision::Deny)
        }
        Short::AllowedPath => {
            let pattern = path(&here, written, Access::Write)?;
            (Selector::Path(pattern), Decision::Allow)
        }
        Short::BlockedPath => {
            let pattern = path(&here, written, Access::Any)?;
            (Selector::Path(pattern), Decision::Deny)
        }
    };
    if written.trim().is_empty() {
        return Err(here.value("blocked-commands", "it is empty", "remove it"));
    }
    Ok(Rule::new(selector, decision, source))
}
