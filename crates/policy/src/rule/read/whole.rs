//! A whole rule, checked for what does not go together.

use super::{
    here::Here,
    parts,
    written::{OneOrMany, Written},
};
use crate::rule::{HostPattern, Prefix, Rule, RuleError, Selector, Source, TextPattern};

pub(super) fn rule(written: Written, source: Source) -> Result<Rule, RuleError> {
    let here = Here {
        file: &source.file,
        line: source.line,
    };
    let tools: Vec<String> = written.tool.map(OneOrMany::into_vec).unwrap_or_default();
    if tools.iter().any(|tool| tool.trim().is_empty()) {
        return Err(here.value(
            "tool",
            "a name is empty",
            "name a tool, such as bash or mcp.github.*",
        ));
    }
    let given: Vec<&'static str> = [
        ("prefix", written.prefix.is_some()),
        ("glob", written.glob.is_some()),
        ("regex", written.regex.is_some()),
        ("path", written.path.is_some()),
        ("host", written.host.is_some()),
    ]
    .into_iter()
    .filter_map(|(key, present)| present.then_some(key))
    .collect();
    if let [first, second, ..] = given.as_slice() {
        let (file, line) = (here.file.to_owned(), here.line);
        return Err(RuleError::TwoSelectors {
            file,
            line,
            first,
            second,
        });
    }
    if written.exact_program.is_some() && written.prefix.is_none() {
        return Err(here.meaningless("exact_program", "it belongs to a rule with `prefix`"));
    }
    if written.access.is_some() && written.path.is_none() {
        return Err(here.meaningless("access", "it belongs to a rule with `path`"));
    }
    if written.port.is_some() && written.host.is_none() {
        return Err(here.meaningless("port", "it belongs to a rule with `host`"));
    }
    if written.protocol.is_some() && written.host.is_none() {
        return Err(here.meaningless("protocol", "it belongs to a rule with `host`"));
    }
    let selector = if let Some(prefix) = written.prefix {
        let prefix = parts::prefix(&here, prefix)?;
        Selector::Prefix(Prefix {
            exact_program: written.exact_program.unwrap_or(false),
            ..prefix
        })
    } else if let Some(glob) = written.glob {
        if glob.trim().trim_matches('*').is_empty() {
            return Err(here.value("glob", "it matches every command", "name a program"));
        }
        Selector::Text(TextPattern::Glob(glob))
    } else if let Some(regex) = written.regex {
        let pattern = TextPattern::regex(&regex);
        Selector::Text(
            pattern.map_err(|p| here.value("regex", p, "correct the regular expression"))?,
        )
    } else if let Some(path) = written.path {
        Selector::Path(parts::path(
            &here,
            &path,
            written.access.unwrap_or_default(),
        )?)
    } else if let Some(host) = written.host {
        let ports = written.port.map(OneOrMany::into_vec).unwrap_or_default();
        let protocols = written.protocol.map(OneOrMany::into_vec);
        Selector::Host(HostPattern {
            protocols: protocols.unwrap_or_default(),
            ..parts::host(&here, &host, ports)?
        })
    } else if tools.is_empty() {
        return Err(RuleError::NoSelector {
            file: source.file,
            line: source.line,
        });
    } else {
        Selector::Tool
    };
    let presets = written.preset.map(OneOrMany::into_vec).unwrap_or_default();
    if !presets.is_empty() && !matches!(selector, Selector::Prefix(_) | Selector::Text(_)) {
        return Err(here.meaningless("preset", "it belongs to a rule about commands"));
    }
    let granted = parts::Granted {
        fence: written.fence,
        writable: written.writable,
        readable: written.readable,
        sockets: written.sockets,
        hosts: written.hosts,
        presets,
    };
    let grant = parts::grant(&here, written.decision, granted)?;
    let examples = !written.matches.is_empty() || !written.not_match.is_empty();
    if examples && !matches!(selector, Selector::Prefix(_) | Selector::Text(_)) {
        return Err(here.meaningless("match", "examples belong to rules about commands"));
    }
    Ok(Rule {
        selector,
        tools,
        decision: written.decision,
        grant,
        reason: written.reason,
        source,
        matches: written.matches,
        not_matches: written.not_match,
    })
}
