//! Reading rules from TOML.

use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use crate::host::Protocol;

use super::{
    Access, Decision, Fence, Grant, HostPattern, Hosts, Layer, PathPattern, Prefix, PrefixWord,
    Rule, RuleError, Selector, Source, TextPattern,
};

/// Limits that keep a rules file from costing too much.
const MAX_RULES: usize = 20_000;
/// A project's are read before anybody has looked at them.
const MAX_PROJECT_RULES: usize = 2_000;
const MAX_WORDS: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    #[serde(default)]
    rule: Vec<Spanned<Written>>,
    #[serde(default)]
    blocked_commands: Vec<Spanned<String>>,
    #[serde(default)]
    blocked_patterns: Vec<Spanned<String>>,
    #[serde(default)]
    allowed_paths: Vec<Spanned<String>>,
    #[serde(default)]
    blocked_paths: Vec<Spanned<String>>,
}

impl File {
    fn count(&self) -> usize {
        let short = [
            &self.blocked_commands,
            &self.blocked_patterns,
            &self.allowed_paths,
            &self.blocked_paths,
        ];
        self.rule.len() + short.map(Vec::len).iter().sum::<usize>()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    prefix: Option<WrittenPrefix>,
    exact_program: Option<bool>,
    glob: Option<String>,
    regex: Option<String>,
    path: Option<String>,
    access: Option<Access>,
    host: Option<String>,
    port: Option<OneOrMany<u16>>,
    protocol: Option<OneOrMany<Protocol>>,
    tool: Option<OneOrMany<String>>,
    decision: Decision,
    fence: Option<Fence>,
    #[serde(default)]
    writable: Vec<String>,
    #[serde(default)]
    hosts: Vec<String>,
    reason: Option<String>,
    #[serde(default, rename = "match")]
    matches: Vec<String>,
    #[serde(default)]
    not_match: Vec<String>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a text or a list of words, each a text or a list of alternatives"
)]
enum WrittenPrefix {
    Text(String),
    Words(Vec<OneOrMany<String>>),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "one value or a list of values")]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

/// Where in a file something stands.
struct Here<'f> {
    file: &'f str,
    line: usize,
}

impl Here<'_> {
    fn value(&self, key: &'static str, problem: impl Into<String>, fix: &'static str) -> RuleError {
        RuleError::Value {
            file: self.file.into(),
            line: self.line,
            key,
            problem: problem.into(),
            fix,
        }
    }

    fn meaningless(&self, key: &'static str, fix: &'static str) -> RuleError {
        RuleError::Meaningless {
            file: self.file.into(),
            line: self.line,
            key,
            fix,
        }
    }
}

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
    Ok(Rule {
        selector,
        tools: Vec::new(),
        decision,
        grant: Grant::default(),
        reason: None,
        source,
        matches: Vec::new(),
        not_matches: Vec::new(),
    })
}

fn rule(written: Written, source: Source) -> Result<Rule, RuleError> {
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
        let prefix = self::prefix(&here, prefix)?;
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
        Selector::Path(self::path(
            &here,
            &path,
            written.access.unwrap_or_default(),
        )?)
    } else if let Some(host) = written.host {
        let ports = written.port.map(OneOrMany::into_vec).unwrap_or_default();
        let protocols = written.protocol.map(OneOrMany::into_vec);
        Selector::Host(HostPattern {
            protocols: protocols.unwrap_or_default(),
            ..self::host(&here, &host, ports)?
        })
    } else if tools.is_empty() {
        return Err(RuleError::NoSelector {
            file: source.file,
            line: source.line,
        });
    } else {
        Selector::Tool
    };
    let grant = grant(
        &here,
        written.decision,
        written.fence,
        written.writable,
        &written.hosts,
    )?;
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

