//! Where a request wants to go: `host:port` as it is written on the wire.

use ringfence_policy::host::{Host, HostError};
use thiserror::Error;

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) host: Host,
    pub(super) port: u16,
}

/// Why a text is no target.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum TargetError {
    #[error(transparent)]
    Host(#[from] HostError),
    #[error("the port is no number from 1 to 65535")]
    Port,
    #[error("a user name or password stands before the host")]
    User,
    #[error("the address begins with a scheme other than http")]
    Scheme,
    #[error("the request names no host; this is a proxy")]
    NoHost,
}

impl Target {
    /// Reads `host`, `host:port` or `[address]:port`.
    pub(super) fn parse(written: &str, default_port: Option<u16>) -> Result<Self, TargetError> {
        if written.contains('@') {
            return Err(TargetError::User);
        }
        let colon = match written.rfind(':') {
            // The colons of an address in brackets are its own.
            Some(at) if !written[at..].contains(']') => Some(at),
            _ => None,
        };
        let (host, port) = match colon {
            Some(at) => (&written[..at], Some(&written[at + 1..])),
            None => (written, None),
        };
        if host.contains(':') && !host.starts_with('[') {
            return Err(TargetError::Host(HostError::NoAddress));
        }
        let port = match port {
            Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
                digits.parse().map_err(|_| TargetError::Port)?
            }
            Some(_) => return Err(TargetError::Port),
            None => default_port.ok_or(TargetError::Port)?,
        };
        if port == 0 {
            return Err(TargetError::Port);
        }
        Ok(Self {
            host: Host::parse(host)?,
            port,
        })
    }

    /// Reads the address of a request to a proxy, and gives the path that the host is asked for.
    pub(super) fn of_request(uri: &str) -> Result<(Self, String), TargetError> {
        let rest = match uri.get(..7) {
            Some(scheme) if scheme.eq_ignore_ascii_case("http://") => &uri[7..],
            _ if uri.contains("://") => return Err(TargetError::Scheme),
            _ => return Err(TargetError::NoHost),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let path = path.split('#').next().unwrap_or_default();
        let path = if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("/{path}")
        };
        Ok((Self::parse(authority, Some(80))?, path))
    }

    /// The host and the port, for a person and for the `Host` header.
    pub(super) fn written(&self, default_port: u16) -> String {
        let host = match &self.host {
            Host::Address(std::net::IpAddr::V6(six)) => format!("[{six}]"),
            host => host.to_string(),
        };
        if self.port == default_port {
            host
        } else {
            format!("{host}:{}", self.port)
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.written(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities() {
        for (written, expected) in [
            ("example.com:443", Ok("example.com:443")),
            ("EXAMPLE.com.:443", Ok("example.com:443")),
            ("example.com", Ok("example.com:80")),
            ("[::1]:8080", Ok("[::1]:8080")),
            ("[::1]", Ok("[::1]:80")),
            ("2130706433:80", Ok("127.0.0.1:80")),
            ("0x7f.1:80", Ok("127.0.0.1:80")),
            ("[::ffff:10.0.0.1]:80", Ok("10.0.0.1:80")),
            ("::1:80", Err("the host looks like an address and is none")),
            ("example.com:", Err("the port is no number from 1 to 65535")),
            (
                "example.com:0",
                Err("the port is no number from 1 to 65535"),
            ),
            (
                "example.com:65536",
                Err("the port is no number from 1 to 65535"),
            ),
            (
                "example.com:+80",
                Err("the port is no number from 1 to 65535"),
            ),
            (
                "user@example.com:80",
                Err("a user name or password stands before the host"),
            ),
            (
                "allowed.com\0.evil.com:80",
                Err("the host contains a control character"),
            ),
            ("", Err("the host is empty")),
        ] {
            let read = Target::parse(written, Some(80));
            let shown = read
                .map(|target| target.to_string())
                .map_err(|error| error.to_string());
            assert_eq!(
                shown.as_deref().map_err(String::as_str),
                expected,
                "{written:?}"
            );
        }
    }

    #[test]
    fn requests() {
        for (uri, expected) in [
            ("http://example.com/a?b", Ok(("example.com:80", "/a?b"))),
            ("HTTP://Example.com:8080", Ok(("example.com:8080", "/"))),
            ("http://example.com?q", Ok(("example.com:80", "/?q"))),
            ("http://example.com/#part", Ok(("example.com:80", "/"))),
            ("/path", Err("the request names no host; this is a proxy")),
            (
                "https://example.com/",
                Err("the address begins with a scheme other than http"),
            ),
            (
                "http://allowed.com@evil.com/",
                Err("a user name or password stands before the host"),
            ),
            (
                "http://allowed.com\\@evil.com/",
                Err("a user name or password stands before the host"),
            ),
            ("http:///path", Err("the host is empty")),
        ] {
            let read = Target::of_request(uri).map(|(target, path)| (target.to_string(), path));
            let shown = read.map_err(|error| error.to_string());
            let expected = expected
                .map(|(target, path)| (target.to_owned(), path.to_owned()))
                .map_err(str::to_owned);
            assert_eq!(shown, expected, "{uri:?}");
        }
    }
}
