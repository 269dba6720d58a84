//! A host as it is compared: a name in lower case, or an address.
//!
//! Whoever wants to connect spells a host in many ways. It is read once, here, before any rule
//! sees it; what cannot be read is refused with a reason and never looked up. Resolving names is
//! somebody else's.

mod address;
mod protocol;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use address::AddressClass;
pub use protocol::Protocol;

/// A host in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Host {
    /// A name: ASCII, lower case, no dot at its end.
    Name(HostName),
    /// An address. One of the old world that is written as one of the new is here as what it is.
    Address(IpAddr),
}

/// A name in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostName(String);

/// Why something is not a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum HostError {
    /// There is nothing.
    #[error("the host is empty")]
    Empty,
    /// DNS has no names of this length.
    #[error("the host is longer than 253 characters")]
    TooLong,
    /// Something invisible in it.
    #[error("the host contains a control character")]
    Control,
    /// Not ASCII. Many letters look alike.
    #[error("the host is not ASCII; write it in its xn-- form")]
    NotAscii,
    /// A character that no host has.
    #[error("the host contains a character that no host name has")]
    Character,
    /// Two dots in a row, or one in front.
    #[error("the host has an empty part between its dots")]
    EmptyLabel,
    /// A part between dots that is too long.
    #[error("the host has a part of more than 63 characters")]
    LongLabel,
    /// An IPv6 address that names a network interface.
    #[error("the address names a network interface (`%…`), which means nothing outside")]
    Zone,
    /// It looks like an address, and is none.
    #[error("the host looks like an address and is none")]
    NoAddress,
}

impl Host {
    /// Reads a host in any spelling: `Example.COM.`, `[::1]`, `0x7f.1`.
    pub fn parse(written: &str) -> Result<Self, HostError> {
        let plain = plain(written)?;
        if let Some(inside) = plain.strip_prefix('[') {
            let inside = inside.strip_suffix(']').ok_or(HostError::NoAddress)?;
            return six(inside);
        }
        if plain.contains(':') {
            return six(plain);
        }
        let name = plain.strip_suffix('.').unwrap_or(plain);
        if name.is_empty() {
            return Err(HostError::Empty);
        }
        // The last part decides, as it does in browsers: no top-level domain is a number.
        if name.rsplit('.').next().is_some_and(is_numeric) {
            return four(name).map(|address| Self::Address(IpAddr::V4(address)));
        }
        HostName::parse(name).map(Self::Name)
    }

    /// The kind of address, if it is one.
    pub fn class(&self) -> Option<AddressClass> {
        match self {
            Self::Name(_) => None,
            Self::Address(address) => Some(AddressClass::of(*address)),
        }
    }
}

