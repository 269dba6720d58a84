//! How is a model reached?
//!
//! A [`Client`] sends a body to an API at an [`Endpoint`] and hands out the answer as its bytes come. It tries
//! again what may pass, waits as long as it is told to, and keeps time. What the bytes mean is read elsewhere
//! (`ringfence-dialect`).
//!
//! - [`reach`]: a client as the loop of the harness uses one
//! - [`client`]: requests, answers, retries, connections
//! - [`endpoint`]: where an API is, and which headers carry the key there
//! - [`retry`]: what is tried again, and after how long
//! - [`secret`]: a key, which nobody can read again
//!
//! **Invariant:** the harness does not depend on this crate. A key lives in a [`Secret`], which has no way out but
//! the header of a request; so nothing that runs, records or confines can name one.
//!
//! **Invariant:** this crate starts nothing and judges nothing. It talks to the place that the user named, and to
//! no other: it follows no redirect.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod client;
pub mod endpoint;
pub mod error;
pub mod reach;
pub mod retry;
pub mod secret;

pub use client::{Answer, Client, Limits, Options};
pub use endpoint::{Endpoint, KeyHeader};
pub use error::ModelError;
pub use reach::Reach;
pub use retry::{Retries, Waiting};
pub use secret::Secret;
