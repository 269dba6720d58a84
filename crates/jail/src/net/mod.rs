//! The network of a run with an allow-list: a proxy that answers inside the session's network and
//! connects outside of it.
//!
//! The run's own network is a loopback and nothing else. A socket that listens there was made by
//! the warden and handed out (`outlet`); the harness answers on it, so nothing of ours runs in the
//! fence. Whoever connects speaks HTTP or SOCKS (`proxy`). Each host is put to the [`Gate`], looked
//! up once, and connected to at the very address that was judged (`upstream`). What flows then is
//! HTTP that is read request by request (`requests`, `http`), TLS whose first message names the host (`tls`),
//! or bytes (`tunnel`).
//!
//! Runs of a session share its network and not their outlets: all of those have one address, to
//! which nobody is connected but a run to its own port (`warden::connections`).
//!
//! It does not judge: the gate does, and hands over a permit.
//!
//! What the harness asks for itself goes the same way out (`client`, `url`): with a permit, to an address
//! that was judged. A client that asks for nobody's sake but the user's (the one that talks to a model) borrows
//! [`Url`], [`Trust`] and [`Wire`] and nothing else.

#[cfg(feature = "launch")]
mod client;
#[cfg(feature = "launch")]
mod environment;
#[cfg(feature = "launch")]
mod gate;
#[cfg(feature = "launch")]
mod http;
#[cfg(feature = "launch")]
mod outlet;
#[cfg(feature = "launch")]
mod proxy;
#[cfg(feature = "launch")]
mod requests;
#[cfg(feature = "launch")]
mod socks;
#[cfg(feature = "launch")]
mod target;
#[cfg(feature = "launch")]
mod tls;
#[cfg(feature = "launch")]
mod tunnel;
#[cfg(feature = "launch")]
mod upstream;
#[cfg(feature = "launch")]
mod url;

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

#[cfg(feature = "launch")]
pub use client::{Counts, Outgoing, Response, SendError, Way, Wire, send};
#[cfg(feature = "launch")]
pub use environment::{certificate_variables, proxy_variables};
#[cfg(feature = "launch")]
pub use gate::{Admission, Bounds, Closed, ConnectionRefusal, ConnectionRequest, Gate, Traffic};
#[cfg(feature = "launch")]
pub use http::{Header, HeaderError};
#[cfg(feature = "launch")]
pub(crate) use outlet::Outlet;
#[cfg(feature = "launch")]
pub use tls::{Authority, AuthorityError, Terminator, TerminatorError, Trust, TrustError};
#[cfg(feature = "launch")]
pub use url::{Url, UrlError};

/// The address of the loopback that the outlets of all runs of a session answer on, and nobody else:
/// the init of a run connects its command to one port of it, that of the run's own outlet.
pub(crate) const OUTLETS: Ipv4Addr = Ipv4Addr::new(127, 82, 70, 1);

/// The port that a socket listens on.
pub(crate) fn port_of(listener: &OwnedFd) -> io::Result<u16> {
    let listener = std::net::TcpListener::from(listener.try_clone()?);
    Ok(listener.local_addr()?.port())
}
