//! Requests to an endpoint and their answers, which are handed out as their bytes come.
//!
//! What failed before its answer began is tried again here: nobody has heard any of it. An answer that breaks
//! off is an error that says so, and whoever knows what was made of its beginning decides about another try.

use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use http_body_util::Full;
use hyper::body::{Body, Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response};
use ringfence_jail::net::{Counts, Trust, Wire};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::endpoint::Endpoint;
use crate::error::ModelError;
use crate::retry::{self, Retries, Waiting};

/// How many connections that nobody uses are kept.
const MOST_IDLE: usize = 8;

/// As much of an error is read.
const MOST_OF_ERROR: usize = 64 * 1024;

/// As much of an error is told.
const MOST_TOLD: usize = 2_000;

/// How long things may take, and how long an answer may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Until there is a connection.
    pub connect: Duration,
    /// Until the answer begins. Models think before they speak.
    pub answer: Duration,
    /// Between two pieces of it.
    pub silence: Duration,
    /// The longest answer, in bytes.
    pub most_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            answer: Duration::from_mins(10),
            silence: Duration::from_mins(5),
            most_bytes: 64 * 1024 * 1024,
        }
    }
}

/// Somebody who is told of waits.
pub type Patient = Arc<dyn Fn(&Waiting) + Send + Sync>;

/// A client of one endpoint. Clones share connections.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    endpoint: Endpoint,
    limits: Limits,
    retries: Retries,
    told: Option<Patient>,
    /// Whom to trust: read at the first request that needs it.
    trust: OnceLock<Result<Arc<Trust>, String>>,
    trusted: Option<std::path::PathBuf>,
    idle: Mutex<Vec<Sender>>,
}

type Sender = SendRequest<Full<Bytes>>;

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("endpoint", &self.shared.endpoint)
            .finish_non_exhaustive()
    }
}

/// What a client is made of besides its endpoint.
#[derive(Clone, Default)]
pub struct Options {
    /// How long things may take.
    pub limits: Limits,
    /// What is tried again.
    pub retries: Retries,
    /// Who is told of waits.
    pub told: Option<Patient>,
    /// A file with the certificates to trust, in place of the machine's.
    pub trusted: Option<std::path::PathBuf>,
}

impl Client {
    /// A client of an endpoint.
    pub fn new(endpoint: Endpoint, options: Options) -> Self {
        Self {
            shared: Arc::new(Shared {
                endpoint,
                limits: options.limits,
                retries: options.retries,
                told: options.told,
                trust: OnceLock::new(),
                trusted: options.trusted,
                idle: Mutex::new(Vec::new()),
            }),
        }
    }

