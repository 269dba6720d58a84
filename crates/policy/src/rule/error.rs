//! What can be wrong with a rules file. Every message names the place and the fix.

use thiserror::Error;

/// Why a rules file was refused. A file with an error is not used at all.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// It is not the TOML that is expected.
    #[error("{file}:{line}: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A rule doesn't say what it is about.
    #[error(
        "{file}:{line}: this rule is about nothing: give it one of `prefix`, `glob`, `regex`, `path`, `host` or `tool`"
    )]
    NoSelector {
        /// The file.
        file: String,
        /// The line.
        line: usize,
    },
    /// A rule is about two things.
    #[error("{file}:{line}: `{first}` and `{second}` cannot stand in one rule: write two rules")]
    TwoSelectors {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// One of them.
        first: &'static str,
        /// The other one.
        second: &'static str,
    },
    /// A value cannot be used.
    #[error("{file}:{line}: `{key}`: {problem}: {fix}")]
    Value {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// The key.
        key: &'static str,
        /// What is wrong with its value.
        problem: String,
        /// What to do.
        fix: &'static str,
    },
    /// A key has no meaning in this rule.
    #[error("{file}:{line}: `{key}` means nothing here: {fix}")]
    Meaningless {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// The key.
        key: &'static str,
        /// What to do.
        fix: &'static str,
    },
    /// An example shows that the rule doesn't do what its author thinks.
    #[error("{file}:{line}: the rule {} `{example}`, which stands in its `{}`: correct the rule or the example",
        if *.matched { "matches" } else { "does not match" }, if *.matched { "not_match" } else { "match" })]
    Example {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// The example.
        example: String,
        /// Whether the rule matched it.
        matched: bool,
    },
}
