//! The outlet of a run: accepts what connects inside the session's network, and lives as long as
//! the run does.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use ringfence_policy::permissions::Network;
use ringfence_policy::permit::Confinement;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use super::gate::{ConnectionRefusal, Gate};
use super::http;
use super::proxy;
use crate::error::LaunchError;

const NO_NETWORK_OF_ITS_OWN: &str =
    "an allow-list needs a network namespace; `sandbox.network` can be `off` or `full` here";

/// The proxy of one run. Dropping it ends every connection that it carries.
#[derive(Debug)]
pub(crate) struct Outlet {
    port: u16,
    serving: JoinHandle<()>,
}

impl Outlet {
    /// The proxy of a run, if it has an allow-list. It needs a socket that listens inside.
    pub(crate) fn for_run(
        listener: Option<OwnedFd>,
        confinement: &Confinement,
        gate: Arc<dyn Gate>,
    ) -> Result<Option<Self>, LaunchError> {
        match confinement {
            Confinement::Fenced { sandbox, .. } if sandbox.network == Network::AllowList => {
                let listener = listener.ok_or_else(|| LaunchError::CannotEnforce {
                    missing: vec![NO_NETWORK_OF_ITS_OWN.to_owned()],
                })?;
                let outlet = Self::open(listener, gate).map_err(LaunchError::Warden)?;
                Ok(Some(outlet))
            }
            _ => Ok(None),
        }
    }

    /// Starts to answer on a socket that listens inside.
    fn open(listener: OwnedFd, gate: Arc<dyn Gate>) -> io::Result<Self> {
        let listener = std::net::TcpListener::from(listener);
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let listener = TcpListener::from_std(listener)?;
        Ok(Self {
            port,
            serving: tokio::spawn(serve(listener, gate)),
        })
    }

    /// The port on the loopback inside.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: TcpListener, gate: Arc<dyn Gate>) {
    let most = gate.bounds().connections;
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((client, _)) = accepted else {
                    // Out of descriptors, say: those that are open will end.
                    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                    continue;
                };
                if open.len() < most {
                    open.spawn(proxy::serve(client, Arc::clone(&gate)));
                } else {
                    turn_away(client, gate.as_ref(), most).await;
                }
            }
            Some(_) = open.join_next(), if !open.is_empty() => {}
        }
    }
}

/// Tells whoever is one too many, at once.
async fn turn_away(client: TcpStream, gate: &dyn Gate, most: usize) {
    let refusal = ConnectionRefusal {
        code: "too_many_connections",
        subject: "a connection".to_owned(),
        reason: format!("the run has {most} open, which is the most"),
        allow: Some("`network.max_connections` sets how many".to_owned()),
    };
    gate.refused(&refusal);
    let (_, mut writer) = client.into_split();
    let _ = http::refuse(&mut writer, 503, &refusal).await;
}