    /// Its endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.shared.endpoint
    }

    /// Sends a body to a resource, such as `/v1/responses`, with these headers besides those that it needs. Tries
    /// again what may pass; an answer with another status than success is an error.
    pub async fn send(
        &self,
        resource: &str,
        headers: &HeaderMap,
        body: impl Into<Bytes>,
    ) -> Result<Answer, ModelError> {
        let body = body.into();
        let mut tries = 0;
        loop {
            tries += 1;
            let (error, asked) = match self.attempt(Method::POST, resource, headers, &body).await {
                Ok(answer) if answer.is_success() => return Ok(answer),
                Ok(answer) => {
                    let asked = retry::asked(&answer.headers, SystemTime::now());
                    let error = self.status_error(answer, tries, asked).await;
                    (error, asked)
                }
                Err(error) => (error, None),
            };
            let wait = match &error {
                ModelError::Status { status, .. } if !retry::may_pass(*status) => None,
                ModelError::Status { .. }
                | ModelError::Unreachable { .. }
                | ModelError::CutOff { .. } => self.shared.retries.wait(tries, asked),
                _ => None,
            };
            let Some(wait) = wait else { return Err(error) };
            if let Some(told) = &self.shared.told {
                told(&Waiting {
                    why: error.in_short(),
                    wait,
                    next_try: tries + 1,
                    most_tries: self.shared.retries.most.saturating_add(1),
                });
            }
            sleep(wait).await;
        }
    }

    /// Sends a request once and gives whatever comes back, errors included: for those who hand it on.
    pub async fn pass(
        &self,
        method: Method,
        resource: &str,
        headers: &HeaderMap,
        body: impl Into<Bytes>,
    ) -> Result<Answer, ModelError> {
        self.attempt(method, resource, headers, &body.into()).await
    }

    async fn attempt(
        &self,
        method: Method,
        resource: &str,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<Answer, ModelError> {
        let request = || self.request(method.clone(), resource, headers, body);
        let limit = self.shared.limits.answer;
        // A connection that was kept may have ended since: that says nothing about the place.
        while let Some(mut sender) = self.kept() {
            if sender.ready().await.is_err() {
                continue;
            }
            match timeout(limit, sender.try_send_request(request()?)).await {
                Err(_) => return Err(self.no_answer()),
                Ok(Ok(response)) => return Ok(self.answer(response, sender)),
                Ok(Err(failed)) if failed.message().is_some() => {}
                Ok(Err(failed)) if failed.error().is_incomplete_message() => {}
                Ok(Err(failed)) => return Err(self.failed(failed.error())),
            }
        }
        let mut sender = self.connect().await?;
        match timeout(limit, sender.send_request(request()?)).await {
            Err(_) => Err(self.no_answer()),
            Ok(Ok(response)) => Ok(self.answer(response, sender)),
            Ok(Err(error)) => Err(self.failed(&error)),
        }
    }

    fn no_answer(&self) -> ModelError {
        ModelError::NoAnswer {
            place: self.shared.endpoint.place(),
            after: self.shared.limits.answer,
        }
    }

    fn failed(&self, error: &hyper::Error) -> ModelError {
        let place = self.shared.endpoint.place();
        if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
            return ModelError::CutOff { place, received: 0 };
        }
        ModelError::Unreachable {
            place,
            reason: self.shared.endpoint.mask(&error.to_string()),
        }
    }

    fn request(
        &self,
        method: Method,
        resource: &str,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<Request<Full<Bytes>>, ModelError> {
        let endpoint = &self.shared.endpoint;
        let unusable = |reason: String| ModelError::Request { reason };
        let mut request = Request::new(Full::new(body.clone()));
        *request.method_mut() = method;
        let path = endpoint.path(resource).parse::<hyper::Uri>();
        *request.uri_mut() = path.map_err(|error| unusable(error.to_string()))?;
        let host = HeaderValue::from_str(&endpoint.base().authority());
        let own = request.headers_mut();
        own.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        own.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        own.insert(
            USER_AGENT,
            HeaderValue::from_static(concat!("ringfence/", env!("CARGO_PKG_VERSION"))),
        );
        for (name, value) in headers {
            own.insert(name, value.clone());
        }
        own.insert(HOST, host.map_err(|error| unusable(error.to_string()))?);
        endpoint.authorise(own)?;
        Ok(request)
    }

    fn kept(&self) -> Option<Sender> {
        let mut idle = self
            .shared
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::iter::from_fn(|| idle.pop()).find(|sender| !sender.is_closed())
    }

    async fn connect(&self) -> Result<Sender, ModelError> {
        let base = self.shared.endpoint.base();
        let unreachable = |reason: String| ModelError::Unreachable {
            place: base.authority(),
            reason,
        };
        let name = base.host().to_string();
        let limit = self.shared.limits.connect;
        let stream = timeout(limit, TcpStream::connect((name.as_str(), base.port())))
            .await
            .map_err(|_| unreachable(format!("no answer within {} s", limit.as_secs())))?
            .map_err(|error| unreachable(error.to_string()))?;
        let _ = stream.set_nodelay(true);
        if !base.is_secure() {
            return handshake(Wire::new(stream, Counts::default()))
                .await
                .map_err(unreachable);
        }
        let trust = self.trust().map_err(unreachable)?;
        let secured = timeout(limit, trust.connect(base.host(), stream)).await;
        let stream = secured
            .map_err(|_| unreachable(format!("no TLS within {} s", limit.as_secs())))?
            .map_err(|error| unreachable(format!("TLS: {error}")))?;
        handshake(Wire::new(stream, Counts::default()))
            .await
            .map_err(unreachable)
    }

    fn trust(&self) -> Result<Arc<Trust>, String> {
        let shared = &self.shared;
        let load = || {
            let trust = Trust::load(shared.trusted.as_deref());
            trust.map(Arc::new).map_err(|error| error.to_string())
        };
        shared.trust.get_or_init(load).clone()
    }

    fn answer(&self, response: Response<Incoming>, sender: Sender) -> Answer {
        let (head, body) = response.into_parts();
        Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
            received: 0,
            client: self.clone(),
            sender: Some(sender),
        }
    }

    /// What an answer that is no success says.
    async fn status_error(
        &self,
        mut answer: Answer,
        tries: u32,
        retry_after: Option<Duration>,
    ) -> ModelError {
        let mut body = Vec::new();
        while let Ok(Some(piece)) = answer.next().await {
            body.extend_from_slice(&piece);
            if body.len() > MOST_OF_ERROR {
                break;
            }
        }
        let json: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        let error = if json["error"].is_object() {
            &json["error"]
        } else {
            &json
        };
        let said = error["message"].as_str().or_else(|| json["error"].as_str());
        let message = said.map_or_else(
            || String::from_utf8_lossy(&body).into_owned(),
            str::to_owned,
        );
        let kind = error["type"].as_str().or_else(|| error["code"].as_str());
        let endpoint = &self.shared.endpoint;
        let message = endpoint.mask(message.trim());
        ModelError::Status {
            place: endpoint.place(),
            status: answer.status,
            kind: kind.map(|kind| endpoint.mask(kind)),
            message: message.chars().take(MOST_TOLD).collect(),
            body: endpoint.mask(&String::from_utf8_lossy(&body)),
            tries,
            retry_after,
        }
    }
}

