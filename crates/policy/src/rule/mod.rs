//! A rule: which actions it is about, what it decides, and what an allowance grants.
//!
//! A rule is written in TOML and knows where it was written. It matches one thing at a time: a
//! simple command, a path, a host or a tool. How several rules together decide is `ruleset`'s.

mod error;
mod host;
mod path;
mod prefix;
mod read;
mod text;
mod write;

use std::{fmt, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::preset::Preset;

pub use error::RuleError;
pub use host::{HostPattern, Hosts};
pub use path::{Access, PathPattern};
pub use prefix::{Prefix, PrefixWord};
pub use text::TextPattern;
pub(crate) use text::glob;

pub(crate) use path::covers as path_covers;
pub(crate) use prefix::Matched;
pub(crate) use read::read_rules;

/// What a rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may happen without a question.
    Allow,
    /// Somebody is asked.
    Ask,
    /// It may not happen.
    Deny,
    /// The layer that this rule stands in has no opinion; the others decide.
    Passthrough,
}

impl Decision {
    /// The name, as it is written in rules.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Passthrough => "passthrough",
        }
    }

    /// How strict it is, for choosing among equals.
    pub(crate) fn strictness(self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Passthrough => 1,
            Self::Ask => 2,
            Self::Deny => 3,
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether an allowed command runs inside the fence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fence {
    /// Inside, which is the default.
    #[default]
    Fenced,
    /// Outside.
    Unfenced,
}

/// What an allowance grants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Grant {
    /// Inside or outside the fence.
    pub fence: Fence,
    /// Paths that may be written in addition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<PathBuf>,
    /// Denied files and folders that may be read in addition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<PathBuf>,
    /// Sockets of the machine's that may be connected to in addition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sockets: Vec<PathBuf>,
    /// Hosts that may be reached in addition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostPattern>,
    /// Package managers whose hosts may be reached in addition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub presets: Vec<&'static Preset>,
}

impl Grant {
    /// Whether it grants nothing beyond running inside the fence.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// Which layer a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Set by whoever manages the machine.
    Managed,
    /// The user's own.
    User,
    /// Brought by a project that the user trusts.
    Project,
    /// Brought by a project that nobody has trusted: it may only tighten.
    UntrustedProject,
    /// Approved for this session.
    Session,
}

impl Layer {
    /// The name, for a person.
    pub fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project => "project",
            Self::UntrustedProject => "untrusted project",
            Self::Session => "session",
        }
    }
}

/// Where a rule was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The layer.
    pub layer: Layer,
    /// The file, as its reader named it.
    pub file: String,
    /// The line of the rule's beginning, from 1; 0 for a rule that was never written down.
    pub line: usize,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// What a rule is about.
#[derive(Clone, Debug)]
pub enum Selector {
    /// Commands that begin with these words.
    Prefix(Prefix),
    /// Commands whose text matches a glob or a regular expression.
    Text(TextPattern),
    /// Paths that are read or written.
    Path(PathPattern),
    /// Hosts that are connected to.
    Host(HostPattern),
    /// Every use of the tools that the rule names.
    Tool,
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What it is about.
    pub selector: Selector,
    /// The tools that it is limited to, as globs; empty means all.
    pub tools: Vec<String>,
    /// What it decides.
    pub decision: Decision,
    /// What it grants if it allows.
    pub grant: Grant,
    /// Why, for a person.
    pub reason: Option<String>,
    /// Where it was written.
    pub source: Source,
    /// Commands that it must match.
    pub matches: Vec<String>,
    /// Commands that it must not match.
    pub not_matches: Vec<String>,
}

impl Rule {
    /// A rule for every tool, which grants nothing besides and has no examples.
    pub fn new(selector: Selector, decision: Decision, source: Source) -> Self {
        Self {
            selector,
            tools: Vec::new(),
            decision,
            grant: Grant::default(),
            reason: None,
            source,
            matches: Vec::new(),
            not_matches: Vec::new(),
        }
    }

    /// Whether the rule speaks about this tool at all.
    pub fn concerns(&self, tool: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|pattern| text::glob(pattern, tool))
    }

    /// Whether the rule may be used: what an untrusted project brings may not loosen.
    pub fn is_active(&self) -> bool {
        self.source.layer != Layer::UntrustedProject || self.decision != Decision::Allow
    }

    /// How specific it is: the number of fixed words, parts or labels.
    pub fn specificity(&self) -> usize {
        match &self.selector {
            Selector::Prefix(prefix) => prefix.words.len(),
            Selector::Text(pattern) => pattern.specificity(),
            Selector::Path(pattern) => pattern.specificity(),
            Selector::Host(pattern) => pattern.specificity(),
            Selector::Tool => self.tools.iter().filter(|tool| !tool.contains('*')).count(),
        }
    }

    /// The rule's subject in one line, for a person.
    pub fn subject(&self) -> String {
        match &self.selector {
            Selector::Prefix(prefix) => format!("prefix {prefix}"),
            Selector::Text(pattern) => pattern.to_string(),
            Selector::Path(pattern) => pattern.to_string(),
            Selector::Host(pattern) => format!("host {pattern}"),
            Selector::Tool => format!("tool {}", self.tools.join(", ")),
        }
    }
}
