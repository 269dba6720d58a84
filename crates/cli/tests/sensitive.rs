//! What the tables of what is sensitive say, the fence holds, row by row; and what stands beside it
//! is left alone.

#![allow(clippy::unwrap_used)]

mod program;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use program::Place;
use ringfence::policy::sensitive::path::{self, Base, Writing};
use ringfence::policy::sensitive::variable::{self, Passing};

fn make(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Runs a text that the judge does not see, and gives what it printed.
fn hidden(place: &Place, text: &str) -> String {
    make(&place.work().join("deed.sh"), text);
    let ran = place.output(&["run", "--approval", "never", "--", "bash", "deed.sh"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stdout
}

/// A file at each of these paths, and one beside it.
fn files(folder: &Path, paths: &[&str]) {
    for path in paths {
        let own = path.ends_with("ringfence");
        let file = folder.join(path).join(if own { "x" } else { "" });
        make(&file.components().collect::<std::path::PathBuf>(), "mine");
        make(&folder.join(format!("{path}-beside")), "mine");
    }
}

#[test]
fn what_is_denied_cannot_be_read_and_what_is_beside_it_can() {
    let place = Place::new();
    let denied: Vec<&str> = path::denied(Base::Home).collect();
    files(&place.home(), &denied);
    let mut script = String::from("exec 2>/dev/null\n");
    for path in &denied {
        _ = writeln!(
            script,
            "for f in \"$HOME/{path}\" \"$HOME/{path}/x\"; do cat \"$f\" > /dev/null && echo \"read $f\"; done\n\
             cat \"$HOME/{path}-beside\" > /dev/null || echo 'lost {path}-beside'"
        );
    }
    for path in path::denied(Base::System) {
        _ = writeln!(script, "(cat {path} || ls {path}/*) && echo read {path}");
    }
    assert_eq!(hidden(&place, &format!("{script}\nexit 0")), "");
}

#[test]
fn what_runs_code_for_the_user_cannot_be_changed_and_what_is_beside_it_can() {
    let place = Place::new();
    let kept = [Writing::Watched, Writing::Protected];
    let kept: Vec<&str> = kept
        .into_iter()
        .flat_map(|writing| path::kept(Base::Root, writing))
        .filter(|path| !path.starts_with(".git/"))
        .collect();
    for needed in [".envrc", ".husky", ".devcontainer"] {
        assert!(kept.contains(&needed), "{needed}");
    }
    files(&place.work(), &kept);
    let mut script = String::from("exec 2>/dev/null\n");
    for path in &kept {
        _ = writeln!(
            script,
            "echo evil > {path}; rm -rf {path}; mv {path} away; echo other > {path}-beside"
        );
    }
    hidden(&place, &format!("{script}\nexit 0"));
    for path in &kept {
        let text = |path: &str| fs::read_to_string(place.work().join(path)).unwrap();
        assert_eq!(text(path), "mine", "{path}");
        assert_eq!(text(&format!("{path}-beside")), "other\n", "{path}");
    }
    // Where none was, none is afterwards.
    let place = Place::new();
    let mut script = String::from("exec 2>/dev/null\n");
    for path in &kept {
        _ = writeln!(
            script,
            "echo evil > {path}; mkdir {path}; echo x > {path}-beside"
        );
    }
    hidden(&place, &format!("{script}\nexit 0"));
    for path in &kept {
        assert!(!place.work().join(path).exists(), "{path}");
        assert!(place.work().join(format!("{path}-beside")).exists());
    }
}

#[test]
fn what_makes_programs_run_something_is_not_passed_on_and_the_rest_is() {
    let place = Place::new();
    let mut command = place.ringfence(&["run", "--", "env"]);
    command.env("RINGFENCE_ENVIRONMENT_INHERIT", "all");
    let names = |passing| {
        variable::rows()
            .filter(move |row| row.passing == passing)
            .flat_map(variable::VariableRow::each)
            .filter(|name| !name.starts_with("RINGFENCE"))
            .map(|name| name.replace('*', "ANY"))
            .collect::<Vec<_>>()
    };
    let (dropped, passed) = (names(Passing::Dropped), names(Passing::WithAll));
    for name in dropped.iter().chain(&passed) {
        command.env(name, "given");
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let given: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_suffix("=given"))
        .collect();
    for name in &dropped {
        assert!(!given.contains(&name.as_str()), "{name} was passed on");
    }
    for name in passed
        .iter()
        .filter(|name| *name != "PWD" && *name != "OLDPWD")
    {
        // The cache of a package manager is another one inside, and options get more behind them.
        let prefix = format!("{name}=");
        let mut values = text.lines().filter_map(|line| line.strip_prefix(&prefix));
        let is_added_to = values
            .any(|value| value.contains("/ringfence/caches/") || value.starts_with("given -"));
        let passed_on = given.contains(&name.as_str());
        assert!(passed_on || is_added_to, "{name} is gone: {text}");
    }
}
