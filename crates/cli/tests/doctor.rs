//! `ringfence doctor` looks, and leaves nothing of what it asked.

#![allow(clippy::unwrap_used)]

mod program;

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt;
use std::path::Path;

use program::{Place, Ran};
use ringfence_testkit::{identity, require};

/// Every path below a folder.
fn below(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            found.insert(entry.path().display().to_string());
            if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    found
}

/// What engines leave in the machine's folder for such things, for a user.
fn in_tmp(uid: u32) -> BTreeSet<String> {
    let names = [
        format!("podman-run-{uid}"),
        format!("containers-user-{uid}"),
        format!("storage-run-{uid}"),
        format!("run-{uid}"),
    ];
    let there = names.into_iter();
    there
        .filter(|name| Path::new("/tmp").join(name).exists())
        .collect()
}

/// The processes that were started with a text in their environment.
fn started_with(text: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter(|entry| {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(text)
        })
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn a_doctor_leaves_nothing_of_the_engines() {
    if !require::has_program("podman") {
        require::missing("podman", "not installed");
        return;
    }
    let place = Place::new();
    let mut users = vec![None];
    if identity::is_root() {
        users.push(Some(identity::ordinary_user().unwrap()));
    }
    for user in users {
        let runtime = place.outside();
        let mut doctor = place.ringfence(&["doctor"]);
        doctor.env("XDG_RUNTIME_DIR", &runtime).current_dir("/");
        let uid = user.as_ref().map_or(0, |user| user.uid);
        if let Some(user) = &user {
            // A copy, where they can read it.
            let program = place.home().join("ringfence");
            std::fs::copy(program::RINGFENCE, &program).unwrap();
            for path in [place.home(), runtime.clone(), place.work()] {
                std::os::unix::fs::chown(path, Some(user.uid), Some(user.gid)).unwrap();
            }
            let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(place.home().parent().unwrap(), open).unwrap();
            doctor = std::process::Command::new(&program);
            doctor.arg("doctor").env_clear().current_dir("/");
            doctor
                .env("HOME", place.home())
                .env("PATH", "/usr/bin:/bin");
            doctor.env("XDG_RUNTIME_DIR", &runtime);
            doctor.uid(user.uid).gid(user.gid);
        }
        let (home, tmp) = (below(&place.home()), in_tmp(uid));
        let ran = Ran::of(&doctor.output().unwrap());
        assert!(ran.stdout.contains("podman version"), "{ran:?}");
        assert_eq!(below(&place.home()), home);
        assert_eq!(below(&runtime), BTreeSet::new());
        assert_eq!(in_tmp(uid), tmp);
        // A process that Podman leaves has the environment that it was started with.
        let mark = place.home().display().to_string();
        assert_eq!(started_with(&mark), Vec::<String>::new());
    }
}

#[test]
fn the_last_line_says_what_it_comes_to() {
    let place = Place::new();
    let said = place.output(&["doctor"]).stdout;
    let last = said.lines().last().unwrap();
    assert!(
        last.starts_with("good: the native backend holds the default policy here (examined in "),
        "{said}"
    );
}
