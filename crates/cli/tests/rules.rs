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
