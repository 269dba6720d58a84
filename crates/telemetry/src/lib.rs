//! Metrics and traces of what engines do, made from their events and from nothing else.
//!
//! [`Telemetry`] is a [`Listener`](ringfence::event::Listener): given to an engine, or to several, it counts and
//! measures what it hears ([`names`] is the list), and puts spans together: a turn, the calls in it, and of each call
//! what judging, asking, launching and running took. What it has counted is a page for Prometheus
//! ([`Telemetry::page`]); an `otlp::Exporter` sends metrics and spans to a collector; with the feature `tracing` the spans
//! are those of the embedder's subscriber (`TracingSpans`).
//!
//! A program that gives no such listener to its engines pays nothing for any of this.
//!
//! **Invariant:** nothing here waits for anybody: hearing an event takes a lock that is never held for long, and what a
//! collector does not take in time is dropped and counted. **Invariant:** a command's text leaves as its hash, and
//! output not at all, unless [`Detail`] says otherwise; label values and their number are bounded.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod identity;
mod label;
pub mod names;
#[cfg(feature = "otlp")]
pub mod otlp;
mod page;
mod preview;
mod reference;
mod registry;
mod span;
mod telemetry;
mod tracer;
#[cfg(feature = "tracing")]
mod tracing_spans;

pub use identity::{span_of, trace_of};
pub use reference::reference;
pub use span::{Attribute, Span};
pub use telemetry::{Detail, Telemetry};
#[cfg(feature = "tracing")]
pub use tracing_spans::TracingSpans;