impl HostName {
    fn parse(name: &str) -> Result<Self, HostError> {
        if name.len() > 253 {
            return Err(HostError::TooLong);
        }
        for label in name.split('.') {
            match label.len() {
                0 => return Err(HostError::EmptyLabel),
                1..=63 => {}
                _ => return Err(HostError::LongLabel),
            }
        }
        Ok(Self(name.to_ascii_lowercase()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text, if it has nothing in it that neither a name nor an address has.
fn plain(written: &str) -> Result<&str, HostError> {
    if written.is_empty() {
        return Err(HostError::Empty);
    }
    if written.len() > 1024 {
        return Err(HostError::TooLong);
    }
    for c in written.chars() {
        match c {
            c if c.is_control() => return Err(HostError::Control),
            c if !c.is_ascii() => return Err(HostError::NotAscii),
            '%' => return Err(HostError::Zone),
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' | ':' | '[' | ']' => {}
            _ => return Err(HostError::Character),
        }
    }
    Ok(written)
}

fn six(written: &str) -> Result<Host, HostError> {
    let address: Ipv6Addr = written.parse().map_err(|_| HostError::NoAddress)?;
    Ok(Host::Address(IpAddr::V6(address).to_canonical()))
}

fn is_numeric(label: &str) -> bool {
    let digits = !label.is_empty() && label.bytes().all(|b| b.is_ascii_digit());
    digits || hexadecimal(label).is_some()
}

fn hexadecimal(label: &str) -> Option<&str> {
    let digits = label
        .strip_prefix("0x")
        .or_else(|| label.strip_prefix("0X"))?;
    digits
        .bytes()
        .all(|b| b.is_ascii_hexdigit())
        .then_some(digits)
}

/// An address as the C library reads it: up to four numbers, decimal, octal or hexadecimal, the
/// last of which fills what remains.
fn four(written: &str) -> Result<Ipv4Addr, HostError> {
    let number = |part: &str| -> Option<u64> {
        match hexadecimal(part) {
            Some("") => Some(0),
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None if part.len() > 1 && part.starts_with('0') => u64::from_str_radix(part, 8).ok(),
            None => part.parse().ok(),
        }
    };
    let parts: Option<Vec<u64>> = written.split('.').map(number).collect();
    let parts = parts.ok_or(HostError::NoAddress)?;
    let (last, front) = parts.split_last().ok_or(HostError::NoAddress)?;
    let room = 4_usize
        .checked_sub(front.len())
        .filter(|room| *room > 0)
        .ok_or(HostError::NoAddress)?;
    if front.iter().any(|part| *part > 255) || *last >= 1 << (8 * room) {
        return Err(HostError::NoAddress);
    }
    let whole = front
        .iter()
        .enumerate()
        .fold(*last, |whole, (at, part)| whole | part << (8 * (3 - at)));
    u32::try_from(whole)
        .map(Ipv4Addr::from)
        .map_err(|_| HostError::NoAddress)
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(&name.0),
            Self::Address(address) => write!(f, "{address}"),
        }
    }
}

impl FromStr for Host {
    type Err = HostError;

    fn from_str(written: &str) -> Result<Self, HostError> {
        Self::parse(written)
    }
}

impl From<Host> for String {
    fn from(host: Host) -> Self {
        host.to_string()
    }
}

impl TryFrom<String> for Host {
    type Error = HostError;

    fn try_from(written: String) -> Result<Self, HostError> {
        Self::parse(&written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        for (written, expected) in [
            ("example.com", Ok("example.com")),
            ("EXAMPLE.Com.", Ok("example.com")),
            ("my_host-1", Ok("my_host-1")),
            ("xn--bcher-kva.example", Ok("xn--bcher-kva.example")),
            ("1password.com", Ok("1password.com")),
            ("0xdeadbeef.org", Ok("0xdeadbeef.org")),
            // Every spelling of one address is that address.
            ("127.0.0.1", Ok("127.0.0.1")),
            ("2130706433", Ok("127.0.0.1")),
            ("0x7f000001", Ok("127.0.0.1")),
            ("0x7f.1", Ok("127.0.0.1")),
            ("127.1", Ok("127.0.0.1")),
            ("127.0.1", Ok("127.0.0.1")),
            ("0177.0.0.01", Ok("127.0.0.1")),
            ("127.0.0.1.", Ok("127.0.0.1")),
            ("0", Ok("0.0.0.0")),
            ("0x", Ok("0.0.0.0")),
            ("0xa9fea9fe", Ok("169.254.169.254")),
            ("::1", Ok("::1")),
            ("[::1]", Ok("::1")),
            ("[0:0:0:0:0:0:0:1]", Ok("::1")),
            ("[::ffff:127.0.0.1]", Ok("127.0.0.1")),
            ("::ffff:7f00:1", Ok("127.0.0.1")),
            ("", Err(HostError::Empty)),
            (".", Err(HostError::Empty)),
            ("a..b", Err(HostError::EmptyLabel)),
            ("example.com..", Err(HostError::EmptyLabel)),
            (".example.com", Err(HostError::EmptyLabel)),
            ("allowed.com\0.evil.com", Err(HostError::Control)),
            ("allowed.com\r\nHost: evil.com", Err(HostError::Control)),
            ("allowed.com\n", Err(HostError::Control)),
            ("ex\u{430}mple.com", Err(HostError::NotAscii)),
            ("example\u{3002}com", Err(HostError::NotAscii)),
            ("fe80::1%eth0", Err(HostError::Zone)),
            ("[fe80::1%25eth0]", Err(HostError::Zone)),
            ("example.com%00", Err(HostError::Zone)),
            ("user@example.com", Err(HostError::Character)),
            ("example.com/path", Err(HostError::Character)),
            ("*.example.com", Err(HostError::Character)),
            ("exa mple.com", Err(HostError::Character)),
            ("256.1.1.1", Err(HostError::NoAddress)),
            ("1.2.3.4.5", Err(HostError::NoAddress)),
            ("4294967296", Err(HostError::NoAddress)),
            ("example.1", Err(HostError::NoAddress)),
            ("09.1.1.1", Err(HostError::NoAddress)),
            ("99999999999999999999999", Err(HostError::NoAddress)),
            ("[::1", Err(HostError::NoAddress)),
            ("example.com:80", Err(HostError::NoAddress)),
        ] {
            let read = Host::parse(written).map(|host| host.to_string());
            assert_eq!(read, expected.map(str::to_owned), "{written:?}");
        }
        let label = "a".repeat(63);
        let long = [label.as_str(); 4].join(".");
        assert_eq!(Host::parse(&long), Err(HostError::TooLong));
        assert_eq!(Host::parse(&"a".repeat(64)), Err(HostError::LongLabel));
    }

    #[test]
    fn a_canonical_host_reads_as_itself() {
        for written in ["Example.COM.", "127.1", "[::FFFF:1.2.3.4]", "2001:DB8::0"] {
            let host = Host::parse(written).unwrap();
            assert_eq!(Host::parse(&host.to_string()), Ok(host));
        }
    }
}
