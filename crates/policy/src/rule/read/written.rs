//! Rules as they are written in TOML, before anything is made of them.

use serde::Deserialize;
use toml::Spanned;

use crate::{
    host::Protocol,
    rule::{Access, Decision, Fence},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    #[serde(default)]
    pub(super) rule: Vec<Spanned<Written>>,
    #[serde(default)]
    pub(super) allowed_commands: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) blocked_commands: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) blocked_patterns: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) allowed_paths: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) blocked_paths: Vec<Spanned<String>>,
}

impl File {
    pub(super) fn count(&self) -> usize {
        let short = [
            &self.allowed_commands,
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
pub(super) struct Written {
    pub(super) prefix: Option<WrittenPrefix>,
    pub(super) exact_program: Option<bool>,
    pub(super) glob: Option<String>,
    pub(super) regex: Option<String>,
    pub(super) path: Option<String>,
    pub(super) access: Option<Access>,
    pub(super) host: Option<String>,
    pub(super) port: Option<OneOrMany<u16>>,
    pub(super) protocol: Option<OneOrMany<Protocol>>,
    pub(super) tool: Option<OneOrMany<String>>,
    pub(super) decision: Decision,
    pub(super) fence: Option<Fence>,
    #[serde(default)]
    pub(super) writable: Vec<String>,
    #[serde(default)]
    pub(super) readable: Vec<String>,
    #[serde(default)]
    pub(super) sockets: Vec<String>,
    #[serde(default)]
    pub(super) hosts: Vec<String>,
    pub(super) preset: Option<OneOrMany<String>>,
    pub(super) reason: Option<String>,
    #[serde(default, rename = "match")]
    pub(super) matches: Vec<String>,
    #[serde(default)]
    pub(super) not_match: Vec<String>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a text or a list of words, each a text or a list of alternatives"
)]
pub(super) enum WrittenPrefix {
    Text(String),
    Words(Vec<OneOrMany<String>>),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "one value or a list of values")]
pub(super) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    pub(super) fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}
