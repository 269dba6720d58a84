//! The escape suite: one file per way in which fences have been beaten.
//!
//! Each attempt has a harmless twin that does almost the same and must succeed, so that a test
//! that cannot tell the difference is noticed. Each runs with every backend, and on a machine
//! without namespaces, as root and as an ordinary user. What cannot be held somewhere must be
//! impossible to configure there (`situation`). The program is its own warden, its own prober
//! inside the fence, and its own ordinary user.

#![allow(
    unsafe_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr
)]
#![allow(missing_docs, unreachable_pub, clippy::needless_raw_string_hashes)]

mod attempts;
mod conduct;
mod daemon;
mod fence;
mod probe;
mod replaced;
mod situation;

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use attempts::{ATTEMPTS, Attempt};
use conduct::CONDUCTS;
use fence::Fence;
use libtest_mimic::{Arguments, Failed, Trial};
use ringfence_confine::account::Account;
use ringfence_jail::LaunchError;
use ringfence_testkit::podman::Podman;
use ringfence_testkit::scratch::Scratch;
use ringfence_testkit::{identity, require};
use situation::{Expected, Where};
use tempfile::TempDir;

/// Whom an attempt runs as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Root,
    User,
}

impl Who {
    fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::User => "user",
        }
    }
}

fn main() {
    ringfence_jail::serve_if_asked();
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("__probe") => std::process::exit(probe::run(&arguments[2..])),
        Some("__attempt") => attempt_here(&arguments[2], &arguments[3]),
        Some("__conduct") => conduct_here(&arguments[2], &arguments[3]),
        Some("__harness") => {
            let harness = conduct::be_a_harness(Where::named(&arguments[2]), &arguments[3]);
            runtime().block_on(harness);
        }
        _ => {}
    }
    let root = identity::is_root();
    // Made before the trials start: a program that is being written while another thread forks
    // cannot be executed.
    COPY.set(Copy::make().expect("a copy of this program")).ok();
    if !root {
        require::missing("root", "attempts run under one identity only");
    }
    let arguments = Arguments::from_args();
    let listing = arguments.list;
    let mut trials = Vec::new();
    let mut counts = Vec::new();
    for situation in Where::ALL {
        for who in [Who::User, Who::Root] {
            if who == Who::Root && !root {
                continue;
            }
            let surroundings = Arc::new(Surroundings::default());
            counts.push(format!(
                "{} {} {}",
                ATTEMPTS.len(),
                situation.name(),
                who.name()
            ));
            trials.extend(ATTEMPTS.iter().map(|attempt| {
                let name = format!("{}::{}::{}", situation.name(), who.name(), attempt.name);
                let surroundings = Arc::clone(&surroundings);
                Trial::test(name, move || {
                    let expected = situation.expected(attempt, who);
                    outer(
                        ["__attempt", attempt.name],
                        expected,
                        situation,
                        who,
                        &surroundings,
                    )
                })
            }));
            let conducts = CONDUCTS
                .iter()
                .filter(|known| known.at.contains(&situation) && known.who.contains(&who));
            trials.extend(conducts.map(|conduct| {
                let name = format!(
                    "{}::{}::conduct::{}",
                    situation.name(),
                    who.name(),
                    conduct.name
                );
                let surroundings = Arc::clone(&surroundings);
                Trial::test(name, move || {
                    let what = ["__conduct", conduct.name];
                    outer(what, Expected::Held, situation, who, &surroundings)
                })
            }));
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !listing {
        println!("attempts and twins: {}", counts.join(", "));
    }
    let failed = conclusion.has_failed();
    if let Some(copy) = COPY.get() {
        let _ = std::fs::remove_dir_all(copy.folder.path());
    }
    std::process::exit(if failed { 101 } else { 0 });
}

/// What the attempts of one situation share, set up by the first of them.
#[derive(Default)]
struct Surroundings(OnceLock<Option<Vec<(String, String)>>>, OnceLock<Podman>);

impl Surroundings {
    /// The variables that attempts get; nothing if this machine cannot do it, which is said.
    fn variables(&self, situation: Where, who: Who) -> Option<&[(String, String)]> {
        let set_up = || match situation {
            Where::Bubblewrap if !require::has_program("bwrap") => {
                require::missing("bubblewrap", "bwrap is not installed");
                None
            }
            Where::Container => {
                let user = COPY.get().and_then(|copy| copy.user.as_ref());
                match Podman::set_up(user.filter(|_| who == Who::User)) {
                    Ok(podman) => Some(self.1.get_or_init(|| podman).environment()),
                    Err(why) => {
                        require::missing("podman", &format!("as {}: {why}", who.name()));
                        None
                    }
                }
            }
            _ => Some(Vec::new()),
        };
        self.0.get_or_init(set_up).as_deref()
    }
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

/// Runs an attempt in a process of its own, somewhere, as somebody.
fn outer(
    [what, name]: [&str; 2],
    expected: Expected,
    situation: Where,
    who: Who,
    surroundings: &Surroundings,
) -> Result<(), Failed> {
    let copy = COPY.get().expect("made in main");
    let Some(variables) = surroundings.variables(situation, who) else {
        return Ok(());
    };
    let mut command = if situation == Where::Degraded {
        // A user namespace in which no other can be made.
        let mut command = Command::new("unshare");
        let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
        command.args(["--user", "--map-root-user", "sh", "-c", script, "sh"]);
        command.arg(&copy.program);
        command
    } else {
        Command::new(&copy.program)
    };
    if let (Who::User, Some(user)) = (who, &copy.user) {
        command.uid(user.uid).gid(user.gid).env("HOME", &user.home);
    }
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    let (variable, value) = expected.variable();
    let output = command
        .env(variable, value)
        .args([what, situation.name(), name])
        .current_dir("/")
        .output()
        .unwrap();
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&text)).into())
}

fn attempt_here(situation: &str, name: &str) -> ! {
    let situation = Where::named(situation);
    let attempt = ATTEMPTS
        .iter()
        .find(|attempt| attempt.name == name)
        .expect("attempt");
    let problem = runtime().block_on(try_both(attempt, situation));
    if let Some(problem) = &problem {
        println!("{problem}");
    }
    std::process::exit(i32::from(problem.is_some()));
}

fn conduct_here(situation: &str, name: &str) -> ! {
    let conduct = CONDUCTS.iter().find(|conduct| conduct.name == name);
    let trial = conduct::try_here(conduct.expect("conduct"), Where::named(situation));
    runtime().block_on(trial);
    std::process::exit(0)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

/// The attempt must fail, its twin succeed, and nothing be left behind; or the policy must be
/// refused.
async fn try_both(attempt: &Attempt, situation: Where) -> Option<String> {
    let scratch = Scratch::below(std::path::Path::new(attempt.below));
    let mut fence = Fence::new(scratch, situation);
    (attempt.prepare)(&mut fence);
    if Expected::here() == Expected::Refused {
        return match fence.run(attempt.attack).await {
            Err(LaunchError::CannotEnforce { missing }) if !missing.is_empty() => None,
            other => Some(format!("the policy was not refused: {other:?}")),
        };
    }
    let before = listing(&fence);
    let done = fence.run(attempt.attack).await.expect("launch");
    if (attempt.escaped)(&fence, &done) {
        return Some(format!("ESCAPED: {done:?}"));
    }
    let twin = fence.run(situation.twin(attempt)).await.expect("launch");
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
    ringfence_policy::sensitive::path::protected_in_roots()
        .flat_map(|name| [name.split('/').next().unwrap(), name])
        .filter(|name| workspace.join(name).symlink_metadata().is_ok())
        .map(str::to_owned)
        .collect()
}
