//! Matching a host, a port and a protocol.
//!
//! `*.example.com` means the hosts below `example.com`, not `example.com` itself and not
//! `evilexample.com`. An address or a network of addresses (`10.0.0.0/8`) is matched by number.

use std::fmt;
use std::net::IpAddr;

use serde::{Serialize, Serializer};

use crate::host::{AddressClass, Host, HostError, Protocol};

/// Hosts that a rule is about, or that an allowance lets a command reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostPattern {
    /// Which hosts.
    pub host: Hosts,
    /// The ports; empty means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u16>,
    /// The protocols; empty means all, and in an allowance the web (see [`Self::covers`]).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub protocols: Vec<Protocol>,
}

/// A set of hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// Every name, and every ordinary address.
    All,
    /// The names below this one.
    Below(Host),
    /// This name or address.
    One(Host),
    /// The addresses that begin with these bits.
    Network(IpAddr, u8),
}

/// Ports on which the web is expected: naming one does not mean that anything else is.
const WEB_PORTS: &[u16] = &[80, 443];

impl Hosts {
    fn parse(written: &str) -> Result<Self, HostError> {
        if written == "*" {
            return Ok(Self::All);
        }
        if let Some(name) = written.strip_prefix("*.") {
            return match Host::parse(name)? {
                name @ Host::Name(_) => Ok(Self::Below(name)),
                Host::Address(_) => Err(HostError::NoAddress),
            };
        }
        if let Some((address, bits)) = written.split_once('/') {
            let Host::Address(address) = Host::parse(address)? else {
                return Err(HostError::NoAddress);
            };
            let most = if address.is_ipv4() { 32 } else { 128 };
            return match bits.parse::<u8>() {
                Ok(bits) if bits <= most => Ok(Self::Network(first_of(address, bits), bits)),
                _ => Err(HostError::NoAddress),
            };
        }
        Host::parse(written).map(Self::One)
    }

    fn contains(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::All, _) => true,
            (Self::One(one), host) => one == host,
            (Self::Below(Host::Name(above)), Host::Name(name)) => name
                .as_str()
                .strip_suffix(above.as_str())
                .is_some_and(|front| front.len() > 1 && front.ends_with('.')),
            (Self::Network(first, bits), Host::Address(address)) => {
                first.is_ipv4() == address.is_ipv4() && first_of(*address, *bits) == *first
            }
            (Self::Below(_), _) | (Self::Network(..), Host::Name(_)) => false,
        }
    }

    /// Whether an address of this kind is meant by it, rather than happens to be in it.
    fn names(&self, class: AddressClass) -> bool {
        match self {
            Self::All | Self::Below(_) => class.is_ordinary(),
            Self::One(_) => true,
            Self::Network(..) => class != AddressClass::Metadata,
        }
    }
}

/// The first address with the same leading bits.
fn first_of(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(four) => {
            let mask = u32::MAX
                .checked_shl(32 - u32::from(bits))
                .unwrap_or_default();
            IpAddr::V4((u32::from(four) & mask).into())
        }
        IpAddr::V6(six) => {
            let mask = u128::MAX
                .checked_shl(128 - u32::from(bits))
                .unwrap_or_default();
            IpAddr::V6((u128::from(six) & mask).into())
        }
    }
}

impl HostPattern {
    /// Reads `host` or `host:port`, with `*.` in front for everything below, or a network of
    /// addresses.
    pub fn parse(written: &str) -> Result<Self, HostError> {
        let (host, port) = match written.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                let port = port.parse().map_err(|_| HostError::Character)?;
                (host, Some(port))
            }
            _ => (written, None),
        };
        Ok(Self {
            host: Hosts::parse(host)?,
            ports: port.into_iter().collect(),
            protocols: Vec::new(),
        })
    }

    /// Whether a connection is meant.
    pub fn is_match(&self, host: &Host, port: u16, protocol: Protocol) -> bool {
        self.host.contains(host)
            && (self.ports.is_empty() || self.ports.contains(&port))
            && (self.protocols.is_empty() || self.protocols.contains(&protocol))
    }

    /// Whether an allowance of this pattern covers a connection. An address that is not an
    /// ordinary one must be named, and so must a protocol that cannot be looked into: by its name,
    /// or by a port that is not the web's.
    pub fn covers(&self, host: &Host, port: u16, protocol: Protocol) -> bool {
        let own_port = self.ports.contains(&port) && !WEB_PORTS.contains(&port);
        self.is_match(host, port, protocol)
            && host.class().is_none_or(|class| self.host.names(class))
            && (protocol != Protocol::Tcp || !self.protocols.is_empty() || own_port)
    }

    pub(crate) fn specificity(&self) -> usize {
        let host = match &self.host {
            Hosts::All => 0,
            Hosts::Below(host) => host.to_string().split('.').count(),
            // More than any name below another can have in common with it.
            Hosts::One(_) => 256,
            Hosts::Network(_, bits) => usize::from(*bits),
        };
        host * 4 + 2 * usize::from(!self.ports.is_empty()) + usize::from(!self.protocols.is_empty())
    }
}

impl fmt::Display for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::Below(host) => write!(f, "*.{host}"),
            Self::One(Host::Address(IpAddr::V6(six))) => write!(f, "[{six}]"),
            Self::One(host) => write!(f, "{host}"),
            Self::Network(first, bits) => write!(f, "{first}/{bits}"),
        }
    }
}

impl Serialize for Hosts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.host)?;
        for (index, port) in self.ports.iter().enumerate() {
            write!(f, "{}{port}", if index == 0 { ":" } else { "," })?;
        }
        if !self.protocols.is_empty() {
            let names: Vec<_> = self.protocols.iter().map(|one| one.name()).collect();
            write!(f, " ({})", names.join(", "))?;
        }
        Ok(())
    }
}
