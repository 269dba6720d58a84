//! `ringfence call apply_patch`, from the outside: replies, refusals, records, and a program that is
//! killed in the middle.

#![allow(clippy::unwrap_used)]

mod program;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use program::{Place, RINGFENCE};
use ringfence_testkit::{identity, require};
use serde_json::{Value, json};

fn patch(text: &str) -> Value {
    json!({ "patch": format!("*** Begin Patch\n{text}\n*** End Patch\n") })
}

#[test]
fn a_patch_changes_files_and_says_which() {
    let place = Place::new();
    fs::write(place.work().join("a.txt"), "one\ntwo\n").unwrap();
    fs::write(place.work().join("b.txt"), "bye\n").unwrap();
    let text = "*** Update File: a.txt\n one\n-two\n+2\n*** Delete File: b.txt\n*** Add File: src/new.rs\n+fn main() {}";
    let reply = place.call("apply_patch", &patch(text), &[]);
    assert_eq!(
        reply,
        json!({
            "success": true,
            "summary": "The patch was applied:\nM a.txt\nD b.txt\nA src/new.rs",
            "changes": [
                {"path": "a.txt", "kind": "update"},
                {"path": "b.txt", "kind": "delete"},
                {"path": "src/new.rs", "kind": "add"},
            ],
        })
    );
    let read = |name: &str| fs::read_to_string(place.work().join(name)).ok();
    assert_eq!(read("a.txt").as_deref(), Some("one\n2\n"));
    assert_eq!(read("b.txt"), None);
    assert_eq!(read("src/new.rs").as_deref(), Some("fn main() {}\n"));
    // Recorded before and after.
    let log = place.output(&["audit", "show", "--json"]).stdout;
    let records: Vec<&str> = log.lines().filter(|line| line.contains("-1\"")).collect();
    assert!(
        log.contains("apply_patch") && log.contains("src/new.rs"),
        "{log}"
    );
    assert!(records.len() >= 2, "{log}");
    assert_eq!(place.output(&["audit", "verify"]).code, Some(0));
}

