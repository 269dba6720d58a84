//! A folder for one test: a workspace, a home with things to steal, and somewhere outside.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

/// A folder that is removed with this value.
#[derive(Debug)]
pub struct Scratch {
    root: tempfile::TempDir,
}

impl Scratch {
    /// Makes one, outside `/tmp` since commands have a `/tmp` of their own.
    pub fn new() -> Self {
        Self::below(Path::new("/var/tmp"))
    }

    /// Makes one below a folder.
    #[allow(clippy::expect_used, reason = "a test without a folder cannot go on")]
    pub fn below(folder: &Path) -> Self {
        let root = tempfile::Builder::new()
            .prefix("ringfence-")
            .tempdir_in(folder)
            .expect("scratch");
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).expect("scratch");
        let scratch = Self { root };
        for name in ["workspace", "home", "outside"] {
            fs::create_dir(scratch.root.path().join(name)).expect("scratch");
        }
        scratch
    }

    /// The folder that commands may write.
    pub fn workspace(&self) -> PathBuf {
        self.root.path().join("workspace")
    }

    /// The home folder.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// A folder of the same user's that commands may not write.
    pub fn outside(&self) -> PathBuf {
        self.root.path().join("outside")
    }

    /// Where sessions keep track of what they hold.
    pub fn marks(&self) -> PathBuf {
        self.root.path().join("marks")
    }

    /// Gives everything to a user.
    #[allow(clippy::expect_used, reason = "a test without its folder cannot go on")]
    pub fn give_to(&self, uid: u32, gid: u32) {
        fn give(path: &Path, uid: u32, gid: u32) {
            std::os::unix::fs::lchown(path, Some(uid), Some(gid)).expect("chown");
            if path.is_dir() && !path.is_symlink() {
                for entry in fs::read_dir(path).expect("read_dir") {
                    give(&entry.expect("entry").path(), uid, gid);
                }
            }
        }
        give(self.root.path(), uid, gid);
        chown(self.root.path(), Some(uid), Some(gid)).expect("chown");
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}
