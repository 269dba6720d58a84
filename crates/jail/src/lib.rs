//! Where does it run?
//!
//! The only crate that starts commands. It takes a [`Permit`](ringfence_policy::Permit) by value,
//! confines what it permits and gives back a [`Process`].
//!
//! - [`Session`]: the wardens whose runs share a network, IPC and a `/tmp`, and the launch
//! - [`Process`]: a running command, killed with everything it started when dropped
//! - `warden`: the other side, in a process of its own
//!
//! It does not judge, ask, keep output or write logs.

pub mod doctor;
mod error;
mod line;
mod plan;
mod process;
mod repositories;
mod session;
mod surroundings;
mod terminal;
mod warden;

pub use error::LaunchError;
pub use line::WardenProgram;
pub use process::{Exit, LeftRunning, Output, Process};
pub use session::{Degraded, Input, Io, Session, SessionOptions, Strength};
pub use terminal::{Terminal, TerminalSize};
pub use warden::WARDEN_ARGUMENT;

/// Serves as a warden if the program was started as one. Call this first thing in `main`, while
/// the process has a single thread; it returns at once in an ordinary start.
pub fn serve_if_asked() {
    if std::env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == WARDEN_ARGUMENT)
    {
        warden::serve()
    }
}
