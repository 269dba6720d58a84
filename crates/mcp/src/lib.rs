//! The Model Context Protocol as a front door: an agent reaches an engine's tools by it.
//!
//! A [`House`] opens engines and keeps what its clients share; a [`Server`] serves one client of it, in the
//! generation of the protocol that the client speaks: 2025-06-18 and 2025-11-25 (`initialize`, questions by
//! elicitation) or 2026-07-28 (no handshake, questions as results that ask for input). [`serve_lines`] and
//! [`http`] carry its messages.
//!
//! **Invariant:** an engine is reached by its public interface alone. Each request is answered once; a call
//! that waits for an answer goes on where it stopped, and never runs twice.

mod approver;
mod catalogue;
mod flight;
mod form;
mod house;
pub mod http;
mod instructions;
mod lines;
mod manner;
mod outputs;
mod parked;
mod profile;
mod refusal;
mod reply;
mod secret;
mod server;
mod session;
mod watch;

pub use house::{House, Limits, Rooms};
pub use lines::serve_lines;
pub use profile::Profile;
/// Standard input and output, without a thread for each reading where they are pipes.
pub use rmcp::transport::io::stdio_pipes;
pub use secret::secret;
pub use server::Server;
/// What ends serving.
pub use tokio_util::sync::CancellationToken;
