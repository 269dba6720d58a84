//! The client: sends one HTTP request that was permitted, and takes in as much of the answer as is
//! wanted.
//!
//! It goes out as the proxy's connections do (`upstream`): the name is looked up once, and the connection
//! goes to an address that was judged. A connection serves for one request. It follows no redirect and
//! decodes nothing: what an answer leads to is another request, with a permit of its own.
//!
//! Everything happens in the future that `send` returns: dropping that closes the connection.

mod error;
mod wire;

use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Body, Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderName, HeaderValue, LOCATION};
use ringfence_policy::action::{Action, SendHttp};
use ringfence_policy::host::Protocol;
use ringfence_policy::permit::Permit;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout_at};

pub use error::SendError;
pub use wire::{Counts, Wire};

use super::gate::{ConnectionRefusal, Traffic};
use super::http::{Header, MOST_BYTES, MOST_HEADERS};
use super::tls::{Trust, TrustError};
use super::upstream;
use super::url::Url;

/// A request on its way out.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// The method.
    pub method: String,
    /// Where it goes.
    pub url: Url,
    /// Its headers, without those that say how it is sent.
    pub headers: Vec<Header>,
    /// Its body; an empty one is none for methods that need none.
    pub body: Bytes,
}

/// What a request is sent by.
pub struct Way<'a> {
    /// Whether it may go to one of the addresses that its host has.
    pub admit: &'a (dyn Fn(IpAddr) -> Result<(), ConnectionRefusal> + Sync),
    /// Headers that are added, in the place of the request's own of the same name.
    pub added: &'a [Header],
    /// Whom to trust, if the request goes inside TLS.
    pub trust: &'a (dyn Fn() -> Result<Arc<Trust>, Arc<TrustError>> + Sync),
    /// How long the host may take to answer a connection.
    pub connect: Duration,
    /// How long everything may take.
    pub whole: Duration,
    /// As much of a body is taken in.
    pub most_bytes: usize,
    /// Whether the body of an answer that leads elsewhere is wanted.
    pub reads_redirects: bool,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers as they came, with names in lower case.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body, or its beginning.
    pub body: Vec<u8>,
    /// Whether that is all of it.
    pub is_whole: bool,
}

impl Response {
    /// Where it leads to, if it leads elsewhere.
    pub fn location(&self) -> Option<&[u8]> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(name, _)| name == LOCATION.as_str());
        let (_, location) = found.filter(|_| leads_elsewhere(self.status))?;
        Some(location)
    }
}

