//! What a session's commands start from: the user's shell and the environment.

mod environment;
mod shell;

pub use environment::{base_environment, merge_login_environment, parse_environment};
pub(crate) use shell::owned_by_the_user;
pub use shell::{ShellError, detect_shell, named_shell};
