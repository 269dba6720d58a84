//! The outlet of a run: accepts what connects inside the session's network, and lives as long as
//! the run does.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use super::door;
use super::gate::{Gate, Refusal};
use super::http;

/// The address of the loopback that the outlets of all runs of a session answer on, and nobody else:
/// the init of a run connects its command to one port of it, that of the run's own outlet.
pub(crate) const OUTLETS: Ipv4Addr = Ipv4Addr::new(127, 82, 70, 1);

/// The port that a socket listens on.
pub(crate) fn port_of(listener: &OwnedFd) -> io::Result<u16> {
    let listener = std::net::TcpListener::from(listener.try_clone()?);
    Ok(listener.local_addr()?.port())
}

/// The proxy of one run. Dropping it ends every connection that it carries.
#[derive(Debug)]
pub(crate) struct Outlet {
    port: u16,
    serving: JoinHandle<()>,
}

impl Outlet {
    /// Starts to answer on a socket that listens inside.
    pub(crate) fn open(listener: OwnedFd, gate: Arc<dyn Gate>) -> io::Result<Self> {
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
                    open.spawn(door::serve(client, Arc::clone(&gate)));
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
    let refusal = Refusal {
        code: "too_many_connections",
        subject: "a connection".to_owned(),
        reason: format!("the run has {most} open, which is the most"),
        allow: Some("`network.max_connections` sets how many".to_owned()),
    };
    gate.refused(&refusal);
    let (_, mut writer) = client.into_split();
    let _ = http::refuse(&mut writer, 503, &refusal).await;
}
