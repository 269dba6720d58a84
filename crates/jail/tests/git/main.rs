//! The git suite: for each of git's ways to run a program, an attempt to plant one from inside the
//! fence, and then the user's next git commands outside, at the top and in a submodule. Nothing of
//! it runs, and git still works. Its harmless twin is a day's ordinary work with git inside, which
//! must be unharmed and still there afterwards.
//!
//! Each runs with every backend and on a machine without namespaces, as root, as an ordinary user,
//! and as root for an ordinary user's workspace. The program is its own warden and its own user.

#![allow(
    unsafe_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr
)]
#![allow(missing_docs, unreachable_pub, clippy::needless_raw_string_hashes)]

mod beside;
mod cunning;
mod fence;
mod plants;
mod scene;
mod startup;
mod work;

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use fence::{Fence, Where};
use libtest_mimic::{Arguments, Failed, Trial};
use ringfence_confine::account::Account;
use ringfence_testkit::podman::Podman;
use ringfence_testkit::{identity, require};
use scene::Scene;
use tempfile::TempDir;

/// Whom the harness runs as, and whom the workspace belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Who {
    User,
    Root,
    /// Root, in a workspace of an ordinary user's.
    RootForUser,
}

impl Who {
    const ALL: [Self; 3] = [Self::User, Self::Root, Self::RootForUser];

    fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Root => "root",
            Self::RootForUser => "root_for_user",
        }
    }
}

fn main() {
    ringfence_jail::serve_if_asked();
    let words: Vec<String> = std::env::args().collect();
    if words.get(1).map(String::as_str) == Some("__trial") {
        let who = Who::ALL.into_iter().find(|who| who.name() == words[3]);
        trial_here(Where::named(&words[2]), who.expect("who"), &words[4]);
    }
    let root = identity::is_root();
    COPY.set(Copy::make().expect("a copy of this program")).ok();
    if !root {
        require::missing("root", "attempts run under one identity only");
    }
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for at in Where::ALL {
        for who in Who::ALL {
            if (who != Who::User && !root) || (who == Who::RootForUser && at != Where::Native) {
                continue;
            }
            let engine = Arc::new(OnceLock::new());
            let names = std::iter::once("ordinary_work")
                .chain(startup::names(at))
                .chain(plants::names(at))
                .map(str::to_owned)
                .chain(beside::names().filter(|_| at == Where::Native));
            for name in names {
                let engine = Arc::clone(&engine);
                let title = format!("{}::{}::{name}", at.name(), who.name());
                trials.push(Trial::test(title, move || outer(at, who, &name, &engine)));
            }
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    let failed = conclusion.has_failed();
    if let Some(copy) = COPY.get() {
        let _ = std::fs::remove_dir_all(copy.folder.path());
    }
    std::process::exit(if failed { 101 } else { 0 });
}

static COPY: OnceLock<Copy> = OnceLock::new();

/// This program, where an ordinary user can read it.
struct Copy {
    folder: TempDir,
    program: PathBuf,
    user: Option<Account>,
}

impl Copy {
    fn make() -> Result<Self, String> {
        let folder = tempfile::Builder::new()
            .prefix("git-suite-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let program = folder.path().join("suite");
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

/// Runs a trial in a process of its own, as somebody.
fn outer(at: Where, who: Who, name: &str, engine: &OnceLock<Option<Podman>>) -> Result<(), Failed> {
    let copy = COPY.get().expect("made in main");
    if at == Where::Bubblewrap && !require::has_program("bwrap") {
        require::missing("bubblewrap", "bwrap is not installed");
        return Ok(());
    }
    let mut command = Command::new(&copy.program);
    if at == Where::Degraded {
        // A user namespace in which no other can be made.
        command = Command::new("unshare");
        let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
        command.args(["--user", "--map-root-user", "sh", "-c", script, "sh"]);
        command.arg(&copy.program);
    }
    if at == Where::Container {
        let user = copy.user.as_ref().filter(|_| who == Who::User);
        let engine = engine.get_or_init(|| match Podman::set_up(user) {
            Ok(podman) => Some(podman),
            Err(why) => {
                require::missing("podman", &format!("as {}: {why}", who.name()));
                None
            }
        });
        let Some(engine) = engine else {
            return Ok(());
        };
        command.envs(engine.environment());
    }
    if let (Who::User, Some(user)) = (who, &copy.user) {
        command.uid(user.uid).gid(user.gid).env("HOME", &user.home);
    }
    let output = command
        .args(["__trial", at.name(), who.name(), name])
        .current_dir("/")
        .output()
        .unwrap();
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&text)).into())
}

fn trial_here(at: Where, who: Who, name: &str) -> ! {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let owner = (who == Who::RootForUser).then(|| identity::ordinary_user().expect("user"));
    let problem = runtime.block_on(async {
        let scene = Scene::set(owner);
        if name == "ordinary_work" {
            return work::try_here(scene, at).await;
        }
        if let Some(before) = startup::named(name) {
            return startup::try_here(scene, at, before).await;
        }
        if let Some(beside) = beside::named(name) {
            return beside::try_here(scene, at, beside).await;
        }
        plant_and_use(plants::named(name), scene, at).await
    });
    if let Some(problem) = &problem {
        println!("{problem}");
    }
    std::process::exit(i32::from(problem.is_some()))
}

/// Plants something inside, and does the user's next commands outside.
async fn plant_and_use(plant: plants::Plant, scene: Scene, at: Where) -> Option<String> {
    (plant.prepare)(&scene);
    scene.give_away();
    let before = scene.settings();
    let fence = Fence::around(&scene, at);
    let begin = [plants::PREAMBLE, cunning::PREAMBLE].concat();
    let script = format!("{begin}\n{}", plant.script);
    let done = fence.run(&script).await;
    drop(fence);
    let told = |what: &str| Some(format!("{what}\nthe attempt had: {done}"));
    let after = scene.settings();
    if let Some(new) = after.iter().find(|line| !before.contains(line)) {
        return told(&format!("PLANTED: git's settings have {new}"));
    }
    if let Err(problem) = scene.use_git() {
        return told(&format!("git does not work any more: {problem}"));
    }
    scene
        .ran()
        .and_then(|what| told(&format!("RAN OUTSIDE: {what}")))
}
