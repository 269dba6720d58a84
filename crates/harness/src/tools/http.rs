//! `http`: a request and its answer, in the words of `fetch`. Off unless `script.expose.enable_http` switches it on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ringfence_jail::net::{Header, Outgoing, Url};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tool_set::HTTP;
use super::{Invocation, Tool};
use crate::config::HttpConfig;
use crate::engine::Call;
use crate::error::CallError;
use crate::http::{Arrival, Journey};
use crate::network::HostAnswers;

/// The most headers that a request has, and the most bytes in them.
const MOST_HEADERS: usize = 64;
const MOST_HEADER_BYTES: usize = 32 * 1024;

/// Headers that say how a request is sent, besides those that no header may be.
const OURS: &[&str] = &[
    "expect",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "upgrade",
];

/// Headers that a request has unless it says otherwise. A body is not decoded: it shall not be coded.
const USUAL: &[(&str, &str)] = &[
    ("accept", "*/*"),
    ("accept-encoding", "identity"),
    (
        "user-agent",
        concat!("ringfence/", env!("CARGO_PKG_VERSION")),
    ),
];

/// The tool.
pub(super) struct Http;

impl Tool for Http {
    type Arguments = Arguments;
    type Reply = HttpResponse;

    fn name(&self) -> &'static str {
        HTTP
    }

    fn description(&self) -> &'static str {
        "Sends an HTTP request and returns the answer. A status such as 404 is an answer, not an error; a person may \
         be asked about the host first. Redirects are followed."
    }

    async fn run(
        &self,
        at: Invocation<'_>,
        arguments: Arguments,
    ) -> Result<HttpResponse, CallError> {
        let journey = arguments.journey(&at.engine.config.http, at.call)?;
        let arrival = at.engine.send_http(at.call, journey).await?;
        Ok(HttpResponse::of(arrival))
    }
}

/// The arguments of `http`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Arguments {
    /// The method (GET unless told).
    method: Option<HttpMethod>,
    /// The address, which begins with `http://` or `https://`.
    url: String,
    /// Headers, for example `{ "accept": "application/json" }`.
    headers: Option<BTreeMap<String, String>>,
    /// The body.
    body: Option<String>,
    /// The most time to take, redirects included, in milliseconds (30000 unless configured otherwise).
    timeout_ms: Option<u64>,
    /// The most bytes of the body to return (262144 unless configured otherwise).
    max_bytes: Option<u64>,
}

/// What is done to what the address names.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum HttpMethod {
    #[default]
    #[serde(alias = "get")]
    Get,
    #[serde(alias = "head")]
    Head,
    #[serde(alias = "post")]
    Post,
    #[serde(alias = "put")]
    Put,
    #[serde(alias = "patch")]
    Patch,
    #[serde(alias = "delete")]
    Delete,
    #[serde(alias = "options")]
    Options,
}

impl HttpMethod {
    fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
        }
    }
}

impl Arguments {
    fn journey(self, config: &HttpConfig, call: &Call) -> Result<Journey, CallError> {
        let url = Url::parse(&self.url).map_err(|error| bad(format!("`url`: {error}")))?;
        let left = timeout(self.timeout_ms, config)?;
        let most_bytes = within("maxBytes", self.max_bytes, config)?;
        let body = self.body.as_deref().unwrap_or_default();
        if body.len() as u64 > config.max_request_bytes {
            let (long, most) = (body.len(), config.max_request_bytes);
            let why = format!("`body`: it has {long} bytes, and {most} is the most");
            return Err(bad(format!("{why}; `http.max_request_bytes` sets it")));
        }
        let mut headers = headers(self.headers.unwrap_or_default())?;
        if !body.is_empty() {
            usual(&mut headers, "content-type", "text/plain;charset=UTF-8")?;
        }
        Ok(Journey {
            tool: HTTP,
            request: Outgoing {
                method: self.method.unwrap_or_default().name().to_owned(),
                url,
                headers,
                body: body.to_owned().into(),
            },
            left,
            most_bytes,
            redirects: 0,
            answers: answers(call),
        })
    }
}

/// What was answered about hosts holds for the script, or for the call that no script makes.
fn answers(call: &Call) -> Arc<HostAnswers> {
    let site = call.call_site.as_deref();
    site.map_or_else(Arc::default, |site| Arc::clone(&site.hosts))
}

fn timeout(asked: Option<u64>, config: &HttpConfig) -> Result<Duration, CallError> {
    let Some(given) = asked else {
        return Ok(config.timeout.min(config.max_timeout));
    };
    let most = u64::try_from(config.max_timeout.as_millis()).unwrap_or(u64::MAX);
    if given > most {
        return Err(CallError::TimeoutTooLong { given, most });
    }
    Ok(Duration::from_millis(given))
}

/// How much of a body is returned.
fn within(field: &str, asked: Option<u64>, config: &HttpConfig) -> Result<usize, CallError> {
    let most = config.max_body_bytes;
    let wanted = match asked {
        Some(wanted) if wanted > most => {
            let why = format!("`{field}`: {wanted} is above the maximum of {most}");
            return Err(bad(format!("{why}; `http.max_body_bytes` sets it")));
        }
        Some(wanted) => wanted,
        None => config.body_bytes.min(most),
    };
    Ok(usize::try_from(wanted).unwrap_or(usize::MAX / 2))
}

fn headers(given: BTreeMap<String, String>) -> Result<Vec<Header>, CallError> {
    let bytes: usize = given
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    if given.len() > MOST_HEADERS || bytes > MOST_HEADER_BYTES {
        let most = format!("{MOST_HEADERS} headers and {MOST_HEADER_BYTES} bytes of them");
        return Err(bad(format!("`headers`: {most} are the most")));
    }
    let mut headers = Vec::with_capacity(given.len() + USUAL.len());
    for (name, value) in given {
        if OURS.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            return Err(bad(format!(
                "`headers`: `{name}` says how a request is sent, and cannot be set"
            )));
        }
        headers.push(header(&name, &value)?);
    }
    for (name, value) in USUAL {
        usual(&mut headers, name, value)?;
    }
    Ok(headers)
}

/// Adds a header, unless there is one of that name.
fn usual(headers: &mut Vec<Header>, name: &str, value: &str) -> Result<(), CallError> {
    let mut known = headers.iter();
    if !known.any(|header| header.name().eq_ignore_ascii_case(name)) {
        headers.push(header(name, value)?);
    }
    Ok(())
}

fn header(name: &str, value: &str) -> Result<Header, CallError> {
    let shown = || name.escape_debug().to_string();
    Header::of(name, value).map_err(|error| bad(format!("`headers`: `{}`: {error}", shown())))
}

fn bad(message: String) -> CallError {
    CallError::BadArguments {
        tool: HTTP.to_owned(),
        message,
    }
}

/// The answer to an HTTP request.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HttpResponse {
    /// The status, such as 200.
    status: u16,
    /// The headers, with names in lower case.
    headers: BTreeMap<String, String>,
    /// The body, if it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// The body in base64, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    body_base64: Option<String>,
    /// Whether there is more of the body than is returned.
    truncated: bool,
    /// Where the answer came from, if the request was redirected.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

impl HttpResponse {
    fn of(arrival: Arrival) -> Self {
        let (body, body_base64) = match String::from_utf8(arrival.body) {
            Ok(text) => (Some(text), None),
            Err(bytes) => (None, Some(BASE64.encode(bytes.as_bytes()))),
        };
        Self {
            status: arrival.status,
            headers: arrival.headers,
            body,
            body_base64,
            truncated: arrival.is_truncated,
            url: arrival.url,
        }
    }
}
