//! Where an HTTP request goes: an address as somebody wrote it, read once and closely.
//!
//! Browsers mend much that is odd in an address. Here what two readers could take for two hosts is
//! refused: a user before the host, a backslash, a control character, a scheme without its slashes.

use std::fmt::{self, Write};

use ringfence_policy::host::{Host, HostError, Protocol};
use thiserror::Error;

use super::target::{Target, TargetError};

/// The longest address that is read.
const LONGEST: usize = 16 * 1024;

/// An address for HTTP, in the clear or inside TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    protocol: Protocol,
    target: Target,
    /// The path and the query: ASCII, and begins with a slash.
    path: String,
}

/// Why something is no address for a request.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UrlError {
    /// Another scheme, or none.
    #[error("it does not begin with `http://` or `https://`")]
    Scheme,
    /// Nothing stands where the host should.
    #[error("it names no host")]
    NoHost,
    /// The host cannot be read.
    #[error(transparent)]
    Host(HostError),
    /// The port cannot be read.
    #[error("the port is no number from 1 to 65535")]
    Port,
    /// `user:password@`.
    #[error("a user name or password stands before the host; use a header instead")]
    User,
    /// Something invisible.
    #[error("it contains a control character")]
    Control,
    /// Some read it as a slash.
    #[error("it contains a backslash, which some read as a slash")]
    Backslash,
    /// Nobody needs one that long.
    #[error("it is longer than 16 KiB")]
    TooLong,
}

impl From<TargetError> for UrlError {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::Host(HostError::Empty) | TargetError::NoHost => Self::NoHost,
            TargetError::Host(error) => Self::Host(error),
            TargetError::Port => Self::Port,
            TargetError::User => Self::User,
            TargetError::Scheme => Self::Scheme,
        }
    }
}

impl Url {
    /// Reads a whole address.
    pub fn parse(written: &str) -> Result<Self, UrlError> {
        check(written)?;
        let (scheme, rest) = written.split_once("://").ok_or(UrlError::Scheme)?;
        let (protocol, port) = match scheme.to_ascii_lowercase().as_str() {
            "http" => (Protocol::Http, 80),
            "https" => (Protocol::Https, 443),
            _ => return Err(UrlError::Scheme),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, behind) = rest.split_at(end);
        if authority.contains('\\') {
            return Err(UrlError::Backslash);
        }
        Ok(Self {
            protocol,
            target: Target::parse(authority, Some(port))?,
            path: encoded(behind)?,
        })
    }

    /// Reads an address that stands in an answer from this one, and may be relative to it.
    pub fn join(&self, written: &str) -> Result<Self, UrlError> {
        check(written)?;
        if has_scheme(written) {
            return Self::parse(written);
        }
        if written.starts_with("//") {
            return Self::parse(&format!("{}:{written}", self.protocol));
        }
        let reference = written.split('#').next().unwrap_or_default();
        let (own, _) = split_query(&self.path);
        let path = match reference {
            "" => self.path.clone(),
            query if query.starts_with('?') => format!("{own}{query}"),
            path if path.starts_with('/') => without_dots(path),
            relative => {
                let folder = own.rfind('/').map_or("/", |at| &own[..=at]);
                without_dots(&format!("{folder}{relative}"))
            }
        };
        Ok(Self {
            path: encoded(&path)?,
            ..self.clone()
        })
    }

    /// The host.
    pub fn host(&self) -> &Host {
        &self.target.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.target.port
    }

    /// Whether it goes in the clear or inside TLS.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Whether it goes inside TLS.
    pub fn is_secure(&self) -> bool {
        self.protocol == Protocol::Https
    }

    /// Whether two addresses belong to the same scheme, host and port.
    pub fn shares_origin(&self, other: &Self) -> bool {
        self.protocol == other.protocol && self.target == other.target
    }

    /// The path and the query, as the host is asked for them.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The host and the port as the `Host` header has them.
    pub fn authority(&self) -> String {
        self.target.written(match self.protocol {
            Protocol::Https => 443,
            Protocol::Http | Protocol::Tcp => 80,
        })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.protocol, self.authority(), self.path)
    }
}

fn check(written: &str) -> Result<(), UrlError> {
    if written.len() > LONGEST {
        return Err(UrlError::TooLong);
    }
    if written.chars().any(char::is_control) {
        return Err(UrlError::Control);
    }
    Ok(())
}

