//! Who may come in. A program on this machine, if it is no web page; or whoever shows the token.
//!
//! A page in the user's browser can send requests to the loopback, and by a name of its own that it has point there.
//! Browsers say which page asks (`origin`) and by which name (`host`): neither may be a stranger's.

use std::fmt;
use std::net::IpAddr;

use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, ORIGIN};
use hyper::{Method, Request};

use crate::refusal::Refusal;

/// What clients show to be let in. It is not printed.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Takes one; spaces and line ends around it are none of it. None if it is shorter than 16 characters, which
    /// could be guessed.
    pub fn new(token: &str) -> Option<Self> {
        let token = token.trim();
        (token.len() >= 16).then(|| Self(token.to_owned()))
    }

    /// Whether somebody shows it, in a time that does not tell how much of it was right.
    fn is(&self, shown: &str) -> bool {
        let (own, shown) = (self.0.as_bytes(), shown.as_bytes());
        let differences = own
            .iter()
            .zip(shown.iter().chain(std::iter::repeat(&0)))
            .fold(0, |all, (one, other)| all | (one ^ other));
        differences == 0 && own.len() == shown.len()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Lets a request in, or says why not.
pub(crate) fn admit<B>(request: &Request<B>, token: Option<&Token>) -> Result<(), Refusal> {
    let headers = request.headers();
    if let Some(token) = token {
        return if shown(headers).any(|shown| token.is(shown)) {
            Ok(())
        } else {
            Err(Refusal::new(
                401,
                "authentication_error",
                "this gateway wants its token, as the API key or in `authorization: Bearer`",
            ))
        };
    }
    let refused = |message: &str| Err(Refusal::new(403, "permission_error", message));
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if headers.contains_key(ORIGIN) || headers.contains_key("sec-fetch-site") {
        return refused("web pages are not served without a token (--token-env)");
    }
    if !text(HOST).is_some_and(is_loopback) {
        return refused("it is reached by a name of this machine only, such as 127.0.0.1");
    }
    let is_json =
        text(CONTENT_TYPE).is_some_and(|kind| kind.trim().starts_with("application/json"));
    if request.method() == Method::POST && !is_json {
        return refused("requests are of the type application/json");
    }
    Ok(())
}

/// All that a client shows.
fn shown(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let bearer = headers.get_all(AUTHORIZATION).iter().filter_map(|value| {
        let value = value.to_str().ok()?;
        value
            .strip_prefix("Bearer ")
            .or_else(|| value.strip_prefix("bearer "))
    });
    let keys = headers.get_all("x-api-key").iter();
    bearer.chain(keys.filter_map(|value| value.to_str().ok()))
}

/// Whether a `Host` names this machine and nothing else.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_address = |name: &str| name.parse::<IpAddr>().is_ok_and(|it| it.is_loopback());
    name.eq_ignore_ascii_case("localhost") || is_address(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: Method, headers: &[(&str, &str)]) -> Request<()> {
        let mut request = Request::new(());
        *request.method_mut() = method;
        for (name, value) in headers {
            let name: hyper::header::HeaderName = name.parse().unwrap();
            request.headers_mut().append(name, value.parse().unwrap());
        }
        request
    }

    #[test]
    fn programs_of_this_machine_come_in_and_pages_do_not() {
        const JSON: (&str, &str) = ("content-type", "application/json");
        const HERE: (&str, &str) = ("host", "127.0.0.1:8080");
        let table: &[(&[(&str, &str)], bool)] = &[
            (&[JSON, HERE], true),
            (&[JSON, ("host", "localhost:1")], true),
            (&[JSON, ("host", "[::1]:1")], true),
            (
                &[("content-type", "application/json; charset=utf-8"), HERE],
                true,
            ),
            (&[JSON, ("host", "evil.example")], false),
            (&[JSON, ("host", "127.0.0.1.evil.example")], false),
            (&[JSON, ("host", "10.0.0.1:8080")], false),
            (&[JSON], false),
            (&[("content-type", "text/plain"), HERE], false),
            (&[HERE], false),
            (&[JSON, HERE, ("origin", "http://evil.example")], false),
            (&[JSON, HERE, ("origin", "null")], false),
            (&[JSON, HERE, ("sec-fetch-site", "cross-site")], false),
        ];
        for (headers, expected) in table {
            let admitted = admit(&request(Method::POST, headers), None);
            assert_eq!(admitted.is_ok(), *expected, "{headers:?} {admitted:?}");
        }
        assert!(admit(&request(Method::GET, &[HERE]), None).is_ok());
    }

    #[test]
    fn a_token_is_shown_whole_or_not_at_all() {
        let token = Token::new("0123456789abcdef").unwrap();
        assert_eq!(format!("{token:?}"), "Token");
        assert!(Token::new("short").is_none());
        for (header, value, expected) in [
            ("authorization", "Bearer 0123456789abcdef", true),
            ("x-api-key", "0123456789abcdef", true),
            ("authorization", "Bearer 0123456789abcde", false),
            ("authorization", "Bearer 0123456789abcdef0", false),
            ("authorization", "0123456789abcdef", false),
            ("x-api-key", "", false),
            ("x-other", "0123456789abcdef", false),
        ] {
            let admitted = admit(&request(Method::POST, &[(header, value)]), Some(&token));
            assert_eq!(admitted.is_ok(), expected, "{header}: {value}");
        }
    }
}
