//! One request to a collector.

use std::sync::{Arc, OnceLock};

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper::{Method, Request};
use ringfence_jail::net::{Counts, Trust, Url, Wire};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::settings::Settings;

/// Why a collector did not take something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// It may another time.
    Unreachable(String),
    /// It will not.
    Refused(String),
}

/// Sends messages.
#[derive(Debug, Default)]
pub(super) struct Poster {
    /// Whom to trust: read at the first request that needs it.
    trust: OnceLock<Result<Arc<Trust>, String>>,
}

impl Poster {
    /// Sends a message, and waits as long as a collector may take.
    pub(super) async fn post(
        &self,
        url: &Url,
        settings: &Settings,
        body: Vec<u8>,
    ) -> Result<(), Failure> {
        match timeout(settings.timeout, self.attempt(url, settings, body)).await {
            Ok(done) => done,
            Err(_) => Err(Failure::Unreachable("no answer in time".to_owned())),
        }
    }

    async fn attempt(&self, url: &Url, settings: &Settings, body: Vec<u8>) -> Result<(), Failure> {
        let unreachable = |error: &dyn std::fmt::Display| Failure::Unreachable(error.to_string());
        let request = request(url, settings, body)?;
        let name = url.host().to_string();
        let stream = TcpStream::connect((name.trim_matches(['[', ']']), url.port())).await;
        let stream = stream.map_err(|error| unreachable(&error))?;
        let status = if url.is_secure() {
            let trust = self.trust().map_err(|error| unreachable(&error))?;
            let stream = trust.connect(url.host(), stream).await;
            let stream = stream.map_err(|error| unreachable(&format!("TLS: {error}")))?;
            exchange(stream, request).await
        } else {
            exchange(stream, request).await
        };
        match status.map_err(|error| unreachable(&error))? {
            200..=299 => Ok(()),
            status @ (429 | 502 | 503 | 504) => Err(unreachable(&format!("it answered {status}"))),
            status => Err(Failure::Refused(format!("it answered {status}"))),
        }
    }

    fn trust(&self) -> Result<Arc<Trust>, String> {
        let load = || {
            Trust::load(None)
                .map(Arc::new)
                .map_err(|error| error.to_string())
        };
        self.trust.get_or_init(load).clone()
    }
}

fn request(url: &Url, settings: &Settings, body: Vec<u8>) -> Result<Request<Full<Bytes>>, Failure> {
    let refused = |error: &dyn std::fmt::Display| Failure::Refused(error.to_string());
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = url.path().parse().map_err(|error| refused(&error))?;
    let host = HeaderValue::from_str(&url.authority()).map_err(|error| refused(&error))?;
    let headers = request.headers_mut();
    for (name, value) in &settings.headers {
        headers.append(name, value.clone());
    }
    let ours = HeaderValue::from_static(concat!("ringfence/", env!("CARGO_PKG_VERSION")));
    headers.insert(USER_AGENT, ours);
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("application/x-protobuf"),
    );
    headers.insert(HOST, host);
    Ok(request)
}

/// Sends a request on a connection of its own; gives the status of the answer.
async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<u16, hyper::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(Wire::new(stream, Counts::default())).await?;
    // It ends with its user; what was wrong with it is told to whoever waits for the answer.
    tokio::spawn(connection);
    Ok(sender.send_request(request).await?.status().as_u16())
}