/// Whether it begins with a scheme, of whatever kind.
fn has_scheme(written: &str) -> bool {
    let Some((scheme, _)) = written.split_once(':') else {
        return false;
    };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

fn split_query(path: &str) -> (&str, &str) {
    path.split_at(path.find('?').unwrap_or(path.len()))
}

/// A path and a query as they go over the wire: what is not written there as it is, is by its
/// number; what stands behind `#` stays here.
fn encoded(behind: &str) -> Result<String, UrlError> {
    let behind = behind.split('#').next().unwrap_or_default();
    let (path, query) = split_query(behind);
    if path.contains('\\') {
        return Err(UrlError::Backslash);
    }
    let mut out = String::from(if path.starts_with('/') { "" } else { "/" });
    for byte in path.bytes().chain(query.bytes()) {
        let plain = byte.is_ascii_graphic() && !br#""<>`{}|^\"#.contains(&byte);
        if plain {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    Ok(out)
}

/// A path in which `.` and `..` were followed; the query behind it is left alone.
fn without_dots(path: &str) -> String {
    let (path, query) = split_query(path);
    let mut kept: Vec<&str> = Vec::new();
    let mut parts = path.split('/').skip(1).peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        match part {
            "." | ".." => {
                if part == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            part => kept.push(part),
        }
    }
    format!("/{}{query}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(read: Result<Url, UrlError>) -> String {
        read.map_or_else(|error| format!("{error:?}"), |url| url.to_string())
    }

    #[test]
    fn addresses() {
        for (written, expected) in [
            ("http://example.com", "http://example.com/"),
            ("HTTPS://Example.COM.:443/a?b#c", "https://example.com/a?b"),
            (
                "https://example.com:8443?q=1",
                "https://example.com:8443/?q=1",
            ),
            (
                "http://xn--bcher-kva.example/",
                "http://xn--bcher-kva.example/",
            ),
            (
                "http://a/ä b\"?q=\\<ü",
                "http://a/%C3%A4%20b%22?q=%5C%3C%C3%BC",
            ),
            ("http://a/%41%zz", "http://a/%41%zz"),
            ("http://[::1]:8080/", "http://[::1]:8080/"),
            // Every spelling of an address is that address.
            ("http://2130706433/", "http://127.0.0.1/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://0177.0.0.01/", "http://127.0.0.1/"),
            ("http://[::ffff:10.0.0.1]/", "http://10.0.0.1/"),
            // And no other scheme is HTTP.
            ("file:///etc/passwd", "Scheme"),
            ("ftp://example.com/", "Scheme"),
            ("javascript:alert(1)", "Scheme"),
            ("example.com/a", "Scheme"),
            ("http:example.com", "Scheme"),
            ("http:/example.com", "Scheme"),
            (" http://example.com", "Scheme"),
            ("http:///etc/passwd", "NoHost"),
            ("http://", "NoHost"),
            ("http://:80/", "NoHost"),
            ("http://user@example.com/", "User"),
            ("http://user:secret@example.com/", "User"),
            ("http://allowed.com\\@evil.com/", "Backslash"),
            ("http://allowed.com/\\evil", "Backslash"),
            ("http://a/\r\nX: y", "Control"),
            ("http://a\t.com/", "Control"),
            ("http://a/\u{85}", "Control"),
            ("http://bücher.example/", "Host(NotAscii)"),
            ("http://ex\u{430}mple.com/", "Host(NotAscii)"),
            ("http://a%2eb/", "Host(Zone)"),
            ("http://[fe80::1%25eth0]/", "Host(Zone)"),
            ("http://example.com:/", "Port"),
            ("http://example.com:99999/", "Port"),
            ("http://example.com:0/", "Port"),
            ("http://1.2.3.4.5/", "Host(NoAddress)"),
        ] {
            assert_eq!(shown(Url::parse(written)), expected, "{written:?}");
        }
        let long = format!("http://a/{}", "a".repeat(LONGEST));
        assert_eq!(Url::parse(&long), Err(UrlError::TooLong));
    }

    #[test]
    fn what_an_answer_names() {
        let here = Url::parse("https://example.com:8443/a/b/c?q=1").unwrap();
        for (written, expected) in [
            ("http://other.com/x", "http://other.com/x"),
            ("//other.com/x", "https://other.com/x"),
            ("/x/../y", "https://example.com:8443/y"),
            ("d", "https://example.com:8443/a/b/d"),
            ("../d?e", "https://example.com:8443/a/d?e"),
            ("../../../../d", "https://example.com:8443/d"),
            ("..", "https://example.com:8443/a/"),
            ("./", "https://example.com:8443/a/b/"),
            ("?z", "https://example.com:8443/a/b/c?z"),
            ("", "https://example.com:8443/a/b/c?q=1"),
            ("#top", "https://example.com:8443/a/b/c?q=1"),
            (
                "/next?to=http://x/",
                "https://example.com:8443/next?to=http://x/",
            ),
            ("/ä", "https://example.com:8443/%C3%A4"),
            ("file:///etc/passwd", "Scheme"),
            ("gopher://x", "Scheme"),
            ("data:text/plain,x", "Scheme"),
            ("http:other.com", "Scheme"),
            ("\\\\other.com\\x", "Backslash"),
            ("//user@other.com/", "User"),
            ("/a\r\nb", "Control"),
        ] {
            assert_eq!(shown(here.join(written)), expected, "{written:?}");
        }
        let same = Url::parse("https://EXAMPLE.com:8443/").unwrap();
        assert!(here.shares_origin(&same));
        for other in [
            "https://example.com/",
            "http://example.com:8443/",
            "https://b.com:8443/",
        ] {
            assert!(!here.shares_origin(&Url::parse(other).unwrap()), "{other}");
        }
    }
}
