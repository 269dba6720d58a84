//! The session protocol: JSON-RPC 2.0 between a program in any language and an engine.
//!
//! A [`Dispatcher`] takes the messages of one client, in any order and as many at once as it likes, and
//! has an [`Engine`](ringfence::Engine) do what they ask for. What it has to say to the client comes out of
//! [`Outgoing`]: replies, events, questions that the client answers, and calls of the functions that the
//! client lends to code. What crosses is in [`wire`], as types, from which [`description`] follows.
//!
//! **Invariant:** no transport here. Nothing is read, written, listened on or started: whoever has a pipe, a
//! socket or a web page hands in what came over it, and takes out what goes there. An engine is reached by its
//! public interface alone, and opened by the front end's [`Opener`].
//!
//! What other front doors need as well is public besides: [`Turns`], [`Lineage`], a question's
//! parameters and wording ([`question_params`], [`question_text`], [`reveal`]).

#![deny(missing_docs)]

mod answering;
mod batch;
mod bridge;
mod calls;
mod dispatcher;
mod events;
mod handles;
mod lineage;
mod link;
mod methods;
mod opener;
mod outbox;
pub mod question_text;
mod reference;
mod requests;
pub mod reveal;
mod rpc;
mod turns;
pub mod wire;

mod description;

pub use answering::{params as question_params, read as read_answer};
pub use description::{VERSION, description};
pub use dispatcher::{Dispatcher, MessageLimits, still_running};
pub use events::told;
pub use lineage::Lineage;
pub use opener::{OpenError, Opener, Parts};
pub use outbox::{Outgoing, Written};
pub use reference::reference;
pub use turns::{Turn, Turns};
