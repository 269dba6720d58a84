//! What a gateway serves with, and the loop that takes in connections.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use ringfence::Engine;
use ringfence::dialect::provider::Provider;
use ringfence_jail::net::{Counts, Wire};
use ringfence_model::Client;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::door::Token;
use crate::exchange;
use crate::headers::Credentials;
use crate::successors::Successors;

/// How much a client may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest request, in bytes.
    pub body_bytes: usize,
    /// How often the provider is asked for one answer to a client.
    pub rounds: u32,
    /// How long an answer may take, scripts and questions included.
    pub time: Duration,
    /// How many requests are answered at once.
    pub requests: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 32 << 20,
            rounds: 16,
            time: Duration::from_mins(30),
            requests: 16,
        }
    }
}

/// Where the providers are.
#[derive(Debug, Clone)]
pub struct Upstreams {
    /// `OpenAI`'s Responses, and Chat Completions.
    pub openai: Upstream,
    /// Anthropic's Messages.
    pub anthropic: Upstream,
}

/// One provider.
#[derive(Debug, Clone)]
pub struct Upstream {
    client: Client,
    credentials: Credentials,
}

impl Upstream {
    /// One that is shown the key of this client; what clients of the gateway show goes no further.
    pub fn with_own_key(client: Client) -> Self {
        Self {
            client,
            credentials: Credentials::Gateways,
        }
    }

    /// One that is shown what the gateway's client shows.
    pub fn with_key_of_clients(client: Client) -> Self {
        Self {
            client,
            credentials: Credentials::Clients,
        }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn credentials(&self) -> Credentials {
        self.credentials
    }
}

/// Why a gateway is not opened.
#[derive(Debug, Error)]
pub enum GatewayError {
    /// It would be open to everybody.
    #[error("{address} can be reached by other machines: a token is needed (--token-env NAME)")]
    NoToken {
        /// Where it would listen.
        address: String,
    },
    /// What clients show cannot be both.
    #[error(
        "with a token, what clients show is for the gateway: the key of {provider} has to be in the gateway's own \
         environment"
    )]
    NoKey {
        /// Whose key is missing.
        provider: &'static str,
    },
    /// The network says no.
    #[error("the gateway cannot listen: {0}")]
    Listen(#[from] io::Error),
}

/// A gateway.
pub struct Gateway {
    pub(crate) engine: Arc<Engine>,
    pub(crate) upstreams: Upstreams,
    pub(crate) token: Option<Token>,
    pub(crate) limits: Limits,
    /// What models are told about scripts.
    pub(crate) instructions: String,
    pub(crate) places: Arc<Semaphore>,
    pub(crate) successors: Successors,
    pub(crate) metrics: Option<MetricsPage>,
}

/// Writes the page of metrics, whenever somebody asks for it.
pub type MetricsPage = Arc<dyn Fn() -> String + Send + Sync>;

impl Gateway {
    /// A gateway whose scripts are run by an engine.
    pub fn new(
        engine: Arc<Engine>,
        upstreams: Upstreams,
        token: Option<Token>,
        limits: Limits,
    ) -> Result<Self, GatewayError> {
        let known = [
            ("OpenAI", &upstreams.openai),
            ("Anthropic", &upstreams.anthropic),
        ];
        let lacks_key =
            |(_, upstream): &&(&str, &Upstream)| upstream.credentials == Credentials::Clients;
        // Where a token is wanted at least one provider has to be usable.
        if token.is_some() && known.iter().all(|it| lacks_key(&it)) {
            return Err(GatewayError::NoKey {
                provider: "the provider",
            });
        }
        Ok(Self {
            instructions: engine.script_prompt(),
            engine,
            upstreams,
            token,
            places: Arc::new(Semaphore::new(limits.requests)),
            limits,
            successors: Successors::default(),
            metrics: None,
        })
    }

    /// The same with a page for Prometheus at `/metrics`, for whoever may come in.
    pub fn with_metrics(self, page: MetricsPage) -> Self {
        Self {
            metrics: Some(page),
            ..self
        }
    }

    pub(crate) fn upstream(&self, provider: Provider) -> &Upstream {
        match provider {
            Provider::AnthropicMessages => &self.upstreams.anthropic,
            Provider::OpenAiResponses | Provider::OpenAiChat => &self.upstreams.openai,
        }
    }

    /// Listens at an address. One that other machines can reach wants a token.
    pub async fn listen(&self, address: &str) -> Result<TcpListener, GatewayError> {
        let listener = TcpListener::bind(address).await?;
        if self.token.is_none() && !listener.local_addr()?.ip().is_loopback() {
            return Err(GatewayError::NoToken {
                address: address.to_owned(),
            });
        }
        Ok(listener)
    }

    /// Serves whoever connects, until this is dropped.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) -> io::Result<Infallible> {
        loop {
            // Out of descriptors, or a client that is gone: the next one may do better.
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            let gateway = Arc::clone(&self);
            tokio::spawn(async move {
                let service = service_fn(|request| exchange::serve(Arc::clone(&gateway), request));
                let wire = Wire::new(stream, Counts::default());
                // A client that breaks off has nobody to be told.
                let _ = http1::Builder::new().serve_connection(wire, service).await;
            });
        }
    }
}
