//! Where does it run?
//!
//! The only crate that starts commands. It takes a [`Permit`](ringfence_policy::Permit) by value,
//! confines what it permits and gives back a [`Process`].
//!
//! - [`Session`]: the wardens whose runs share a network, IPC and a `/tmp`, and the launch
//! - [`Process`]: a running command, killed with everything it started when dropped
//! - [`backend`]: what builds the fence: native, bubblewrap, container
//! - `git`: what git would run, kept as it is across a run
//! - `warden`: the other side, in a process of its own
//!
//! It does not judge, ask, keep output or write logs.

pub mod backend;
pub mod doctor;
mod error;
mod git;
mod line;
pub mod mark;
pub mod net;
mod plan;
mod process;
mod session;
mod startup;
mod surroundings;
mod survey;
mod terminal;
mod warden;

pub use backend::forked::Forked;
pub use backend::{Backend, Choice, ContainerEngine, ContainerOptions, Holder, SearchPath};
pub use error::LaunchError;
pub use git::{Amends, Mended};
pub use line::WardenProgram;
pub use process::{Exit, LeftRunning, Output, Process, Refusal};
pub use session::{Degraded, Input, Io, Launches, Session, SessionOptions, Strength};
pub use terminal::{Terminal, TerminalSize};
pub use warden::WARDEN_ARGUMENT;

/// Serves as a warden, or as a stage of one, if the program was started as that. Call this first
/// thing in `main`, while the process has a single thread; it returns at once in an ordinary start.
pub fn serve_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some(WARDEN_ARGUMENT.as_ref()) {
        warden::serve(arguments.next().as_deref())
    }
    if first.as_deref() == Some(warden::STAGE_ARGUMENT.as_ref()) {
        warden::serve_inside(arguments.next().as_deref())
    }
    if first.as_deref() == Some(backend::container::janitor::JANITOR_ARGUMENT.as_ref()) {
        backend::container::janitor::serve(arguments)
    }
}
