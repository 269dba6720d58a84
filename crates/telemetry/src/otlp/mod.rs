//! Export to a collector: OTLP over HTTP, in protobuf.
//!
//! - `settings`: where to, as configured and as the standard variables say
//! - `exporter`: a thread of its own with a bounded queue
//! - `message`: spans and metrics as messages; `protobuf`: the few forms of the wire that those need
//! - `post`: one request
//!
//! The messages are written by hand: they are few, have not changed in years, and a test has the official decoder read
//! them. A code generator's crates and the SDK would be a megabyte and a second set of queues.

mod exporter;
mod message;
mod post;
mod protobuf;
mod settings;

pub use exporter::{Exporter, Undelivered};
pub use settings::{Settings, SettingsError};
