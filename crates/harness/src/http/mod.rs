//! HTTP requests that the harness sends itself, for scripts and models.
//!
//! - `journey`: a request with what is left of its time and its redirects, and where an answer leads it
//! - `arrival`: what came back in the end, without the secrets that were added on the way out
//!
//! Sending is the jail's (`net::send`), with a permit for each step. `engine/entry/send_http` takes every step
//! through the door.

mod arrival;
mod error;
mod journey;

pub(crate) use arrival::Arrival;
pub use error::HttpError;
pub(crate) use journey::Journey;
