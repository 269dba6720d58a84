//! The escape suite: one file per way in which fences have been beaten.
//!
//! Each attempt has a harmless twin that does almost the same and must succeed, so that a test
//! that cannot tell the difference is noticed. Each runs as root and as an ordinary user. The
//! program is its own warden, its own prober inside the fence, and its own ordinary user.

#![allow(
    unsafe_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr
)]
#![allow(missing_docs, unreachable_pub, clippy::needless_raw_string_hashes)]

mod attempts;
mod fence;
mod probe;

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use attempts::{ATTEMPTS, Attempt};
use fence::Fence;
use libtest_mimic::{Arguments, Failed, Trial};
use ringfence_confine::account::Account;
use ringfence_testkit::scratch::Scratch;
use ringfence_testkit::{identity, require};
use tempfile::TempDir;

/// Whom an attempt runs as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Root,
    User,
}

fn main() {
    ringfence_jail::serve_if_asked();
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("__probe") => std::process::exit(probe::run(&arguments[2..])),
        Some("__attempt") => attempt_here(&arguments[2]),
        _ => {}
    }
    let root = identity::is_root();
    // Made before the trials start: a program that is being written while another thread forks
    // cannot be executed.
    COPY.set(Copy::make().expect("a copy of this program")).ok();
    let mut trials = Vec::new();
    for attempt in ATTEMPTS {
        trials.push(Trial::test(format!("user::{}", attempt.name), || {
            outer(attempt, Who::User)
        }));
        if root {
            trials.push(Trial::test(format!("root::{}", attempt.name), || {
                outer(attempt, Who::Root)
            }));
        }
    }
    if !root {
        require::missing("root", "attempts run under one identity only");
    }
    let arguments = Arguments::from_args();
    let listing = arguments.list;
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !listing {
        let each = ATTEMPTS.len();
        println!(
            "identities: {each} attempts and twins as an ordinary user, {} as root",
            if root { each } else { 0 }
        );
    }
    let failed = conclusion.has_failed();
    if let Some(copy) = COPY.get() {
        let _ = std::fs::remove_dir_all(copy.folder.path());
    }
    std::process::exit(if failed { 101 } else { 0 });
}

static COPY: OnceLock<Copy> = OnceLock::new();

/// This program, where an ordinary user can read it, and outside `/tmp`, so that it can be run
/// inside the fence wherever it was built.
struct Copy {
    folder: TempDir,
    program: PathBuf,
    /// The ordinary user, if this is root.
    user: Option<Account>,
}

impl Copy {
    fn make() -> Result<Self, String> {
        let folder = tempfile::Builder::new()
            .prefix("escape-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let program = folder.path().join("escape");
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), mode).unwrap();
        let user = if identity::is_root() {
            Some(identity::ordinary_user()?)
        } else {
            None
        };
        Ok(Self {
            folder,
            program,
            user,
        })
    }
}

/// Runs an attempt in a process of its own, as somebody.
fn outer(attempt: &'static Attempt, who: Who) -> Result<(), Failed> {
    let copy = COPY.get().expect("made in main");
    let mut command = Command::new(&copy.program);
    if let (Who::User, Some(user)) = (who, &copy.user) {
        command.uid(user.uid).gid(user.gid).env("HOME", &user.home);
    }
    let output = command
        .args(["__attempt", attempt.name])
        .current_dir("/")
        .output()
        .unwrap();
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&text)).into())
}

fn attempt_here(name: &str) -> ! {
    let attempt = ATTEMPTS
        .iter()
        .find(|attempt| attempt.name == name)
        .expect("attempt");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let problem = runtime.block_on(try_both(attempt));
    if let Some(problem) = &problem {
        println!("{problem}");
    }
    std::process::exit(i32::from(problem.is_some()));
}

/// The attempt must fail, its twin succeed, and nothing be left behind.
async fn try_both(attempt: &Attempt) -> Option<String> {
    let mut fence = Fence::new(Scratch::below(std::path::Path::new(attempt.below)));
    (attempt.prepare)(&mut fence);
    let before = listing(&fence);
    let done = fence.run(attempt.attack).await;
    if (attempt.escaped)(&fence, &done) {
        return Some(format!("ESCAPED: {done:?}"));
    }
    let twin = fence.run(attempt.twin).await;
    if !(attempt.worked)(&fence, &twin) {
        return Some(format!(
            "the twin failed: {twin:?}; the attempt had {done:?}"
        ));
    }
    let workspace = fence.workspace();
    let Fence {
        session, scratch, ..
    } = fence;
    drop(session);
    let left: Vec<_> = placeholders(&workspace)
        .into_iter()
        .filter(|name| !before.contains(name))
        .collect();
    drop(scratch);
    (!left.is_empty()).then(|| format!("left behind in the workspace: {left:?}"))
}

fn listing(fence: &Fence) -> Vec<String> {
    placeholders(&fence.workspace())
}

/// The protected names that exist in a workspace.
fn placeholders(workspace: &std::path::Path) -> Vec<String> {
    ringfence_policy::permissions::DEFAULT_PROTECTED
        .iter()
        .flat_map(|name| [name.split('/').next().unwrap(), name])
        .filter(|name| workspace.join(name).symlink_metadata().is_ok())
        .map(str::to_owned)
        .collect()
}
