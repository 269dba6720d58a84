//! The way out: from a permit to a connected socket.
//!
//! A host is looked up once. Each address that comes back is judged, and the connection goes to
//! one of those and nowhere else: a second look-up could have another answer.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ringfence_policy::action::{Action, Connect};
use ringfence_policy::host::Host;
use ringfence_policy::permit::Permit;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::gate::{ConnectionRefusal, ConnectionRequest, Gate};

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum Failure {
    /// It is not allowed.
    Refused(ConnectionRefusal),
    /// It did not work.
    Unreachable(ConnectionRefusal),
}

impl Failure {
    /// What it is about.
    pub(super) fn refusal(&self) -> &ConnectionRefusal {
        match self {
            Self::Refused(refusal) | Self::Unreachable(refusal) => refusal,
        }
    }

    /// The status of HTTP that says it best.
    pub(super) fn status(&self) -> u16 {
        match self {
            Self::Refused(_) => 403,
            Self::Unreachable(refusal) if refusal.code == "timed_out" => 504,
            Self::Unreachable(_) => 502,
        }
    }
}

/// The connection that a gate lets through.
pub(super) async fn admitted(
    wanted: ConnectionRequest,
    gate: &dyn Gate,
) -> Result<Connect, Failure> {
    let permit = gate.admit(wanted).await.map_err(Failure::Refused)?;
    redeem(permit)
}

/// What a permit for a connection is for.
pub(super) fn redeem(permit: Permit) -> Result<Connect, Failure> {
    match permit.redeem() {
        (Action::Connect(connect), _) => Ok(connect),
        _ => Err(Failure::Refused(ConnectionRefusal {
            code: "not_a_connection",
            subject: "a connection".to_owned(),
            reason: "the permit is for something else".to_owned(),
            allow: None,
        })),
    }
}

/// Connects to where a permit allows.
pub(super) async fn connect(connect: &Connect, gate: &dyn Gate) -> Result<TcpStream, Failure> {
    let admit = |address| gate.admit_address(connect, address);
    reach(connect, gate.bounds().connect, &admit).await
}

/// Looks the host up, and connects to one of its addresses that is admitted, all in this time.
pub(super) async fn reach(
    connect: &Connect,
    patience: Duration,
    admit: &(dyn Fn(IpAddr) -> Result<(), ConnectionRefusal> + Sync),
) -> Result<TcpStream, Failure> {
    let deadline = Instant::now() + patience;
    let addresses = match timeout_at(deadline, resolve(connect)).await {
        Ok(Ok(addresses)) => addresses,
        Ok(Err(error)) => {
            let reason = format!("the name could not be looked up: {error}");
            return Err(unreachable(connect, "not_resolved", reason));
        }
        Err(_) => return Err(timed_out(connect, "the name was not looked up in time")),
    };
    let (mut refused, mut allowed) = (None, Vec::new());
    for address in addresses {
        match admit(address) {
            Ok(()) => allowed.push(address),
            Err(refusal) => refused = Some(refusal),
        }
    }
    if allowed.is_empty() {
        return Err(match refused {
            Some(refusal) => Failure::Refused(refusal),
            None => unreachable(
                connect,
                "not_resolved",
                "the name has no address".to_owned(),
            ),
        });
    }
    let mut last = None;
    for address in allowed {
        let there = SocketAddr::new(address, connect.port);
        match timeout_at(deadline, TcpStream::connect(there)).await {
            Ok(Ok(stream)) => {
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => last = Some(error),
            Err(_) => return Err(timed_out(connect, "it did not answer in time")),
        }
    }
    let reason = match last {
        Some(error) => format!("it could not be reached: {error}"),
        None => "it could not be reached".to_owned(),
    };
    Err(unreachable(connect, "unreachable", reason))
}

async fn resolve(connect: &Connect) -> io::Result<Vec<IpAddr>> {
    match &connect.host {
        Host::Address(address) => Ok(vec![*address]),
        Host::Name(name) => {
            let found = tokio::net::lookup_host((name.as_str(), connect.port)).await?;
            let mut addresses: Vec<IpAddr> = Vec::new();
            for address in found.map(|found| found.ip().to_canonical()) {
                if !addresses.contains(&address) {
                    addresses.push(address);
                }
            }
            Ok(addresses)
        }
    }
}

fn unreachable(connect: &Connect, code: &'static str, reason: String) -> Failure {
    Failure::Unreachable(ConnectionRefusal {
        code,
        subject: format!("{}:{}", connect.host, connect.port),
        reason,
        allow: None,
    })
}

fn timed_out(connect: &Connect, reason: &str) -> Failure {
    unreachable(connect, "timed_out", reason.to_owned())
}