#[test]
fn a_patch_reaches_no_further_than_a_command() {
    let place = Place::new();
    let outside = place.home().join("other");
    fs::create_dir(&outside).unwrap();
    fs::create_dir_all(place.home().join(".ssh")).unwrap();
    std::os::unix::fs::symlink(&outside, place.work().join("way-out")).unwrap();
    std::os::unix::fs::symlink(".git/hooks", place.work().join("hooks")).unwrap();
    fs::create_dir_all(place.work().join(".git/hooks")).unwrap();
    let add = |path: &str| patch(&format!("*** Add File: {path}\n+x"));
    let absolute = outside.join("f").display().to_string();
    let cases: &[(&str, &[&str], &str)] = &[
        ("../other/f", &["--approve", "none"], "denied_by_user"),
        ("way-out/f", &["--approve", "none"], "denied_by_user"),
        (&absolute, &["--approval", "never"], "approval_not_possible"),
        (
            "../.ssh/authorized_keys",
            &["--approve", "all"],
            "denied_read",
        ),
        (
            ".git/hooks/pre-commit",
            &["--approve", "all"],
            "protected_path",
        ),
        ("hooks/pre-commit", &["--approve", "all"], "protected_path"),
        (
            ".vscode/tasks.json",
            &["--approve", "all"],
            "protected_path",
        ),
        (
            "f",
            &["--sandbox", "read-only", "--approve", "all"],
            "read_only",
        ),
        (
            "f",
            &["--approval", "unless-trusted", "--approve", "none"],
            "denied_by_user",
        ),
    ];
    for (path, flags, code) in cases {
        let reply = place.call("apply_patch", &add(path), flags);
        assert_eq!(reply["error"]["code"], *code, "{path}: {reply}");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert_eq!(
        fs::read_dir(place.work().join(".git/hooks"))
            .unwrap()
            .count(),
        0
    );
    // The harmless twins.
    for (path, flags) in [
        ("f", &[][..]),
        (".git/info/exclude", &[]),
        ("../other/f", &["--approve", "all"]),
        ("way-out/g", &["--approve", "all"]),
    ] {
        let reply = place.call("apply_patch", &add(path), flags);
        assert_eq!(reply["success"], true, "{path}: {reply}");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 2);
}

#[test]
fn a_patch_that_does_not_fit_says_where_and_why() {
    let place = Place::new();
    fs::write(place.work().join("f"), "alpha\nbeta\ngamma\n").unwrap();
    let text = "*** Add File: g\n+x\n*** Update File: f\n alpha\n-betta\n+B";
    let error = &place.call("apply_patch", &patch(text), &[])["error"];
    assert_eq!(error["code"], "patch_hunk_failed", "{error}");
    assert_eq!(error["details"]["hunk"], 1, "{error}");
    assert_eq!(error["details"]["nearest"]["firstDifference"], 2, "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("Line 2 differs: `beta` instead of `betta`"),
        "{message}"
    );
    assert!(!place.work().join("g").exists());
    let error = &place.call("apply_patch", &json!({"patch": "s/a/b/"}), &[])["error"];
    assert_eq!(error["code"], "patch_malformed", "{error}");
}

#[test]
fn files_belong_to_the_owner_of_the_workspace() {
    if !identity::is_root() {
        return require::missing("root", "the owner of the workspace must be somebody else");
    }
    let user = match identity::ordinary_user() {
        Ok(user) => user,
        Err(why) => return require::missing("user", &why),
    };
    let place = Place::new();
    let work = place.work();
    fs::set_permissions(
        place.home().parent().unwrap(),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    std::os::unix::fs::chown(&work, Some(user.uid), Some(user.gid)).unwrap();
    fs::write(work.join("closed"), "root's\n").unwrap();
    fs::set_permissions(
        work.join("closed"),
        std::os::unix::fs::PermissionsExt::from_mode(0o600),
    )
    .unwrap();
    let reply = place.call("apply_patch", &patch("*** Add File: d/f\n+x"), &[]);
    assert_eq!(reply["success"], true, "{reply}");
    for path in ["d", "d/f"] {
        let found = fs::metadata(work.join(path)).unwrap();
        assert_eq!((found.uid(), found.gid()), (user.uid, user.gid), "{path}");
    }
    // What the owner cannot read, the owner's patch cannot show.
    let reply = place.call(
        "apply_patch",
        &patch("*** Update File: closed\n-guess\n+x"),
        &[],
    );
    assert_eq!(reply["error"]["code"], "patch_io", "{reply}");
}

/// The calls of the kernel that change the file system while a patch is applied.
const CHANGES: &[&str] = &[
    "write",
    "openat",
    "linkat",
    "renameat",
    "renameat2",
    "unlinkat",
    "mkdirat",
    "fchmod",
];

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn all_or_nothing_when_the_program_is_killed() {
    if !require::has_program("strace") {
        return require::missing("strace", "it kills the program at a system call");
    }
    let text =
        patch("*** Update File: a\n-1\n+2\n*** Delete File: b\n*** Add File: d/c\n+2").to_string();
    let mut killed = 0;
    let (mut nothing, mut all) = (0, 0);
    for call in CHANGES {
        // Calls of the thread that touches files; `openat` and `write` come before it as well.
        for when in 1..=6 {
            let place = Place::new();
            for name in ["a", "b"] {
                fs::write(place.work().join(name), "1\n").unwrap();
            }
            let status = Command::new("strace")
                .args([
                    "-f",
                    "-qq",
                    "-o",
                    "/dev/null",
                    "-e",
                    &format!("trace={call}"),
                    "-e",
                ])
                .arg(format!("inject={call}:signal=KILL:when={when}"))
                .arg(RINGFENCE)
                .args(["call", "apply_patch", &text])
                .current_dir(place.work())
                .env_clear()
                .env("HOME", place.home())
                .env("PATH", "/usr/bin:/bin")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .unwrap();
            if status.success() {
                break;
            }
            killed += 1;
            // Whatever is called next looks after what was left.
            let next = place.call("bash", &json!({"command": "true"}), &[]);
            assert_eq!(next["exitCode"], 0, "{next}");
            let found = names(&place.work());
            let a = fs::read_to_string(place.work().join("a")).unwrap();
            match (found.join(" ").as_str(), a.as_str()) {
                ("a b", "1\n") => nothing += 1,
                ("a d", "2\n") => all += 1,
                other => panic!("killed at {call} {when}: {other:?}"),
            }
            let journals = names(&place.home().join(".local/state/ringfence/patches"));
            assert!(
                journals.iter().all(|name| !name.ends_with(".journal")),
                "{journals:?}"
            );
        }
    }
    assert!(
        killed >= 8 && nothing > 0 && all > 0,
        "{killed} killed: {nothing} nothing, {all} all"
    );
}
