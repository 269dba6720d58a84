//! The network of a session: which hosts its commands reach, and what is added on the way.
//!
//! The jail's proxy asks about every connection (`gate`); the desk answers as it does for
//! commands. What is added to requests stands in the configuration and is read from the harness's
//! environment (`inject`). Which rules there are besides those of the rules files comes from the
//! configuration too. Requests that the harness sends itself are asked about once for each host and script
//! (`answers`), and what was added to one is taken out of its answer (`mask`).

mod answers;
#[cfg(feature = "commands")]
mod gate;
#[cfg(feature = "commands")]
mod inject;
#[cfg(feature = "commands")]
mod mask;
#[cfg(feature = "commands")]
mod pending;
mod rules;
#[cfg(feature = "commands")]
mod session;

pub(crate) use answers::HostAnswers;
#[cfg(feature = "commands")]
pub use inject::InjectError;
#[cfg(feature = "commands")]
pub(crate) use inject::Injections;
#[cfg(feature = "commands")]
pub(crate) use mask::Mask;
#[cfg(feature = "commands")]
pub(crate) use pending::{Pending, Turn};
pub(crate) use rules::{presets_of, rules_of};
#[cfg(feature = "commands")]
pub(crate) use session::{ConnectionRefusals, SessionNetwork, terminator};