/// Begins HTTP on a stream, and has a task look after it.
async fn handshake<S>(wire: Wire<S>) -> Result<Sender, String>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http1::handshake(wire)
        .await
        .map_err(|error| error.to_string())?;
    // It ends with the last of its users; what was wrong with it is told to whoever reads from it.
    tokio::spawn(connection);
    Ok(sender)
}

/// An answer, whose body is still to come.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    body: Incoming,
    received: u64,
    client: Client,
    sender: Option<Sender>,
}

impl Answer {
    /// Whether it is no error.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether it comes as server-sent events.
    pub fn is_stream(&self) -> bool {
        let kind = self
            .headers
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok());
        kind.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"))
    }

    /// The next piece of the body; none after its last one.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ModelError> {
        let limits = &self.client.shared.limits;
        let place = || self.client.shared.endpoint.place();
        loop {
            let body = &mut self.body;
            let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx));
            let Ok(frame) = timeout(limits.silence, frame).await else {
                return Err(ModelError::Silent {
                    place: place(),
                    after: limits.silence,
                    received: self.received,
                });
            };
            let Some(frame) = frame else {
                self.keep();
                return Ok(None);
            };
            let Ok(frame) = frame else {
                return Err(ModelError::CutOff {
                    place: place(),
                    received: self.received,
                });
            };
            let Ok(data) = frame.into_data() else {
                continue;
            };
            self.received += data.len() as u64;
            if self.received > limits.most_bytes {
                return Err(ModelError::TooLong {
                    place: place(),
                    most: limits.most_bytes,
                });
            }
            return Ok(Some(data));
        }
    }

    /// All of the body.
    pub async fn whole(mut self) -> Result<Vec<u8>, ModelError> {
        let mut body = Vec::new();
        while let Some(piece) = self.next().await? {
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    /// Keeps the connection for another request: all of this one's answer is there.
    fn keep(&mut self) {
        let Some(sender) = self.sender.take() else {
            return;
        };
        let idle = &self.client.shared.idle;
        let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST_IDLE {
            idle.push(sender);
        }
    }
}
