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
#[path = "../suite/mod.rs"]
mod suite;
mod work;

use std::sync::Arc;

use fence::Fence;
use libtest_mimic::{Arguments, Trial};
use ringfence_testkit::{identity, require};
use scene::Scene;
use suite::{OwnCopy, Surroundings, Where};

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
    OwnCopy::make();
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
            let surroundings = Arc::new(Surroundings::default());
            let names = std::iter::once("ordinary_work")
                .chain(startup::names(at))
                .chain(plants::names(at))
                .map(str::to_owned)
                .chain(beside::names().filter(|_| at == Where::Native));
            let sample = Sample::of(at, who);
            for (_, name) in names.enumerate().filter(|(index, _)| sample.has(*index)) {
                let surroundings = Arc::clone(&surroundings);
                let title = format!("{}::{}::{name}", at.name(), who.name());
                trials.push(Trial::test(title, move || {
                    OwnCopy::try_out(at, who == Who::User, &surroundings, |command| {
                        command.args(["__trial", at.name(), who.name(), &name])
                    })
                }));
            }
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    OwnCopy::finish(conclusion.has_failed());
}

/// Which trials run with a backend, as somebody: all of them, or where `RINGFENCE_GIT_SAMPLE` says so
/// every so-manieth with those other than the native one, which take long. Which ones these are does
/// not change from run to run, and differs between backends and identities. Ordinary work, the first
/// of all, is always among them.
struct Sample {
    every: usize,
    first: usize,
}

impl Sample {
    fn of(at: Where, who: Who) -> Self {
        let said = std::env::var("RINGFENCE_GIT_SAMPLE").ok();
        let every = said.map_or(1, |said| said.parse().expect("RINGFENCE_GIT_SAMPLE"));
        let place = |found: Option<usize>| found.expect("one of all");
        let at_place = place(Where::ALL.iter().position(|one| *one == at));
        let who_place = place(Who::ALL.iter().position(|one| *one == who));
        Self {
            every: if at == Where::Native { 1 } else { every },
            first: at_place * Who::ALL.len() + who_place,
        }
    }

    fn has(&self, index: usize) -> bool {
        index == 0 || index % self.every == self.first % self.every
    }
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
