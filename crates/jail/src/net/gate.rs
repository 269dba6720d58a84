//! The gate: who decides about connections, and hears what became of them.

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::time::Duration;

use ringfence_policy::Permit;
use ringfence_policy::action::Connect;
use ringfence_policy::host::Host;

use super::http::Header;
use super::tls::Terminator;

/// A decision that is still awaited.
pub type Admission<'a> =
    Pin<Box<dyn Future<Output = Result<Permit, ConnectionRefusal>> + Send + 'a>>;

/// Decides about the connections of one run.
pub trait Gate: Send + Sync {
    /// Whether a connection may be made. May take as long as a person does.
    fn admit(&self, request: ConnectionRequest) -> Admission<'_>;

    /// Whether a permitted connection may go to one of the addresses that its host has.
    fn admit_address(&self, connect: &Connect, address: IpAddr) -> Result<(), ConnectionRefusal>;

    /// The headers to add to the requests of a connection.
    fn headers(&self, connect: &Connect) -> Vec<Header>;

    /// Who ends TLS, so that headers can be added inside; nobody unless that is wanted.
    fn terminator(&self) -> Option<&Terminator> {
        None
    }

    /// Something was refused, or did not work.
    fn refused(&self, refusal: &ConnectionRefusal);

    /// A permitted connection has come to its end.
    fn ended(&self, connect: &Connect, traffic: Traffic);

    /// The bounds on what the run's connections use.
    fn bounds(&self) -> Bounds;
}

/// A connection that somebody wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionRequest {
    /// To send an HTTP request in the clear.
    Request {
        /// To this host.
        host: Host,
        /// On this port.
        port: u16,
    },
    /// To send whatever it is.
    Tunnel {
        /// To this host.
        host: Host,
        /// On this port.
        port: u16,
    },
    /// To speak TLS.
    Tls {
        /// To this host.
        host: Host,
        /// On this port.
        port: u16,
    },
}

/// Why a connection is not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionRefusal {
    /// A stable name for programs to look at.
    pub code: &'static str,
    /// What was wanted: a host and a port, mostly.
    pub subject: String,
    /// Why not.
    pub reason: String,
    /// What would allow it.
    pub allow: Option<String>,
}

impl fmt::Display for ConnectionRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.reason)?;
        match &self.allow {
            Some(allow) => write!(f, "; {allow}"),
            None => Ok(()),
        }
    }
}

/// How much a run's connections use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Connections at once.
    pub connections: usize,
    /// How long a host may take to answer.
    pub connect: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: 256,
            connect: Duration::from_secs(10),
        }
    }
}

/// Bytes that went over a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Out of the fence.
    pub sent: u64,
    /// Into it.
    pub received: u64,
}

/// A gate that lets nothing through: an allow-list with nothing on it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Closed;

impl Gate for Closed {
    fn admit(&self, request: ConnectionRequest) -> Admission<'_> {
        let (ConnectionRequest::Request { host, port }
        | ConnectionRequest::Tunnel { host, port }
        | ConnectionRequest::Tls { host, port }) = request;
        Box::pin(std::future::ready(Err(ConnectionRefusal {
            code: "not_allowed",
            subject: format!("{host}:{port}"),
            reason: "no host is allowed".to_owned(),
            allow: None,
        })))
    }

    fn admit_address(&self, connect: &Connect, address: IpAddr) -> Result<(), ConnectionRefusal> {
        Err(ConnectionRefusal {
            code: "not_allowed",
            subject: connect.host.to_string(),
            reason: format!("{address} is not allowed"),
            allow: None,
        })
    }

    fn headers(&self, _: &Connect) -> Vec<Header> {
        Vec::new()
    }

    fn refused(&self, _: &ConnectionRefusal) {}

    fn ended(&self, _: &Connect, _: Traffic) {}

    fn bounds(&self) -> Bounds {
        Bounds::default()
    }
}
