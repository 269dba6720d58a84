//! Patches that nobody would write, on folders full of traps.

use proptest::prelude::*;
use ringfence_policy::action::Action;
use ringfence_policy::judge::{Escalation, Premises, SessionApprovals, judge};
use ringfence_policy::permissions::{ApprovalPolicy, Limits};
use ringfence_policy::ruleset::RuleSet;
use ringfence_policy::{Ground, Verdict};

use super::super::step::testing::killed_after;
use super::super::{Workplace, apply, locate};
use super::{Site, state};
use crate::audit::{CallId, SessionId};
use crate::file_user::FileUser;

const FILES: &[(&str, &str)] = &[
    ("a", "1\n2\n3\n"),
    ("b/c", "1\n1\n1\n"),
    ("b/d", "no newline"),
    ("up", "-> .."),
    ("out", "-> ../outside"),
    ("file-out", "-> ../outside/secret"),
    ("inner", "-> b"),
    ("hooks", "-> .git/hooks"),
    (".git/config", "[core]\n"),
    (".git/hooks/pre-commit.sample", "exit 0\n"),
];

/// Names with a way out in every other one.
fn path() -> BoxedStrategy<String> {
    let part = prop::sample::select(vec![
        "a",
        "b",
        "c",
        "d",
        "up",
        "out",
        "file-out",
        "inner",
        "hooks",
        ".git",
        "config",
        "pre-commit",
        ".GIT",
        "secret",
        "..",
        ".",
        "new",
        "",
        "work",
        "outside",
        "/",
        "é",
    ]);
    prop::collection::vec(part, 1..5)
        .prop_map(|parts| parts.join("/"))
        .boxed()
}

fn line() -> BoxedStrategy<String> {
    let text = prop::sample::select(vec![
        "1",
        "2",
        "3",
        "",
        "no newline",
        "[core]",
        "@@",
        "*** End Patch",
        "--- a",
        "do not touch",
        "x",
    ]);
    let mark = prop::sample::select(vec!["+", "-", " ", "@@ ", "", "\\ "]);
    (mark, text)
        .prop_map(|(mark, text)| format!("{mark}{text}"))
        .boxed()
}

/// Names that stay inside, and are often those of files.
fn tame_path() -> BoxedStrategy<String> {
    let paths = vec![
        "a", "b/c", "b/d", "inner/c", "new/x", "new/y/z", "b/../a", "n",
    ];
    prop::sample::select(paths).prop_map(str::to_owned).boxed()
}

/// Lines that often fit.
fn tame_line() -> BoxedStrategy<String> {
    let lines = vec!["-1", " 1", "+x", "-2", " 3", "-no newline", "@@ 1"];
    prop::sample::select(lines).prop_map(str::to_owned).boxed()
}

fn section(
    path: fn() -> BoxedStrategy<String>,
    line: fn() -> BoxedStrategy<String>,
) -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec!["Add", "Delete", "Update", "Update"]);
    let moved = prop::option::weighted(0.3, path());
    let lines = prop::collection::vec(line(), 0..5);
    (kind, path(), moved, lines).prop_map(|(kind, path, moved, lines)| {
        let moved = moved.map_or(String::new(), |to| format!("*** Move to: {to}\n"));
        let lines = lines.join("\n") + "\n";
        match kind {
            "Delete" => format!("*** Delete File: {path}\n"),
            "Add" => format!("*** Add File: {path}\n+x\n"),
            _ => format!("*** Update File: {path}\n{moved}{lines}"),
        }
    })
}

fn diff(
    path: fn() -> BoxedStrategy<String>,
    line: fn() -> BoxedStrategy<String>,
) -> impl Strategy<Value = String> {
    let lines = prop::collection::vec(line(), 1..5);
    (path(), path(), 0usize..5, lines).prop_map(|(old, new, at, lines)| {
        format!(
            "--- a/{old}\n+++ b/{new}\n@@ -{at},2 +{at},2 @@\n{}\n",
            lines.join("\n")
        )
    })
}

fn patch() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(section(path, line), 1..4)
            .prop_map(|parts| format!("*** Begin Patch\n{}*** End Patch", parts.concat())),
        prop::collection::vec(diff(path, line), 1..3).prop_map(|parts| parts.concat()),
        prop::collection::vec(line(), 0..12).prop_map(|lines| lines.join("\n")),
    ]
}

fn tame_patch() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(section(tame_path, tame_line), 1..5)
            .prop_map(|parts| format!("*** Begin Patch\n{}*** End Patch", parts.concat())),
        prop::collection::vec(diff(tame_path, tame_line), 1..4).prop_map(|parts| parts.concat()),
    ]
}

/// Judges as the default policy does, and applies what is allowed.
fn through_the_door(site: &Site, text: &str) -> bool {
    let policy = site.policy();
    let Ok(located) = locate(text, 1 << 20, &site.atlas()) else {
        return false;
    };
    let ground = Ground::at(site.work());
    let premises = Premises {
        ground: &ground,
        sandbox: &policy,
        limits: &Limits::default(),
        approval: ApprovalPolicy::OnRequest,
        escalation: Escalation::Off,
        rules: &RuleSet::default(),
        approvals: &SessionApprovals::default(),
    };
    let verdict = judge(Action::ApplyPatch(located.action()), &premises).verdict;
    let Verdict::Allow(permit) = verdict else {
        return false;
    };
    let own = rustix::process::geteuid().as_raw();
    let workplace = Workplace {
        journals: site.journals(),
        owner: FileUser {
            uid: own,
            gid: rustix::process::getegid().as_raw(),
            groups: None,
        },
        most_file_bytes: 1 << 20,
        call: CallId("call-1".to_owned()),
        session: SessionId("ses_1".to_owned()),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(apply(permit, located, workplace)).is_ok()
}

fn protected(site: &Site) -> (super::State, Vec<u8>) {
    let git = site.work().join(".git");
    (
        state(&git.join("hooks")),
        std::fs::read(git.join("config")).unwrap(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_outside_and_nothing_protected_is_ever_written(text in patch()) {
        let site = Site::new(FILES);
        let root = site.work().parent().unwrap().to_path_buf();
        let (protected, work) = (protected(&site), site.state());
        let applied = through_the_door(&site, &text);
        prop_assert_eq!(self::protected(&site), protected, "{}", text);
        prop_assert_eq!(state(&site.outside()).len(), 1, "{}", text);
        let secret = std::fs::read(site.outside().join("secret")).unwrap();
        prop_assert_eq!(secret, b"do not touch\n", "{}", text);
        let mut names: Vec<_> = std::fs::read_dir(&root).unwrap()
            .map(|entry| entry.unwrap().file_name()).collect();
        names.retain(|name| name != "journals");
        prop_assert_eq!(names.len(), 2, "{:?} {}", names, text);
        if !applied {
            prop_assert_eq!(site.state(), work, "{}", text);
        }
    }

    #[test]
    fn half_of_a_patch_is_never_seen(text in tame_patch(), steps in 0usize..40) {
        let site = Site::new(FILES);
        let before = site.state();
        let whole = Site::new(FILES);
        let after = whole.apply(&text).map_or(before.clone(), |_| whole.state());
        let _ = killed_after(steps, || site.apply(&text));
        site.recover().unwrap();
        let found = site.state();
        prop_assert!(found == before || found == after, "{} {:#?}", text, found);
    }
}
