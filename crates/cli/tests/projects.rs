//! What a project brings: where it is looked for, and what is not read before anybody trusts it.

#![allow(clippy::unwrap_used)]

mod program;

use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use program::{Place, RINGFENCE, Ran};

const DENY: &str = "[[rule]]\nprefix = [\"git\", \"push\"]\ndecision = \"deny\"\n";
const ALLOW: &str = "[[rule]]\nprefix = [\"frobnicate\"]\ndecision = \"allow\"\n";

/// The program in a folder, with five seconds for it.
fn output(place: &Place, folder: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new("timeout");
    command
        .args(["5", RINGFENCE])
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("HOME", place.home())
        .env("PATH", "/usr/bin:/bin");
    Ran::of(&command.output().unwrap())
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

type Plant = fn(&Path, &Place);

/// What stands where a file of a project's should, and what is said about it.
const PLANTED: &[(&str, Plant, &str)] = &[
    (
        "a link to /dev/zero",
        |at, _| symlink("/dev/zero", at).unwrap(),
        "leads out of the project",
    ),
    (
        "a link to a device by a long way",
        |at, _| symlink("../../../../../../../../dev/zero", at).unwrap(),
        "leads out of the project",
    ),
    (
        "a link through /proc",
        |at, _| symlink("/proc/self/fd/0", at).unwrap(),
        "leads out of the project",
    ),
    (
        "a link to a file outside",
        |at, place| {
            let file = place.outside().join("rules.toml");
            write(&file, DENY);
            symlink(file, at).unwrap();
        },
        "leads out of the project",
    ),
    (
        "a link to itself",
        |at, _| symlink(at.file_name().unwrap(), at).unwrap(),
        "leads out of the project",
    ),
    ("a pipe", |at, _| fifo(at), "not a plain file"),
    (
        "a link to a pipe inside",
        |at, _| {
            fifo(&at.with_extension("pipe"));
            symlink(at.with_extension("pipe").file_name().unwrap(), at).unwrap();
        },
        "not a plain file",
    ),
    (
        "a folder",
        |at, _| std::fs::create_dir(at).unwrap(),
        "not a plain file",
    ),
    (
        "a socket",
        |at, _| drop(std::os::unix::net::UnixListener::bind(at).unwrap()),
        "not a plain file",
    ),
    (
        "two megabytes",
        |at, _| std::fs::write(at, "#".repeat(2 << 20)).unwrap(),
        "larger than 1048576 bytes",
    ),
    (
        "a sparse gigabyte",
        |at, _| std::fs::File::create(at).unwrap().set_len(1 << 30).unwrap(),
        "larger than 1048576 bytes",
    ),
    (
        "bytes",
        |at, _| std::fs::write(at, [0xff, 0xfe]).unwrap(),
        "not UTF-8",
    ),
];

#[test]
fn what_is_no_plain_file_of_the_project_is_not_read() {
    for name in ["rules.toml", "config.toml"] {
        for (what, plant, said) in PLANTED {
            let place = Place::new();
            let at = place.work().join(".ringfence").join(name);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            plant(&at, &place);
            for arguments in [
                &["check", "ls"][..],
                &["run", "--", "true"],
                &["trust"],
                &["trust", "--yes"],
                &["config", "show"],
                &["rules", "list"],
                &["call", "bash", r#"{"command":"true"}"#],
            ] {
                let ran = output(&place, &place.work(), arguments);
                assert_eq!(ran.code, Some(125), "{what}, {arguments:?}: {ran:?}");
                let path = at.display().to_string();
                assert!(
                    ran.stderr.contains(&path) && ran.stderr.contains(said),
                    "{what}: {ran:?}"
                );
            }
        }
    }
}

/// The harmless twin: a link that stays inside, as some keep their settings.
#[test]
fn a_link_inside_the_project_is_read() {
    let place = Place::new();
    write(&place.work().join("settings/rules.toml"), DENY);
    std::fs::create_dir_all(place.work().join(".ringfence")).unwrap();
    symlink(
        "../settings/rules.toml",
        place.work().join(".ringfence/rules.toml"),
    )
    .unwrap();
    assert_eq!(
        output(&place, &place.work(), &["check", "git push"]).code,
        Some(4)
    );
}

#[test]
fn too_many_rules_are_refused_before_anything_is_made_of_them() {
    let rules = |count: usize| {
        (0..count).fold(String::new(), |mut text, number| {
            let _ = write!(text, "[[rule]]\nregex = 'x{number}'\ndecision = 'deny'\n");
            text
        })
    };
    let short = format!("blocked-commands = [{}]", "'x',".repeat(100_000));
    for (text, code) in [
        (rules(2_000), 0),
        (rules(2_001), 125),
        (rules(20_000), 125),
        (short, 125),
    ] {
        let place = Place::new();
        write(&place.work().join(".ringfence/rules.toml"), &text);
        let ran = output(&place, &place.work(), &["check", "ls"]);
        assert_eq!(ran.code, Some(code), "{} bytes: {ran:?}", text.len());
        if code != 0 {
            assert!(
                ran.stderr.contains("rules.toml:1") && ran.stderr.contains("2000 is the most"),
                "{ran:?}"
            );
        }
    }
}

/// Rules, settings and trust of a project hold below it.
#[test]
fn a_project_holds_in_its_subfolders() {
    let place = Place::new();
    let deep = place.work().join("a/b");
    std::fs::create_dir_all(&deep).unwrap();
    write(&place.work().join("secrets/key"), "x");
    let denied = "[[rule]]\npath = \"secrets\"\ndecision = \"deny\"\n";
    let rules = format!("{DENY}\n{ALLOW}\n{denied}");
    write(&place.work().join(".ringfence/rules.toml"), &rules);
    write(
        &place.work().join(".ringfence/config.toml"),
        "limits.processes = 99\nsandbox.network = \"full\"\n",
    );
    let asks = ["check", "--approval", "on-request", "frobnicate"];
    for folder in [&place.work(), &place.work().join("a"), &deep] {
        assert_eq!(
            output(&place, folder, &["check", "git push"]).code,
            Some(4),
            "{folder:?}"
        );
        assert_eq!(output(&place, folder, &asks).code, Some(3), "{folder:?}");
        // A relative path is below the project, not below the folder one is in.
        let secret = format!("cat {}", place.work().join("secrets/key").display());
        assert_eq!(
            output(&place, folder, &["check", &secret]).code,
            Some(4),
            "{folder:?}"
        );
        assert_eq!(
            output(&place, folder, &["check", "cat secrets/other"]).code == Some(4),
            *folder == place.work()
        );
        let shown = output(&place, folder, &["config", "show"]).stdout;
        assert!(
            shown.contains("limits.processes = 99"),
            "{folder:?}: {shown}"
        );
        assert!(
            shown.contains("sandbox.network = \"off\""),
            "{folder:?}: {shown}"
        );
    }
    // Trusted below, trusted everywhere in it.
    let trusted = output(&place, &deep, &["trust", "--yes"]);
    assert_eq!(trusted.code, Some(0), "{trusted:?}");
    assert!(
        trusted
            .stdout
            .contains(&format!("{} is trusted", place.work().display())),
        "{trusted:?}"
    );
    for folder in [&place.work(), &deep] {
        assert_eq!(output(&place, folder, &asks).code, Some(0), "{folder:?}");
    }
    assert_eq!(
        output(&place, &place.work().join("a"), &["trust", "--revoke"]).code,
        Some(0)
    );
    assert_eq!(output(&place, &deep, &asks).code, Some(3));
}

/// A folder with settings of its own adds to those around it, and hides none: a command could have
/// made it.
#[test]
fn a_project_inside_another_loosens_nothing() {
    let place = Place::new();
    let inner = place.work().join("inner");
    write(&place.work().join(".ringfence/rules.toml"), DENY);
    write(
        &place.work().join(".ringfence/config.toml"),
        "limits.processes = 99\n",
    );
    write(&inner.join(".ringfence/rules.toml"), ALLOW);
    write(
        &inner.join(".ringfence/config.toml"),
        "limits.processes = 500\n",
    );
    assert_eq!(output(&place, &inner, &["check", "git push"]).code, Some(4));
    let shown = output(&place, &inner, &["config", "show"]).stdout;
    assert!(shown.contains("limits.processes = 99"), "{shown}");
    // Trust in the inner one is trust in the inner one.
    let trusted = output(&place, &inner, &["trust", "--yes"]);
    assert!(
        trusted
            .stdout
            .contains(&format!("{} is trusted", inner.display())),
        "{trusted:?}"
    );
    let asks = ["check", "--approval", "on-request", "frobnicate"];
    assert_eq!(output(&place, &inner, &asks).code, Some(0));
    assert_eq!(output(&place, &inner, &["check", "git push"]).code, Some(4));
    assert_eq!(output(&place, &place.work(), &asks).code, Some(3));
}

/// What is above the home folder, or belongs to somebody else, is nobody's project here.
#[test]
fn the_search_ends_where_it_should() {
    let place = Place::new();
    let above = place.home().parent().unwrap().to_path_buf();
    write(&above.join(".ringfence/rules.toml"), DENY);
    assert_eq!(
        output(&place, &place.work(), &["check", "git push"]).code,
        Some(3)
    );
    // The home folder itself is looked at.
    write(&place.home().join(".ringfence/rules.toml"), DENY);
    assert_eq!(
        output(&place, &place.work(), &["check", "git push"]).code,
        Some(4)
    );
    if ringfence_testkit::identity::is_root() {
        let folder = place.home().join(".ringfence");
        std::os::unix::fs::chown(&folder, Some(12_345), None).unwrap();
        assert_eq!(
            output(&place, &place.work(), &["check", "git push"]).code,
            Some(3)
        );
    }
}
