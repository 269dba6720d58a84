//! A home for one test, with a workspace in it and nothing of the machine's own settings.

use std::fs;
use std::path::PathBuf;

/// A home that is removed with this value.
#[derive(Debug)]
pub struct TestHome {
    root: tempfile::TempDir,
}

#[allow(
    clippy::expect_used,
    clippy::new_without_default,
    reason = "a test without its folder cannot go on"
)]
impl TestHome {
    /// Makes one, outside `/tmp` since commands have a `/tmp` of their own.
    pub fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("ringfence-")
            .tempdir_in("/var/tmp")
            .expect("home");
        fs::create_dir_all(root.path().join("home/work")).expect("home");
        Self { root }
    }

    /// The home itself.
    pub fn path(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The workspace in it.
    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// A folder beside the home.
    pub fn outside(&self) -> PathBuf {
        let outside = self.root.path().join("outside");
        fs::create_dir_all(&outside).expect("outside");
        outside
    }
}
