//! The protocol over HTTP ("Streamable HTTP"), for clients that bring the right token.

mod guard;

use guard::Admitted;
pub use guard::Guard;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::house::House;
use crate::server::Server;

/// As many connections are open at once; others wait to be accepted.
const CONNECTIONS: usize = 1024;
/// How long a client has for the head of a request.
const HEAD: Duration = Duration::from_secs(10);
/// How long after the last sign of a client's its session is kept.
const IDLE: Duration = Duration::from_mins(30);

type Service = StreamableHttpService<Server, LocalSessionManager>;

/// Whose request it is: what its token amounts to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Principal(pub(crate) String);

impl Principal {
    /// Whoever makes a request; nobody in particular where there is one client.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Option<String> {
        let parts = context.extensions.get::<http::request::Parts>()?;
        parts.extensions.get::<Self>().map(|own| own.0.clone())
    }
}

/// Writes the page of metrics, whenever somebody asks for it.
pub type MetricsPage = Arc<dyn Fn() -> String + Send + Sync>;

/// What stands before the protocol: who is let in, and a page for Prometheus at `/metrics`, for those alone.
pub struct Front {
    /// Who is let in.
    pub guard: Guard,
    /// The page, if there is one.
    pub metrics: Option<MetricsPage>,
}

/// Serves clients that connect to a socket until `stop` is cancelled.
pub async fn serve(
    house: &Arc<House>,
    listener: TcpListener,
    front: Front,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let service = service(house, &stop);
    let front = Arc::new(front);
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else {
            return Ok(());
        };
        let stream = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return Ok(()),
        };
        let Ok((stream, _)) = stream else {
            // One that has gone again, or too many open files: the next may do better.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let (service, front, stop) = (service.clone(), Arc::clone(&front), stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = connection(stream, service, front) => {}
                () = stop.cancelled() => {}
            }
            drop(place);
        });
    }
}

fn service(house: &Arc<House>, stop: &CancellationToken) -> Service {
    let mut config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stop.clone())
        .with_max_request_body_bytes(house.limits.message_bytes)
        .with_json_response(true)
        // Whom it lets in is the guard's to say.
        .disable_allowed_hosts();
    config.sse_retry = None;
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE);
    let house = Arc::clone(house);
    StreamableHttpService::new(move || Ok(Server::new(&house)), Arc::new(sessions), config)
}

impl Front {
    fn page<B>(&self, request: &http::Request<B>) -> http::Response<BoxBody<Bytes, Infallible>> {
        let page = self.metrics.as_ref();
        let Some(page) = page.filter(|_| request.method() == http::Method::GET) else {
            return guard::Refused::NotFound.response();
        };
        let mut answer = http::Response::new(Full::new(Bytes::from(page())).boxed());
        let kind = http::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        answer
            .headers_mut()
            .insert(http::header::CONTENT_TYPE, kind);
        answer
    }
}

async fn connection(stream: TcpStream, service: Service, front: Arc<Front>) {
    let _ = stream.set_nodelay(true);
    let serve = service_fn(move |mut request: http::Request<Incoming>| {
        let (service, front) = (service.clone(), Arc::clone(&front));
        async move {
            let asked = front.guard.admit(&request);
            let answer: http::Response<BoxBody<Bytes, Infallible>> = match asked {
                Ok(Admitted::Metrics) => front.page(&request),
                Ok(Admitted::Client(principal)) => {
                    request.extensions_mut().insert(principal);
                    service.handle(request).await
                }
                Err(refusal) => refusal.response(),
            };
            Ok::<_, Infallible>(answer)
        }
    });
    // A client that breaks off has seen to the end of its requests by that.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), serve)
        .await;
}
