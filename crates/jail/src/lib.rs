//! Where does it run?
//!
//! The only crate that starts commands. It takes a [`Permit`](ringfence_policy::Permit) by value,
//! confines what it permits and gives back a [`Process`].
//!
//! - [`Jail`]: the wardens whose runs share a network, IPC and a `/tmp`, and the launch
//! - [`Process`]: a running command, killed with everything it started when dropped
//! - [`backend`]: what builds the fence: native, bubblewrap, container
//! - `git`: what git would run, kept as it is across a run; `names`: protected names, likewise
//! - `warden`: the other side, in a process of its own
//!
//! It does not judge, ask, keep output or write logs.

#![deny(missing_docs)]
#![cfg_attr(
    not(feature = "launch"),
    allow(dead_code, unused_imports, reason = "most of it serves launches")
)]

pub mod backend;
pub mod doctor;
mod error;
mod git;
mod jail;
mod line;
pub mod mark;
mod names;
pub mod net;
mod plan;
mod process;
mod real_paths;
mod standing;
mod startup;
mod surroundings;
mod survey;
mod terminal;
mod testament;
mod warden;
mod ways;

pub use backend::native::ForkedWarden;
pub use backend::{Backend, Choice, ContainerEngine, ContainerOptions, Holder, SearchPath};
pub use error::LaunchError;
pub use git::{Amends, Repair};
pub use jail::{Degraded, Input, Io, Jail, JailOptions, Launches, Strength};
pub use line::WardenProgram;
pub use process::{DeniedAccess, Exit, LeftRunning, Output, Process};
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
