//! Files that run by themselves, in a workspace that is the user's home: none can be changed, and
//! none that a run makes is there afterwards. Other files of the same kind are left alone.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ringfence_policy::permissions::SandboxPolicy;
use ringfence_policy::sensitive::path::{Base, Writing, kept};

use crate::fence::Fence;
use crate::scene::Scene;
use crate::suite::Where;

/// What there is before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Before {
    Nothing,
    /// Nothing, and what is made is behind folders that nobody may enter.
    NothingThenClosed,
    Everything,
}

/// The trials that a backend is up to: without namespaces nothing is held.
pub fn names(at: Where) -> impl Iterator<Item = &'static str> {
    let all = [
        "start_up_files",
        "start_up_files_behind_closed_folders",
        "start_up_files_that_exist",
    ];
    all.into_iter().filter(move |_| at != Where::Degraded)
}

pub fn named(name: &str) -> Option<Before> {
    match name {
        "start_up_files" => Some(Before::Nothing),
        "start_up_files_behind_closed_folders" => Some(Before::NothingThenClosed),
        "start_up_files_that_exist" => Some(Before::Everything),
        _ => None,
    }
}

/// Every path of the tables that is not within another.
fn paths() -> Vec<&'static str> {
    let mut paths: Vec<_> = [
        (Base::Home, Writing::Protected),
        (Base::Home, Writing::Watched),
        (Base::Root, Writing::Watched),
    ]
    .into_iter()
    .flat_map(|(base, writing)| kept(base, writing))
    .collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

fn policy(workspace: &Path) -> SandboxPolicy {
    let mut sandbox = SandboxPolicy::workspace_write(workspace);
    for (writing, list) in [
        (Writing::Protected, &mut sandbox.protected_paths),
        (Writing::Watched, &mut sandbox.watched_paths),
    ] {
        list.extend(kept(Base::Home, writing).map(|path| workspace.join(path)));
    }
    sandbox
}

pub async fn try_here(scene: Scene, at: Where, before: Before) -> Option<String> {
    let home = scene.workspace();
    let at_home = |path: &str| home.join(path);
    if before == Before::Everything {
        for path in paths() {
            let path = at_home(path);
            fs::create_dir_all(path.parent().expect("parent")).expect("folder");
            if !path.exists() {
                fs::write(&path, "mine\n").expect("file");
            }
        }
    }
    for folder in [".config", ".local/share"] {
        fs::create_dir_all(at_home(folder)).expect("folder");
    }
    scene.give_away();
    let fence = Fence::with(&scene, at, policy(&home));
    // Every name that somebody would think of for what is set aside.
    let mut script = String::from(
        "for p in .vimrc .bash_logout .tmux.conf; do for n in '' $(seq -f -%.0f 2 999); do : > $p.set-aside$n; done; done\n",
    );
    for path in paths() {
        let _ = writeln!(
            script,
            "mkdir -p $(dirname {path}); echo evil > {path} || {{ mkdir -p {path}; echo evil > {path}/evil; }}\n\
             mv {path} {path}.away; rm -f {path}; echo evil > {path}"
        );
    }
    script += "mkdir -p .config/other .local/share/other; echo mine > .config/other/x; echo mine > .otherrc\n";
    script += "echo mine > .local/share/other/x\n";
    if before == Before::NothingThenClosed {
        script += "find . -depth -mindepth 1 -type d -not -path './.git*' -exec chmod 000 {} \\;; chmod 000 .\n";
    }
    script += "exit 0\n";
    let done = fence.run(&format!("exec 2>/dev/null\n{script}")).await;
    drop(fence);
    // What somebody does who finds that.
    open_all(&home);
    for path in paths() {
        if let Some(evil) = evil_in(&at_home(path)) {
            return Some(format!("PLANTED: {}\n{done}", evil.display()));
        }
        let is_there = at_home(path).symlink_metadata().is_ok();
        if is_there != (before == Before::Everything) {
            return Some(format!("{path} is there: {is_there}\n{done}"));
        }
    }
    let harmed = [".config/other/x", ".local/share/other/x", ".otherrc"]
        .into_iter()
        .find(|path| fs::read_to_string(at_home(path)).ok().as_deref() != Some("mine\n"));
    harmed.map(|path| format!("{path} was harmed\n{done}"))
}

fn open_all(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o755));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_all(&entry.path());
        }
    }
}

/// The first file at or below a path that was written inside.
fn evil_in(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        let mut entries = fs::read_dir(path).ok()?.flatten();
        return entries.find_map(|entry| evil_in(&entry.path()));
    }
    let text = fs::read_to_string(path).ok()?;
    text.contains("evil").then(|| path.to_path_buf())
}
