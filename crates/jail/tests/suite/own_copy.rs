//! This program where an ordinary user can read it, and outside `/tmp`, so that it can be run
//! inside the fence wherever it was built.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use libtest_mimic::Failed;
use ringfence_confine::account::Account;
use ringfence_testkit::identity;
use tempfile::TempDir;

use super::{Surroundings, Where};

static COPY: OnceLock<OwnCopy> = OnceLock::new();

/// The copy of this program.
pub struct OwnCopy {
    folder: TempDir,
    program: PathBuf,
    /// The ordinary user, if this is root.
    user: Option<Account>,
}

impl OwnCopy {
    /// Makes it, before the trials start: a program that is being written while another thread forks
    /// cannot be executed.
    pub fn make() {
        let folder = tempfile::Builder::new()
            .prefix("ringfence-suite-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let program = folder.path().join("suite");
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), mode).unwrap();
        let user = identity::is_root().then(|| identity::ordinary_user().expect("a user"));
        let copy = Self {
            folder,
            program,
            user,
        };
        assert!(COPY.set(copy).is_ok(), "one copy is enough");
    }

    /// Removes it and ends this program.
    pub fn finish(failed: bool) -> ! {
        if let Some(copy) = COPY.get() {
            let _ = std::fs::remove_dir_all(copy.folder.path());
        }
        std::process::exit(if failed { 101 } else { 0 });
    }

    /// Runs a trial in a process of its own, somewhere, as the ordinary user or as oneself.
    pub fn try_out(
        at: Where,
        as_user: bool,
        surroundings: &Surroundings,
        words: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Result<(), Failed> {
        let copy = COPY.get().expect("made in main");
        let user = copy.user.as_ref().filter(|_| as_user);
        let Some(variables) = surroundings.variables(at, user) else {
            return Ok(());
        };
        let mut command = at.command(&copy.program);
        if let Some(user) = user {
            command.uid(user.uid).gid(user.gid).env("HOME", &user.home);
        }
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        let output = words(command.current_dir("/")).output().unwrap();
        if output.status.success() {
            return Ok(());
        }
        let text = [output.stdout, output.stderr].concat();
        Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&text)).into())
    }
}
