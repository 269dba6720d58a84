//! Who is let in: the right token, a name of ours as the host, and no page of somebody else's.

use std::convert::Infallible;
use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};

use super::Principal;

/// The way to the protocol.
const PATH: &str = "/mcp";
/// The way to the page of metrics.
const METRICS: &str = "/metrics";

/// Somebody who is let in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Admitted {
    /// To the protocol.
    Client(Principal),
    /// To the page of metrics.
    Metrics,
}

/// Looks at a request before anything of it is read.
#[derive(Debug)]
pub struct Guard {
    token: String,
    /// Names and addresses that the server is reached by, with the port.
    hosts: Vec<String>,
    /// Pages that may call it from a browser.
    origins: Vec<String>,
}

/// Why a request is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    NotFound,
    Host,
    Origin,
    Token,
}

impl Guard {
    /// One for a server at this address. `hosts` are other names that it is reached by, `origins` pages that may call it.
    pub fn new(token: String, at: SocketAddr, hosts: &[String], origins: &[String]) -> Self {
        let port = at.port();
        let mut known = vec![at.to_string()];
        if at.ip().is_loopback() {
            known.extend(["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}")));
        }
        known.extend(hosts.iter().map(|name| {
            let name = name.to_ascii_lowercase();
            let has_port = name.rsplit_once(':').is_some_and(|(_, end)| {
                !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit())
            });
            if has_port {
                name
            } else {
                format!("{name}:{port}")
            }
        }));
        Self {
            token,
            hosts: known,
            origins: origins.iter().map(|one| one.to_ascii_lowercase()).collect(),
        }
    }

    /// Whose request it is, if it is let in.
    pub(crate) fn admit<B>(&self, request: &Request<B>) -> Result<Admitted, Refused> {
        let headers = request.headers();
        let host = only(headers, &header::HOST).ok_or(Refused::Host)?;
        let host = host.to_ascii_lowercase();
        if !self.hosts.contains(&host) {
            return Err(Refused::Host);
        }
        if headers.contains_key(header::ORIGIN) {
            let origin = only(headers, &header::ORIGIN).ok_or(Refused::Origin)?;
            if !self.origins.contains(&origin.to_ascii_lowercase()) {
                return Err(Refused::Origin);
            }
        }
        let token = only(headers, &header::AUTHORIZATION).and_then(bearer);
        let token = token.filter(|token| same(token.as_bytes(), self.token.as_bytes()));
        let token = token.ok_or(Refused::Token)?;
        match request.uri().path() {
            PATH => Ok(Admitted::Client(Principal(token.to_owned()))),
            METRICS => Ok(Admitted::Metrics),
            _ => Err(Refused::NotFound),
        }
    }
}

/// The value of a header that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(first)
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}

/// Whether they are the same, in a time that does not tell how far they are.
fn same(one: &[u8], other: &[u8]) -> bool {
    let differ = |sum: u8, (one, other): (&u8, &u8)| sum | (one ^ other);
    one.len() == other.len() && one.iter().zip(other).fold(0, differ) == 0
}

impl Refused {
    /// What the client is told.
    pub(crate) fn response(self) -> Response<BoxBody<Bytes, Infallible>> {
        let (status, text) = match self {
            Self::NotFound => (StatusCode::NOT_FOUND, "the protocol is served at /mcp\n"),
            Self::Host => (
                StatusCode::FORBIDDEN,
                "the Host header names none of this server's names (--allow-host-header adds one)\n",
            ),
            Self::Origin => (
                StatusCode::FORBIDDEN,
                "pages of this Origin may not call this server (--allow-origin adds one)\n",
            ),
            Self::Token => (
                StatusCode::UNAUTHORIZED,
                "send `Authorization: Bearer TOKEN` with the token that the server was started with\n",
            ),
        };
        let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
        *response.status_mut() = status;
        let plain = header::HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, plain);
        if self == Self::Token {
            let scheme = header::HeaderValue::from_static("Bearer");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, scheme);
        }
        // Whatever was not read of the request goes with the connection.
        let close = header::HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
        response
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn who_is_let_in() {
        let at = "127.0.0.1:8123".parse().unwrap();
        let hosts = ["box.example".to_owned()];
        let origins = ["https://app.example".to_owned()];
        let guard = Guard::new("secret".to_owned(), at, &hosts, &origins);
        let right = ("authorization", "Bearer secret");
        let host = ("host", "localhost:8123");
        type Headers<'a> = Vec<(&'a str, &'a str)>;
        let cases: Vec<(Headers<'_>, Result<(), Refused>)> = vec![
            (vec![host, right], Ok(())),
            (vec![("host", "127.0.0.1:8123"), right], Ok(())),
            (vec![("host", "[::1]:8123"), right], Ok(())),
            (vec![("host", "BOX.example:8123"), right], Ok(())),
            (vec![host, ("authorization", "bearer secret")], Ok(())),
            (vec![host, right, ("origin", "https://app.example")], Ok(())),
            (vec![right], Err(Refused::Host)),
            (vec![("host", "localhost"), right], Err(Refused::Host)),
            (
                vec![("host", "evil.example:8123"), right],
                Err(Refused::Host),
            ),
            (vec![host, host, right], Err(Refused::Host)),
            (
                vec![host, right, ("origin", "https://evil.example")],
                Err(Refused::Origin),
            ),
            (vec![host, right, ("origin", "null")], Err(Refused::Origin)),
            (
                vec![host, right, ("origin", "http://localhost:8123")],
                Err(Refused::Origin),
            ),
            (vec![host], Err(Refused::Token)),
            (
                vec![host, ("authorization", "Bearer secret2")],
                Err(Refused::Token),
            ),
            (
                vec![host, ("authorization", "Bearer secre")],
                Err(Refused::Token),
            ),
            (
                vec![host, ("authorization", "Basic secret")],
                Err(Refused::Token),
            ),
            (vec![host, right, right], Err(Refused::Token)),
        ];
        for (headers, expected) in cases {
            let mut request = Request::builder().uri("/mcp");
            for (name, value) in &headers {
                request = request.header(*name, *value);
            }
            let admitted = guard.admit(&request.body(()).unwrap());
            assert_eq!(admitted.map(drop), expected, "{headers:?}");
        }
    }
}
