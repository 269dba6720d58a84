//! TLS: its first message, which names the host.

mod hello;

pub(super) use hello::{HANDSHAKE, read_hello};
