//! Which headers go along: those of the client to the provider, and those of the provider back.

use hyper::header::{HeaderMap, HeaderName};

/// What belongs to one connection, or is made anew for the next.
const OF_CONNECTION: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What shows who somebody is.
const CREDENTIALS: &[&str] = &["authorization", "x-api-key", "api-key", "cookie"];

/// Whose credentials the provider is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credentials {
    /// The client's own.
    Clients,
    /// The gateway's; the client's are for the gateway, and go no further.
    Gateways,
}

/// The headers of a client's request that the provider gets. Nothing is compressed: it has to be read on the way.
pub(crate) fn onward(from: &HeaderMap, credentials: Credentials) -> HeaderMap {
    copy(from, |name| {
        let is_ours = name.starts_with("x-ringfence-");
        let is_kept = credentials == Credentials::Gateways && CREDENTIALS.contains(&name);
        !is_ours && !is_kept && name != "origin" && name != "cookie"
    })
}

/// The headers of a provider's answer that the client gets.
pub(crate) fn back(from: &HeaderMap) -> HeaderMap {
    copy(from, |name| name != "set-cookie")
}

fn copy(from: &HeaderMap, goes: impl Fn(&str) -> bool) -> HeaderMap {
    let mut to = HeaderMap::new();
    for (name, value) in from {
        let word: &HeaderName = name;
        if goes(word.as_str()) && !OF_CONNECTION.contains(&word.as_str()) {
            to.append(word.clone(), value.clone());
        }
    }
    to
}
