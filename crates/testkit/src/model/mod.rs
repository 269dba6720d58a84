//! A fake model server: answers requests of the three model APIs, and those of Gemini's, from a script, over real sockets.
//!
//! - [`script`]: what it answers, in which order and with which faults
//! - `wire`: an answer in the words of one API, whole and streamed
//! - `exchange`: one HTTP request read and its answer written, down to the byte
//! - `server`: who is connected, and what was asked
//!
//! It is written with blocking sockets and a thread for each connection, because it has to do what no
//! proper server does: stop at the n-th byte, write in pieces that end in the middle of a character, fall
//! silent. Nothing of the program is used here, so that nothing of it is tested against itself.

mod exchange;
pub mod script;
mod server;
mod wire;

pub use exchange::Request;
pub use script::{Answer, Call, Part, Script};
pub use server::FakeModel;
pub use wire::Api;