/// Whether an answer of this status may name another place to ask.
fn leads_elsewhere(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Sends a request. Says what went over the wire, whatever came of it.
pub async fn send(
    permit: Permit,
    request: Outgoing,
    way: &Way<'_>,
) -> (Result<Response, SendError>, Traffic) {
    let counts = Counts::default();
    let deadline = Instant::now() + way.whole;
    let sent = timeout_at(deadline, exchange(permit, &request, way, &counts)).await;
    let answer = sent.unwrap_or_else(|_| {
        Err(SendError::TimedOut {
            place: request.url.authority(),
            after: way.whole,
            received: counts.traffic().received,
        })
    });
    (answer, counts.traffic())
}

async fn exchange(
    permit: Permit,
    request: &Outgoing,
    way: &Way<'_>,
    counts: &Counts,
) -> Result<Response, SendError> {
    let permitted = redeem(permit, request)?;
    let place = || request.url.authority();
    let head = head(request, way.added).map_err(|reason| SendError::Request { reason })?;
    let stream = upstream::reach(&permitted.connection(), way.connect, way.admit).await?;
    if permitted.protocol != Protocol::Https {
        return over(head, request, way, Wire::new(stream, counts.clone())).await;
    }
    let untrusted = |reason: String| SendError::Tls {
        place: place(),
        reason,
    };
    let trust = (way.trust)().map_err(|error| untrusted(error.to_string()))?;
    let secured = trust.connect(&permitted.host, stream).await;
    let stream = secured.map_err(|error| untrusted(error.to_string()))?;
    over(head, request, way, Wire::new(stream, counts.clone())).await
}

/// What the permit is for, if that is this request.
fn redeem(permit: Permit, request: &Outgoing) -> Result<SendHttp, SendError> {
    let (Action::SendHttp(permitted), _) = permit.redeem() else {
        return Err(SendError::NotPermitted);
    };
    let same = permitted.method == request.method
        && permitted.host == *request.url.host()
        && permitted.port == request.url.port()
        && permitted.protocol == request.url.protocol()
        && permitted.url == request.url.to_string();
    if same {
        Ok(permitted)
    } else {
        Err(SendError::NotPermitted)
    }
}

/// The head of a request. What is added stands in the place of what was asked for.
fn head(request: &Outgoing, added: &[Header]) -> Result<hyper::Request<Full<Bytes>>, String> {
    let mut head = hyper::Request::new(Full::new(request.body.clone()));
    let method = hyper::Method::from_bytes(request.method.as_bytes());
    *head.method_mut() = method.map_err(|error| error.to_string())?;
    let path = request.url.path().parse::<hyper::Uri>();
    *head.uri_mut() = path.map_err(|error| error.to_string())?;
    let value = HeaderValue::from_str(&request.url.authority());
    let host = value.map_err(|error| error.to_string())?;
    let headers = head.headers_mut();
    headers.insert(HOST, host);
    for header in &request.headers {
        let (name, value) = field(header)?;
        headers.append(name, value);
    }
    for header in added {
        let (name, mut value) = field(header)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(head)
}

fn field(header: &Header) -> Result<(HeaderName, HeaderValue), String> {
    // The value is not told: it may be a secret.
    let unusable = || format!("the header `{}` cannot be sent", header.name());
    let name = HeaderName::from_bytes(header.name().as_bytes()).map_err(|_| unusable())?;
    let value = HeaderValue::from_bytes(header.value()).map_err(|_| unusable())?;
    Ok((name, value))
}

/// Sends a request over a stream and reads the answer, both in this one future.
async fn over<S: AsyncRead + AsyncWrite + Unpin>(
    head: hyper::Request<Full<Bytes>>,
    request: &Outgoing,
    way: &Way<'_>,
    wire: Wire<S>,
) -> Result<Response, SendError> {
    let failed = |error: &hyper::Error| SendError::of_answer(request.url.authority(), error);
    let mut connecting = http1::Builder::new();
    connecting
        .max_headers(MOST_HEADERS)
        .max_buf_size(MOST_BYTES);
    let (mut sender, connection) = connecting
        .handshake(wire)
        .await
        .map_err(|error| failed(&error))?;
    let mut answered = pin!(async {
        let response = sender.send_request(head).await;
        read(response.map_err(|error| failed(&error))?, request, way).await
    });
    let mut connection = pin!(connection);
    let mut is_over = false;
    loop {
        tokio::select! {
            biased;
            answer = &mut answered => return answer,
            // What was wrong with the connection is told to whoever reads from it.
            _ = &mut connection, if !is_over => is_over = true,
        }
    }
}

async fn read(
    response: hyper::Response<Incoming>,
    request: &Outgoing,
    way: &Way<'_>,
) -> Result<Response, SendError> {
    let place = || request.url.authority();
    let (head, mut body) = response.into_parts();
    let fields = head.headers.iter();
    let mut answer = Response {
        status: head.status.as_u16(),
        headers: fields
            .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
            .collect(),
        body: Vec::new(),
        is_whole: true,
    };
    if answer.status < 200 {
        let reason = format!("it answers {}, which nobody asked for", answer.status);
        return Err(SendError::Answer {
            place: place(),
            reason,
        });
    }
    if !way.reads_redirects && answer.location().is_some() {
        return Ok(answer);
    }
    while let Some(part) = next(&mut body).await {
        let part = part.map_err(|error| SendError::of_answer(place(), &error))?;
        let room = way.most_bytes - answer.body.len();
        answer.body.extend_from_slice(&part[..part.len().min(room)]);
        if part.len() > room {
            answer.is_whole = false;
            break;
        }
    }
    Ok(answer)
}

/// The next bytes of a body. What may follow its last ones is left aside.
async fn next(body: &mut Incoming) -> Option<Result<Bytes, hyper::Error>> {
    loop {
        let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
        match frame.map(hyper::body::Frame::into_data) {
            Ok(Ok(data)) => return Some(Ok(data)),
            Ok(Err(_)) => {}
            Err(error) => return Some(Err(error)),
        }
    }
}
