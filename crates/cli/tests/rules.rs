//! Rules from the outside: approvals that become rules, trust, and the `rules` verbs.

#![allow(clippy::unwrap_used)]

mod program;

use program::Place;
use serde_json::json;

const RULES: &str = "\
[[rule]]
prefix = [\"frobnicate\"]
decision = \"allow\"
match = [\"frobnicate --all\"]
not_match = [\"frobnicator\"]

[[rule]]
prefix = [\"git\", \"push\"]
decision = \"deny\"
reason = \"releases are made elsewhere\"
";

fn write_user_rules(place: &Place, text: &str) {
    let folder = place.home().join(".config/ringfence");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("rules.toml"), text).unwrap();
}

fn write_project(place: &Place, name: &str, text: &str) {
    let folder = place.work().join(".ringfence");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn rules_decide_and_are_cited() {
    let place = Place::new();
    write_user_rules(&place, RULES);
    let denied = place.output(&["check", "git push"]);
    assert_eq!(denied.code, Some(4), "{denied:?}");
    assert!(denied.stdout.contains("rules.toml:7"), "{denied:?}");
    assert!(
        denied.stdout.contains("releases are made elsewhere"),
        "{denied:?}"
    );
    assert_eq!(
        place
            .output(&["check", "--approval", "on-request", "frobnicate --all"])
            .code,
        Some(0)
    );
    assert_eq!(
        place
            .output(&[
                "rules",
                "explain",
                "--approval",
                "on-request",
                "frobnicate && other"
            ])
            .code,
        Some(3)
    );
    let listed = place.output(&["rules", "list"]);
    assert!(
        listed.stdout.contains("frobnicate") && listed.stdout.contains("deny"),
        "{listed:?}"
    );
    let tested = place.output(&["rules", "test"]);
    assert_eq!(tested.stdout, "2 rules and 2 examples hold\n");
    write_user_rules(&place, &RULES.replace("frobnicator", "frobnicate x"));
    let tested = place.output(&["rules", "test"]);
    assert!(
        tested.code == Some(125) && tested.stderr.contains("rules.toml"),
        "{tested:?}"
    );
}

#[test]
fn what_a_project_loosens_waits_for_trust_in_its_content() {
    let place = Place::new();
    write_project(&place, "rules.toml", RULES);
    write_project(&place, "config.toml", "[sandbox]\nnetwork = \"full\"\n");
    // Tightening counts at once, loosening does not.
    assert_eq!(place.output(&["check", "git push"]).code, Some(4));
    assert_eq!(
        place
            .output(&["check", "--approval", "on-request", "frobnicate --all"])
            .code,
        Some(3)
    );
    let shown = place.output(&["trust"]);
    assert!(
        shown.stdout.contains("network") && shown.stdout.contains("not trusted"),
        "{shown:?}"
    );
    let network = |place: &Place| place.output(&["config", "show"]).stdout;
    assert!(network(&place).contains("sandbox.network = \"off\""));
    assert_eq!(place.output(&["trust", "--yes"]).code, Some(0));
    assert_eq!(
        place
            .output(&["check", "--approval", "on-request", "frobnicate --all"])
            .code,
        Some(0)
    );
    assert!(network(&place).contains("sandbox.network = \"full\""));
    // Any change ends it.
    write_project(&place, "rules.toml", &format!("{RULES}\n# changed\n"));
    assert_eq!(
        place
            .output(&["check", "--approval", "on-request", "frobnicate --all"])
            .code,
        Some(3)
    );
    assert_eq!(place.output(&["trust", "--yes"]).code, Some(0));
    assert_eq!(place.output(&["trust", "--revoke"]).code, Some(0));
    assert_eq!(
        place
            .output(&["check", "--approval", "on-request", "frobnicate --all"])
            .code,
        Some(3)
    );
}

#[test]
fn other_tools_rules_are_imported_and_reported() {
    let place = Place::new();
    let file = place.work().join("settings.json");
    let settings = json!({"permissions": {
        "allow": ["Bash(npm run lint)", "Bash(git diff:*)"],
        "deny": ["Bash(curl:*)"],
    }});
    std::fs::write(&file, settings.to_string()).unwrap();
    let path = file.display().to_string();
    let shown = place.output(&["rules", "import", "--from", "claude", &path]);
    assert!(
        shown.code == Some(0) && shown.stdout.contains("[[rule]]"),
        "{shown:?}"
    );
    assert!(!place.home().join(".config/ringfence/rules.toml").exists());
    let written = place.output(&["rules", "import", "--from", "claude", &path, "--write"]);
    assert_eq!(written.code, Some(0), "{written:?}");
    assert_eq!(place.output(&["check", "git diff HEAD~1"]).code, Some(0));
    assert_eq!(place.output(&["check", "curl example.com"]).code, Some(4));
}

/// What a command puts into `.ringfence` counts for nothing, and where it is in the way that is said,
/// with the way to be rid of it.
#[test]
fn what_a_command_brings_as_a_projects_counts_for_nothing() {
    let place = Place::new();
    let run = |text: &str| {
        std::fs::write(place.work().join("deed.sh"), text).unwrap();
        place.output(&["run", "--", "sh", "deed.sh"])
    };
    let outside = place.home().join("escaped");
    let made = run("mkdir .ringfence
        printf '[sandbox]\\nmode = \"danger-full-access\"\\nnetwork = \"full\"\\n' > .ringfence/config.toml");
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(place.work().join(".ringfence/config.toml").is_file());
    let tried = run("touch ~/escaped; echo x >> .ringfence/config.toml && echo CHANGED");
    assert!(!outside.exists(), "{tried:?}");
    assert!(
        tried
            .stderr
            .contains("`ringfence trust` in this project would honour it"),
        "{tried:?}"
    );
    // By now it is there, and protected like any project's.
    assert!(!tried.stdout.contains("CHANGED"), "{tried:?}");
    std::fs::remove_dir_all(place.work().join(".ringfence")).unwrap();
    for odd in [
        "mkdir .ringfence; echo = > .ringfence/config.toml",
        "mkdir .ringfence; echo = > .ringfence/rules.toml",
        "mkdir .ringfence; mkfifo .ringfence/rules.toml",
        "mkdir .ringfence; ln -s /dev/zero .ringfence/config.toml",
        "mkdir .ringfence; head -c 2000000 /dev/zero > .ringfence/rules.toml",
        "ln -s /etc/ssl .ringfence",
    ] {
        assert_eq!(run(odd).code, Some(0), "{odd}");
        let next = place.output(&["run", "--", "true"]);
        let folder = place.work().join(".ringfence");
        let way_out = format!("`rm -r {}`", folder.display());
        assert_eq!(next.code, Some(125), "{odd}: {next:?}");
        assert!(next.stderr.contains(&way_out), "{odd}: {next:?}");
        let removed = std::process::Command::new("rm")
            .arg("-r")
            .arg(folder)
            .status();
        assert!(removed.unwrap().success());
        assert_eq!(place.output(&["run", "--", "true"]).code, Some(0), "{odd}");
    }
}

#[test]
fn making_a_repository_inside_is_told_how_to_go_about_it() {
    let place = Place::new();
    std::fs::write(place.work().join("deed.sh"), "git init").unwrap();
    let tried = place.output(&["run", "--", "sh", "deed.sh"]);
    assert_ne!(tried.code, Some(0), "{tried:?}");
    let advice = format!("run `git init` in {} yourself", place.work().display());
    assert!(tried.stderr.contains(&advice), "{tried:?}");
    assert!(
        tried
            .stderr
            .contains("sandbox.unprotected_paths = [\".git/"),
        "{tried:?}"
    );
    // And both ways work.
    let mut command = place.ringfence(&["run", "--", "sh", "deed.sh"]);
    command.env(
        "RINGFENCE_SANDBOX_UNPROTECTED_PATHS",
        ".git/hooks:.git/config",
    );
    let free = command.output().unwrap();
    assert!(free.status.success(), "{free:?}");
    std::fs::remove_dir_all(place.work().join(".git")).unwrap();
    let mut git = std::process::Command::new("git");
    let made = git.args(["init", "-q"]).current_dir(place.work()).status();
    assert!(made.unwrap().success());
    let status = place.output(&["run", "--", "git", "status", "--porcelain"]);
    assert_eq!(
        (status.code, status.stdout.as_str()),
        (Some(0), "?? deed.sh\n"),
        "{status:?}"
    );
}
