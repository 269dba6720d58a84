//! What a session's commands start from: the user's shell and the environment.

mod environment;
mod shell;

pub use environment::{base_environment, merge_login_environment, parse_environment};
pub use shell::{ShellError, detect_shell};
