//! The bubblewrap backend: the same policy through the system's `bwrap`, for machines where `bwrap`
//! may make namespaces and other programs may not.
//!
//! One `bwrap` holds the session: its network, IPC, `/tmp` and `/dev`, with a warden inside. Each
//! run gets another one, nested, with its PID namespace and its mounts (`warden/bubblewrap.rs`).
//! Landlock, seccomp, limits, marks, reaping and reports are the same code as elsewhere.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ringfence_confine::descriptor;

use crate::backend::SearchPath;
use crate::backend::native::ChildKeeper;
use crate::error::LaunchError;
use crate::line::{Farewell, Keeper, Line, WardenProgram, ends_within};
use crate::warden::WARDEN_ARGUMENT;
use crate::warden::protocol::{Boot, World};

/// Where `bwrap` is.
pub(crate) fn find(programs: &SearchPath) -> Result<PathBuf, LaunchError> {
    programs
        .find("bwrap")
        .ok_or_else(|| LaunchError::CannotEnforce {
            missing: vec!["bubblewrap: `bwrap` is not installed".to_owned()],
        })
}

/// Starts a warden in namespaces of `bwrap`'s making.
pub(crate) async fn open(
    program: &WardenProgram,
    bwrap: &Path,
    boot: &Boot,
) -> Result<Line, LaunchError> {
    let (ours, theirs) = descriptor::socket_pair().map_err(LaunchError::Warden)?;
    let program = File::open(program.path()).map_err(LaunchError::Warden)?;
    let child = Command::new(bwrap)
        .args(arguments(&boot.world, rustix::process::geteuid().is_root()))
        .arg("--new-session")
        // The warden's program is its standard output until it has been executed: a descriptor
        // that needs no name inside.
        .args(["--", "/proc/self/fd/1", WARDEN_ARGUMENT])
        .env_clear()
        .current_dir("/")
        // What is pressed at the user's terminal is not meant for `bwrap` either, which waits for the
        // warden outside of its namespaces.
        .process_group(0)
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::from(program))
        .stderr(Stdio::piped())
        .spawn()
        .map_err(LaunchError::Warden)?;
    let keeper = Box::new(BwrapKeeper(ChildKeeper::new(child, boot)));
    Line::open(ours, keeper, boot).await
}

/// The arguments that make a session's namespaces, and the workshop in `/run`.
fn arguments(world: &World, root: bool) -> Vec<String> {
    let World::Bubblewrap {
        own_network,
        tmp_bytes,
        ..
    } = world
    else {
        return Vec::new();
    };
    let mut arguments = vec!["--unshare-ipc", "--unshare-uts"];
    if *own_network {
        arguments.push("--unshare-net");
    }
    // Root keeps its identity, so that it can become the workspace's owner inside.
    if !root {
        arguments.push("--unshare-user");
    }
    arguments.extend(["--dev-bind", "/", "/"]);
    arguments.extend(["--perms", "0755", "--tmpfs", "/run"]);
    let size = tmp_bytes.map(|bytes| bytes.to_string());
    if let Some(size) = &size {
        arguments.extend(["--size", size]);
    }
    arguments.extend(["--perms", "1777", "--tmpfs", "/run/tmp"]);
    arguments.extend(["--dev", "/run/dev"]);
    if let Some(size) = &size {
        arguments.extend(["--size", size]);
    }
    arguments.extend(["--perms", "1777", "--tmpfs", "/run/dev/shm"]);
    arguments.into_iter().map(str::to_owned).collect()
}

/// A warden below a `bwrap` that is a child of ours.
struct BwrapKeeper(ChildKeeper);

impl Keeper for BwrapKeeper {
    fn end(&mut self, farewell: Farewell) {
        self.0.end(farewell);
    }

    fn said(&mut self) -> Option<String> {
        let child = self.0.child()?;
        if !ends_within(child, Duration::from_secs(2)) {
            return None;
        }
        let mut said = Vec::new();
        let mut stderr = child.stderr.take()?;
        rustix::io::ioctl_fionbio(&stderr, true).ok()?;
        // What can be read without waiting: somebody may still hold the other end.
        let _ = stderr.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        Some(format!("bubblewrap: {}", said.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warden::protocol::{Groups, RawPath};

    #[test]
    fn a_session_shares_its_network_and_tmp() {
        let world = |own_network, tmp_bytes| World::Bubblewrap {
            bwrap: RawPath::from(Path::new("/usr/bin/bwrap")),
            own_network,
            tmp_bytes,
            groups: Groups::default(),
        };
        let common = "--dev-bind / / --perms 0755 --tmpfs /run";
        let rest = |size: &str| {
            format!(
                "{size}--perms 1777 --tmpfs /run/tmp --dev /run/dev \
                 {size}--perms 1777 --tmpfs /run/dev/shm"
            )
        };
        for (world, root, expected) in [
            (
                world(true, Some(4096)),
                false,
                format!(
                    "--unshare-net --unshare-user {common} {}",
                    rest("--size 4096 ")
                ),
            ),
            (world(false, None), true, format!("{common} {}", rest(""))),
        ] {
            let expected = format!("--unshare-ipc --unshare-uts {expected}");
            assert_eq!(arguments(&world, root).join(" "), expected);
        }
    }
}
