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

pub use approval::ApprovalPolicy;
pub use environment::{EnvironmentPolicy, Inherit};
pub use git::{GIT_SETUP, GIT_WORK_TREE_SETUP, git_setup};
pub use limits::{ControlGroups, Limit, Limits};
pub use sandbox::{Lookout, Network, SandboxMode, SandboxPolicy, TmpPolicy};
