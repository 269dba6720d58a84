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
#[path = "../suite/mod.rs"]
mod suite;

use std::sync::Arc;

use attempts::{ATTEMPTS, Attempt};
use conduct::CONDUCTS;
use fence::Fence;
use libtest_mimic::{Arguments, Failed, Trial};
use ringfence_jail::LaunchError;
use ringfence_testkit::scratch::Scratch;
use ringfence_testkit::{identity, require};
use situation::Expected;
use suite::{OwnCopy, Surroundings, Where};

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
        Some("__quick_harness") => {
            let harness = replaced::be_a_harness(Where::named(&arguments[2]), &arguments[3]);
            runtime().block_on(harness);
        }
        _ => {}
    }
    let root = identity::is_root();
    OwnCopy::make();
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
    OwnCopy::finish(conclusion.has_failed());
}

/// Runs an attempt in a process of its own, somewhere, as somebody.
fn outer(
    [what, name]: [&str; 2],
    expected: Expected,
    situation: Where,
    who: Who,
    surroundings: &Surroundings,
) -> Result<(), Failed> {
    let as_user = who == Who::User;
    OwnCopy::try_out(situation, as_user, surroundings, |command| {
        let (variable, value) = expected.variable();
        command
            .env(variable, value)
            .args([what, situation.name(), name])
    })
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
    let Fence { jail, scratch, .. } = fence;
    drop(jail);
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
