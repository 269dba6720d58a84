//! The lists that hold when nobody sets anything: what cannot be read, and what cannot be changed.

use ringfence_policy::permissions::{
    DEFAULT_DENIED_IN_HOME, DEFAULT_DENIED_IN_SYSTEM, DEFAULT_PROTECTED, Hold, START_UP_IN_HOME,
    START_UP_IN_ROOTS, StartUp, start_up_paths,
};
use serde::Serialize;

/// One of the lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BuiltIn {
    /// The key that adds to it.
    pub adds: &'static str,
    /// The key that takes entries out of it.
    pub lifts: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Its entries: below `~`, absolute, or relative to every writable root.
    pub paths: Vec<String>,
}

/// Every list.
pub fn built_in() -> Vec<BuiltIn> {
    let home = |names: &[&str]| names.iter().map(|name| format!("~/{name}")).collect();
    let plain = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let reads = ("sandbox.denied_reads", "sandbox.allowed_reads");
    let changes = ("sandbox.protected_paths", "sandbox.unprotected_paths");
    let list = |(adds, lifts), what, paths| BuiltIn {
        adds,
        lifts,
        what,
        paths,
    };
    vec![
        list(
            reads,
            "Keys, credentials and other agents' state in the home folder. Commands cannot read them.",
            home(DEFAULT_DENIED_IN_HOME),
        ),
        list(
            reads,
            "Files of the system that commands cannot read, whoever runs them.",
            plain(DEFAULT_DENIED_IN_SYSTEM),
        ),
        list(
            changes,
            "What runs code for you later. Commands cannot change or make it at the top of any writable root.",
            plain(DEFAULT_PROTECTED),
        ),
        list(
            changes,
            "What every new terminal or git command reads. It matters where the home folder is writable.",
            home(&start_up(START_UP_IN_HOME, Hold::WhenAbsent)),
        ),
        list(
            changes,
            "What other programs run when they start, in the home folder: it cannot be changed, and is set aside where a command made it.",
            home(&start_up(START_UP_IN_HOME, Hold::WhenThere)),
        ),
        list(
            changes,
            "The same at the top of any writable root.",
            plain(&start_up(START_UP_IN_ROOTS, Hold::WhenThere)),
        ),
    ]
}

fn start_up(table: &[StartUp], hold: Hold) -> Vec<&'static str> {
    start_up_paths(table, hold).collect()
}
