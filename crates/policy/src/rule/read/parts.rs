//! The parts of a rule: what it is about, and what it grants.

use std::path::PathBuf;

use super::{here::Here, written::WrittenPrefix};
use crate::preset::Preset;
use crate::rule::{
    Access, Decision, Fence, Grant, HostPattern, Hosts, PathPattern, Prefix, PrefixWord, RuleError,
};

/// The most words of a prefix, and the most alternatives of a word.
const MAX_WORDS: usize = 64;

pub(super) fn prefix(here: &Here<'_>, written: WrittenPrefix) -> Result<Prefix, RuleError> {
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

pub(super) fn path(
    here: &Here<'_>,
    written: &str,
    access: Access,
) -> Result<PathPattern, RuleError> {
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

pub(super) fn host(
    here: &Here<'_>,
    written: &str,
    ports: Vec<u16>,
) -> Result<HostPattern, RuleError> {
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

/// What an allowance grants, as it is written.
pub(super) struct Granted {
    pub(super) fence: Option<Fence>,
    pub(super) writable: Vec<String>,
    pub(super) readable: Vec<String>,
    pub(super) sockets: Vec<String>,
    pub(super) hosts: Vec<String>,
    pub(super) presets: Vec<String>,
}

pub(super) fn grant(
    here: &Here<'_>,
    decision: Decision,
    written: Granted,
) -> Result<Grant, RuleError> {
    if decision != Decision::Allow {
        for (key, given) in [
            ("fence", written.fence.is_some()),
            ("writable", !written.writable.is_empty()),
            ("readable", !written.readable.is_empty()),
            ("sockets", !written.sockets.is_empty()),
            ("hosts", !written.hosts.is_empty()),
            ("preset", !written.presets.is_empty()),
        ] {
            if given {
                return Err(here.meaningless(key, "only a rule that allows can grant something"));
            }
        }
    }
    for (key, paths) in [
        ("writable", &written.writable),
        ("readable", &written.readable),
        ("sockets", &written.sockets),
    ] {
        let mut paths = paths.iter();
        if let Some(path) = paths.find(|path| !path.starts_with('/') && !path.starts_with("~/")) {
            return Err(here.value(
                key,
                format!("`{path}` is relative"),
                "write an absolute path, or one below ~/",
            ));
        }
    }
    let paths = |written: Vec<String>| written.into_iter().map(PathBuf::from).collect();
    let mut hosts = Vec::new();
    for written in &written.hosts {
        let pattern = host(here, written, Vec::new())?;
        if pattern.host == Hosts::All {
            return Err(here.value("hosts", "`*` would reach everything", "name the hosts"));
        }
        hosts.push(pattern);
    }
    let mut presets = Vec::new();
    for name in &written.presets {
        let problem = || format!("`{name}` is none of {}", Preset::names());
        let preset = Preset::of(name);
        presets.push(preset.ok_or_else(|| here.value("preset", problem(), "name one of them"))?);
    }
    Ok(Grant {
        fence: written.fence.unwrap_or_default(),
        writable: paths(written.writable),
        readable: paths(written.readable),
        sockets: paths(written.sockets),
        hosts,
        presets,
    })
}
