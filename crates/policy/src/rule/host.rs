//! Matching a host and a port.
//!
//! Names are compared in lower case without a trailing dot. `*.example.com` means the hosts below
//! `example.com`, not `example.com` itself and not `evilexample.com`.

use std::fmt;

use serde::Serialize;

/// Hosts that a rule is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostPattern {
    /// A name, an address, `*.name` or `*`.
    pub host: String,
    /// The ports; empty means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u16>,
}

/// A host that an allowance lets a command reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostGrant {
    /// A name, an address or `*.name`.
    pub host: String,
    /// The port; none means all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

/// A name in the form in which names are compared, or nothing if it is no name.
pub(crate) fn canonical_host(host: &str) -> Option<String> {
    let bracketed = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let bare = bracketed.unwrap_or(host);
    let bare = bare.strip_suffix('.').unwrap_or(bare);
    let valid = !bare.is_empty()
        && bare.len() <= 253
        && bare
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b':'))
        && !bare.split('.').any(str::is_empty);
    let is_name = !bare.contains(':') || bracketed.is_some() || bare.matches(':').count() > 1;
    (valid && is_name).then(|| bare.to_ascii_lowercase())
}

impl HostPattern {
    /// Reads `host` or `host:port`, with `*.` in front for everything below.
    pub(crate) fn parse(written: &str) -> Option<Self> {
        let (host, port) = match written.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                (host, Some(port.parse().ok()?))
            }
            _ => (written, None),
        };
        if host == "*" {
            return Some(Self {
                host: "*".into(),
                ports: port.into_iter().collect(),
            });
        }
        let (star, name) = match host.strip_prefix("*.") {
            Some(name) => ("*.", name),
            None => ("", host),
        };
        let name = canonical_host(name)?;
        Some(Self {
            host: format!("{star}{name}"),
            ports: port.into_iter().collect(),
        })
    }

    /// Whether a connection is meant. A name that is not canonical never matches.
    pub(crate) fn is_match(&self, host: &str, port: u16) -> bool {
        let Some(host) = canonical_host(host) else {
            return false;
        };
        let named = match self.host.strip_prefix('*') {
            Some("") => true,
            Some(below) => host.len() > below.len() && host.ends_with(below),
            None => host == self.host,
        };
        named && (self.ports.is_empty() || self.ports.contains(&port))
    }

    pub(crate) fn specificity(&self) -> usize {
        let labels = self.host.split('.').filter(|label| *label != "*").count();
        labels * 2 + usize::from(!self.ports.is_empty())
    }
}

impl HostGrant {
    /// Whether this grant covers a connection.
    pub fn covers(&self, host: &str, port: u16) -> bool {
        let pattern = HostPattern {
            host: self.host.clone(),
            ports: self.port.into_iter().collect(),
        };
        pattern.is_match(host, port)
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)?;
        for (index, port) in self.ports.iter().enumerate() {
            write!(f, "{}{port}", if index == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}

impl fmt::Display for HostGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => f.write_str(&self.host),
        }
    }
}
