//! The namespaces and mounts that the fence has, by bubblewrap.

use std::path::Path;
use std::process::Command;

/// Runs a program in a workspace through `bwrap`.
pub fn command(workspace: &Path, program: &str) -> Command {
    let mut command = Command::new("bwrap");
    command.args([
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-net",
    ]);
    command.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    command.args(["--tmpfs", "/tmp", "--tmpfs", "/run"]);
    command.arg("--bind").args([workspace, workspace]);
    command.args(["--new-session", "--die-with-parent", "--cap-drop", "ALL"]);
    command.arg("--chdir").arg(workspace).args(["--", program]);
    command
}
