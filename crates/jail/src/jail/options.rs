//! What a jail is opened with.

use std::path::PathBuf;

use crate::backend::{Choice, ContainerOptions, SearchPath};
use crate::line::WardenProgram;

/// What a jail is opened with.
#[derive(Debug, Clone)]
pub struct JailOptions {
    /// Who serves as warden.
    pub program: WardenProgram,
    /// The workspace. A root harness runs fenced commands as its owner.
    pub workspace: PathBuf,
    /// Whether a machine without namespaces may fence with what it has.
    pub degraded: Degraded,
    /// What builds the fence.
    pub backend: Choice,
    /// How the container backend works.
    pub container: ContainerOptions,
    /// Where `bwrap`, `podman` and `docker` are looked for.
    pub programs: SearchPath,
    /// The certificates that commands are to trust, as PEM, where they differ from the machine's.
    pub certificates: Option<Vec<u8>>,
    /// Sockets of the machine's, by their paths, that commands can connect to.
    pub unix_sockets: Vec<PathBuf>,
    /// How many launches are expected.
    pub launches: Launches,
    /// A folder of the front end's, out of reach of commands, in which sessions keep track of the
    /// names that they hold. All that may work in the same folders should share it. Protected paths
    /// that do not exist cannot be held without one.
    pub marks: Option<PathBuf>,
}

impl JailOptions {
    /// The usual ones: the best fence there is, and nothing less than the policy.
    pub fn new(program: WardenProgram, workspace: impl Into<PathBuf>) -> Self {
        Self {
            program,
            workspace: workspace.into(),
            degraded: Degraded::Refuse,
            backend: Choice::Auto,
            container: ContainerOptions::default(),
            programs: SearchPath::default(),
            certificates: None,
            unix_sockets: Vec::new(),
            launches: Launches::Many,
            marks: None,
        }
    }
}

/// How many launches a jail is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launches {
    /// One: nothing is prepared for another.
    One,
    /// Many: the next one is prepared while a command runs.
    Many,
}

/// What to do where namespaces are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Degraded {
    /// Refuse policies that cannot be enforced whole.
    Refuse,
    /// Go on with Landlock and seccomp, and without what only namespaces give.
    Allow,
}

/// Whether fenced commands have namespaces here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strength {
    /// Namespaces, Landlock and seccomp.
    Whole,
    /// Landlock and seccomp alone.
    Degraded,
}
