//! The gateway: a front door for whoever speaks a model's API already.
//!
//! It answers by the three APIs, asks the real provider, runs the scripts in what comes back, tells the model what
//! came of them, and goes on until the model is done. The client sees one answer, with everything that was said,
//! the scripts, and what came of each.
//!
//! - [`Gateway`]: what it serves with, and the loop that takes in connections
//! - `door`: who may come in
//! - `exchange`: one request of a client's, and the rounds with the provider that it takes
//! - `splice`: the events of several answers as those of one; `whole`: the same for whole answers
//! - `scripts`: the scripts of a turn, run by the engine
//! - `instructions`: how a model is told about scripts; `successors`: ids of answers that took several rounds
//! - `outflow`: what goes to the client; `headers`: which headers go along; `refusal`: what is answered otherwise
//!
//! **Invariant:** what is the client's stays the client's: structured calls are handed to it and never run here, and
//! what is not understood is passed on as it came.
//!
//! **Invariant:** nothing runs but through the engine. The key of the provider is in the client of `ringfence-model`
//! and nowhere else.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod door;
mod exchange;
mod gateway;
mod headers;
mod instructions;
mod outflow;
mod refusal;
mod scripts;
mod splice;
mod successors;
mod whole;

pub use door::Token;
pub use gateway::{Gateway, GatewayError, Limits, MetricsPage, Upstream, Upstreams};
