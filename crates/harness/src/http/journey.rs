//! A request on its way: what is left of its time and its redirects, and what becomes of it when an answer
//! leads elsewhere.

use std::sync::Arc;
use std::time::Duration;

use ringfence_jail::net::{Header, Outgoing, Url};
use ringfence_policy::action::SendHttp;

use super::error::{HttpError, RedirectProblem};
use crate::network::HostAnswers;

/// Headers that go along to another host. Whatever else a script has set may be meant for the first one alone,
/// credentials under any name among them.
const GO_ALONG: &[&str] = &[
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "content-encoding",
    "content-language",
    "content-type",
    "if-modified-since",
    "if-none-match",
    "range",
    "user-agent",
];

/// A request on its way.
#[derive(Debug, Clone)]
pub(crate) struct Journey {
    /// The tool that asks.
    pub(crate) tool: &'static str,
    /// What is sent next.
    pub(crate) request: Outgoing,
    /// The time that is left.
    pub(crate) left: Duration,
    /// As much of a body is wanted.
    pub(crate) most_bytes: usize,
    /// How many redirects were followed.
    pub(crate) redirects: u64,
    /// What was answered about hosts.
    pub(crate) answers: Arc<HostAnswers>,
}

impl Journey {
    /// The next step, as it is judged.
    pub(crate) fn action(&self) -> SendHttp {
        let url = &self.request.url;
        SendHttp {
            tool: self.tool.to_owned(),
            method: self.request.method.clone(),
            url: url.to_string(),
            host: url.host().clone(),
            port: url.port(),
            protocol: url.protocol(),
        }
    }

    /// Goes on to where an answer leads, as browsers do. Credentials stay with the host that they are for.
    pub(crate) fn redirected(self, status: u16, url: Url) -> Self {
        let mut request = self.request;
        let becomes_get = match status {
            303 => !matches!(request.method.as_str(), "GET" | "HEAD"),
            301 | 302 => request.method == "POST",
            _ => false,
        };
        if becomes_get {
            "GET".clone_into(&mut request.method);
            request.body.clear();
            request.headers.retain(|header| !is_about_a_body(header));
        }
        if !request.url.shares_origin(&url) {
            request.headers.retain(goes_along);
        }
        Self {
            request: Outgoing { url, ..request },
            redirects: self.redirects + 1,
            ..self
        }
    }

    /// The place that an answer leads to.
    pub(crate) fn target(&self, location: &[u8]) -> Result<Url, HttpError> {
        let unusable = |problem| HttpError::BadRedirect {
            from: self.place(),
            problem,
        };
        let text = std::str::from_utf8(location);
        let text = text.map_err(|_| unusable(RedirectProblem::NotText))?;
        let joined = self.request.url.join(text);
        joined.map_err(|problem| unusable(problem.into()))
    }

    /// The host and the port, for a person.
    pub(crate) fn place(&self) -> String {
        place(&self.request.url)
    }
}

/// The host and the port of an address.
pub(super) fn place(url: &Url) -> String {
    format!("{}:{}", url.host(), url.port())
}

fn is_about_a_body(header: &Header) -> bool {
    let name = header.name().to_ascii_lowercase();
    name.starts_with("content-")
}

fn goes_along(header: &Header) -> bool {
    let own = |known: &&str| header.name().eq_ignore_ascii_case(known);
    GO_ALONG.iter().any(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journey(method: &str) -> Journey {
        let headers = [
            ("Accept", "text/plain"),
            ("authorization", "Bearer mine"),
            ("Cookie", "a=b"),
            ("X-Api-Key", "mine too"),
            ("Content-Type", "text/plain"),
        ];
        let headers = headers.map(|(name, value)| Header::of(name, value).unwrap());
        Journey {
            tool: "http",
            request: Outgoing {
                method: method.to_owned(),
                url: Url::parse("https://a.example/x").unwrap(),
                headers: headers.to_vec(),
                body: "sent".into(),
            },
            left: Duration::ZERO,
            most_bytes: 0,
            redirects: 0,
            answers: Arc::default(),
        }
    }

    #[test]
    fn methods_bodies_and_headers() {
        let all = "Accept,authorization,Cookie,X-Api-Key,Content-Type";
        let without_body = "Accept,authorization,Cookie,X-Api-Key";
        for (method, status, location, then, body, headers) in [
            ("POST", 301, "/y", "GET", "", without_body),
            ("POST", 302, "/y", "GET", "", without_body),
            ("POST", 303, "/y", "GET", "", without_body),
            ("POST", 307, "/y", "POST", "sent", all),
            ("POST", 308, "/y", "POST", "sent", all),
            ("PUT", 301, "/y", "PUT", "sent", all),
            ("PUT", 303, "/y", "GET", "", without_body),
            ("HEAD", 303, "/y", "HEAD", "sent", all),
            // Another host, another port, in the clear: credentials stay here.
            (
                "POST",
                307,
                "https://b.example/",
                "POST",
                "sent",
                "Accept,Content-Type",
            ),
            ("POST", 302, "https://b.example/", "GET", "", "Accept"),
            (
                "GET",
                302,
                "https://a.example:8443/",
                "GET",
                "sent",
                "Accept,Content-Type",
            ),
            (
                "GET",
                302,
                "http://a.example/",
                "GET",
                "sent",
                "Accept,Content-Type",
            ),
        ] {
            let journey = journey(method);
            let url = journey.target(location.as_bytes()).unwrap();
            let next = journey.redirected(status, url);
            let names: Vec<_> = next.request.headers.iter().map(Header::name).collect();
            let found = (&*next.request.method, &*next.request.body, names.join(","));
            let expected = (then, body.as_bytes(), headers.to_owned());
            assert_eq!(found, expected, "{method} {status} {location}");
            assert_eq!(next.redirects, 1);
        }
    }

    #[test]
    fn what_is_no_address_is_not_followed() {
        for (location, expected) in [
            (&b"file:///etc/passwd"[..], "does not begin with `http://`"),
            (b"http://user:pass@b.example/", "user name or password"),
            (b"\xff", "not UTF-8"),
            (b"//b\\c/", "backslash"),
        ] {
            let error = journey("GET").target(location).unwrap_err();
            assert_eq!(error.code(), "http_bad_redirect");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
