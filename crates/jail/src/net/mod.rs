//! The network of a run with an allow-list: a proxy that answers inside the session's network and
//! connects outside of it.
//!
//! The run's own network is a loopback and nothing else. A socket that listens there was made by
//! the warden and handed out (`outlet`); the harness answers on it, so nothing of ours runs in the
//! fence. Whoever connects speaks HTTP or SOCKS (`door`). Each host is put to the [`Gate`], looked
//! up once, and connected to at the very address that was judged (`upstream`). What flows then is
//! HTTP that is read request by request (`http`), TLS whose first message names the host (`tls`),
//! or bytes (`tunnel`).
//!
//! Runs of a session share its network and not their outlets: all of those have one address, to
//! which nobody is connected but a run to its own port (`warden::connections`).
//!
//! It does not judge: the gate does, and hands over a permit.

mod door;
mod environment;
mod gate;
mod http;
mod outlet;
mod socks;
mod target;
mod tls;
mod tunnel;
mod upstream;

pub use environment::{certificate_variables, proxy_variables};
pub use gate::{Admission, Bounds, Closed, Gate, Refusal, Traffic, Wanted};
pub use http::{Header, HeaderError};
pub(crate) use outlet::{OUTLETS, Outlet, port_of};
pub use tls::{Authority, AuthorityError, Terminator, TerminatorError};