fn prefix(here: &Here<'_>, written: WrittenPrefix) -> Result<Prefix, RuleError> {
    let words: Vec<PrefixWord> = match written {
        WrittenPrefix::Text(text) => {
            if text.contains(['\'', '"', '\\', '$', '|', ';', '&', '*', '`', '(', '<', '>']) {
                let fix = "write the words as a list, such as [\"git\", \"log\"]";
                return Err(here.value("prefix", "it is more than plain words", fix));
            }
            text.split_whitespace()
                .map(|word| PrefixWord {
                    alternatives: vec![word.to_owned()],
                })
                .collect()
        }
        WrittenPrefix::Words(words) => words
            .into_iter()
            .map(|word| PrefixWord {
                alternatives: word.into_vec(),
            })
            .collect(),
    };
    if words.is_empty() {
        return Err(here.value("prefix", "it is empty", "name at least a program"));
    }
    if words.len() > MAX_WORDS || words.iter().any(|word| word.alternatives.len() > MAX_WORDS) {
        return Err(here.value(
            "prefix",
            "it is too long",
            "use at most 64 words and alternatives",
        ));
    }
    if words.iter().any(|word| word.alternatives.is_empty()) {
        return Err(here.value("prefix", "a word has no alternatives", "name at least one"));
    }
    if words[0]
        .alternatives
        .iter()
        .any(|word| word.is_empty() || word.contains([' ', '*']))
    {
        return Err(here.value(
            "prefix",
            "the program is empty or holds a blank or a star",
            "write one word per entry",
        ));
    }
    Ok(Prefix {
        words,
        exact_program: false,
    })
}

fn path(here: &Here<'_>, written: &str, access: Access) -> Result<PathPattern, RuleError> {
    let trimmed = written.trim_end_matches('/');
    let written = if trimmed.is_empty() && !written.is_empty() {
        "/".to_owned()
    } else {
        trimmed.to_owned()
    };
    if written.is_empty() {
        return Err(here.value(
            "path",
            "it is empty",
            "write an absolute path, one below ~, or one relative to the workspace",
        ));
    }
    if written.starts_with('~') && written != "~" && !written.starts_with("~/") {
        return Err(here.value(
            "path",
            "another user's home is not known",
            "write the absolute path",
        ));
    }
    if written.matches("**").count() > 2 {
        return Err(here.value("path", "it has more than two `**`", "use at most two"));
    }
    Ok(PathPattern { written, access })
}

fn host(here: &Here<'_>, written: &str, ports: Vec<u16>) -> Result<HostPattern, RuleError> {
    let fix = "write a name such as example.com, *.example.com or example.com:443, or an address";
    let mut pattern = HostPattern::parse(written)
        .map_err(|error| here.value("host", format!("`{written}` is no host: {error}"), fix))?;
    if !ports.is_empty() {
        if !pattern.ports.is_empty() {
            return Err(here.value("port", "the host already names one", "name the port once"));
        }
        pattern.ports = ports;
    }
    Ok(pattern)
}

fn grant(
    here: &Here<'_>,
    decision: Decision,
    fence: Option<Fence>,
    writable: Vec<String>,
    hosts: &[String],
) -> Result<Grant, RuleError> {
    if decision != Decision::Allow {
        for (key, given) in [
            ("fence", fence.is_some()),
            ("writable", !writable.is_empty()),
            ("hosts", !hosts.is_empty()),
        ] {
            if given {
                return Err(here.meaningless(key, "only a rule that allows can grant something"));
            }
        }
    }
    if let Some(path) = writable
        .iter()
        .find(|path| !path.starts_with('/') && !path.starts_with("~/"))
    {
        return Err(here.value(
            "writable",
            format!("`{path}` is relative"),
            "write an absolute path, or one below ~/",
        ));
    }
    let mut granted = Vec::new();
    for written in hosts {
        let pattern = self::host(here, written, Vec::new())?;
        if pattern.host == Hosts::All {
            return Err(here.value("hosts", "`*` would reach everything", "name the hosts"));
        }
        granted.push(pattern);
    }
    Ok(Grant {
        fence: fence.unwrap_or_default(),
        writable: writable.into_iter().map(PathBuf::from).collect(),
        hosts: granted,
    })
}
