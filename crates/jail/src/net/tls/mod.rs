//! TLS: its first message, which names the host, and its end here where headers are added inside.

mod authority;
mod hello;
mod terminator;
mod trust;

pub use authority::{Authority, AuthorityError};
pub(super) use hello::{HANDSHAKE, read_hello};
pub use terminator::{Terminator, TerminatorError};
pub use trust::{Trust, TrustError};
