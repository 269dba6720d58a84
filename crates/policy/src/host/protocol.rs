//! How a host is spoken to, as far as the fence can tell.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a host is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP in the clear. Every request is seen.
    Http,
    /// TLS to the host by its name.
    Https,
    /// Anything. Nothing of it is looked at.
    Tcp,
}

impl Protocol {
    /// The name, as it is written in rules.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Tcp => "tcp",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
