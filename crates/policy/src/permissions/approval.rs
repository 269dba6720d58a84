//! When a person is asked before a command runs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Who decides about what no rule decides: the columns of the verdict table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalPolicy {
    /// Nobody is asked. What would need a question is denied.
    Never,
    /// Commands run fenced; a question comes only when the fence refused something.
    OnFailure,
    /// Whatever is not known to be harmless is asked about first.
    OnRequest,
    /// Everything but read-only commands is asked about.
    UnlessTrusted,
}

impl ApprovalPolicy {
    /// Every policy, from the most autonomous to the most careful.
    pub const ALL: [Self; 4] = [
        Self::Never,
        Self::OnFailure,
        Self::OnRequest,
        Self::UnlessTrusted,
    ];

    /// The name used in configuration and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::OnFailure => "on-failure",
            Self::OnRequest => "on-request",
            Self::UnlessTrusted => "unless-trusted",
        }
    }
}

impl fmt::Display for ApprovalPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ApprovalPolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|policy| policy.name() == text)
            .ok_or_else(|| {
                format!("`{text}` is not one of never, on-failure, on-request, unless-trusted")
            })
    }
}
