//! Where in a file something stands, for errors to name.

use crate::rule::RuleError;

/// Where in a file something stands.
pub(super) struct Here<'f> {
    pub(super) file: &'f str,
    pub(super) line: usize,
}

impl Here<'_> {
    pub(super) fn value(
        &self,
        key: &'static str,
        problem: impl Into<String>,
        fix: &'static str,
    ) -> RuleError {
        RuleError::Value {
            file: self.file.into(),
            line: self.line,
            key,
            problem: problem.into(),
            fix,
        }
    }

    pub(super) fn meaningless(&self, key: &'static str, fix: &'static str) -> RuleError {
        RuleError::Meaningless {
            file: self.file.into(),
            line: self.line,
            key,
            fix,
        }
    }
}
