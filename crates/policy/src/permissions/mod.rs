//! Permissions as plain data: how far a command may reach (`sandbox`), how much it may use
//! (`limits`), what it inherits (`environment`) and when a person is asked (`approval`).
//!
//! Nothing here touches the machine. Paths are taken as given: whoever builds a policy resolves
//! them first.

mod approval;
mod environment;
mod git;
mod limits;
mod sandbox;
mod startup;

pub use approval::ApprovalPolicy;
pub use environment::{
    CORE_VARIABLES, EnvironmentPolicy, Inherit, LOADER_PATTERNS, SECRET_PATTERNS, is_loader_name,
    is_secret_name,
};
pub use git::{GIT_SETUP, GIT_WORK_TREE_SETUP, git_setup};
pub use limits::{ControlGroups, Limit, Limits};
pub use sandbox::{
    DEFAULT_DENIED_IN_HOME, DEFAULT_DENIED_IN_SYSTEM, DEFAULT_PROTECTED, Lookout, Network,
    PROTECTED_WHEN_THERE, SandboxMode, SandboxPolicy, TmpPolicy,
};
pub use startup::{
    Hold, START_UP_IN_HOME, START_UP_IN_ROOTS, StartUp, start_up_paths, start_up_reason,
};
