//! What a rule says about a path, the fence holds: a program that may run cannot open it either.

#![allow(clippy::unwrap_used)]

mod program;

use program::Place;

fn write(place: &Place, path: &str, text: &str) {
    let path = place.home().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn user_rules(place: &Place, text: &str) {
    write(place, ".config/ringfence/rules.toml", text);
}

/// Runs a text that the judge does not see.
fn hidden(place: &Place, text: &str) -> Option<i32> {
    write(place, "work/deed.sh", text);
    let ran = place.output(&["run", "--approval", "never", "--", "bash", "deed.sh"]);
    ran.code
}

fn rule(pattern: &str, access: &str) -> String {
    format!("[[rule]]\npath = \"{pattern}\"\naccess = \"{access}\"\ndecision = \"deny\"\n")
}

fn place() -> Place {
    let place = Place::new();
    for file in [
        "work/secrets/key",
        "work/a/b/.env",
        "work/.env",
        "work/notes",
        "other/x",
    ] {
        write(&place, file, "hidden\n");
    }
    place
}

/// A rule, what it forbids, and what stays possible.
#[test]
fn a_denied_path_cannot_be_opened_by_anything() {
    for (rule, forbidden, possible) in [
        (rule("secrets", "read"), "cat secrets/key", "cat notes"),
        (rule("secrets/**", "read"), "cat secrets/key", "cat notes"),
        (rule("./secrets", "any"), "cat secrets/key", "cat a/b/.env"),
        (
            rule("secrets", "read"),
            "cd secrets && cat key",
            "cat notes",
        ),
        (
            rule("secrets", "read"),
            "ln -s secrets s && cat s/key",
            "cat notes",
        ),
        (
            rule("secrets", "read"),
            "mv secrets t && cat t/key",
            "mv notes t",
        ),
        (
            rule("secrets", "read"),
            "cp -r secrets t && cat t/key",
            "cp -r a t",
        ),
        (rule("**/.env", "read"), "cat a/b/.env", "cat notes"),
        (rule("**/.env", "read"), "cat .env", "cat notes"),
        (rule("a/*/.env", "any"), "cat a/b/.env", "cat .env"),
        (rule("~/other", "read"), "cat ../other/x", "cat notes"),
        (rule("notes", "write"), "echo x > notes", "cat notes"),
        (rule("notes", "write"), "rm notes", "echo x > more"),
        (
            rule("secrets", "write"),
            "echo x > secrets/key",
            "cat secrets/key",
        ),
        (
            "blocked-paths = [\"secrets\"]\n".to_owned(),
            "cat secrets/key",
            "cat notes",
        ),
        (
            "blocked-paths = [\"~/other\", \"**/.env\"]\n".to_owned(),
            "cat ../other/x || cat a/b/.env",
            "cat notes",
        ),
        (
            "blocked-paths = [\"notes\"]\n".to_owned(),
            "echo x > notes",
            "echo x > more",
        ),
        (
            rule("**/.env", "write"),
            "echo x > a/b/.env",
            "cat a/b/.env",
        ),
    ] {
        let place = place();
        // Without the rule both can be done.
        for text in [forbidden, possible] {
            let place = self::place();
            assert_eq!(hidden(&place, text), Some(0), "without a rule: {text}");
        }
        user_rules(&place, &rule);
        assert_ne!(hidden(&place, forbidden), Some(0), "{rule}: {forbidden}");
        let place = self::place();
        user_rules(&place, &rule);
        assert_eq!(hidden(&place, possible), Some(0), "{rule}: {possible}");
    }
}

/// What the fence refused because of a rule is not run again outside, whoever approves everything.
#[test]
fn nothing_that_a_rule_denies_is_tried_again_outside() {
    let approved = |rules: Option<String>| {
        let place = place();
        if let Some(rules) = rules {
            user_rules(&place, &rules);
        }
        write(
            &place,
            "work/deed.sh",
            "cat secrets/key && echo x > ../made",
        );
        place.output(&["run", "--approve", "all,unfenced", "--", "bash", "deed.sh"]);
        place.home().join("made").exists()
    };
    assert!(!approved(Some(rule("secrets", "read"))));
    assert!(!approved(Some(rule("notes", "write"))));
    // The twin: without such a rule it may leave.
    assert!(approved(None));
}

/// A project that nobody trusts may tighten: its denials are held as well.
#[test]
fn what_a_project_denies_is_held_before_trust() {
    let place = place();
    write(
        &place,
        "work/.ringfence/rules.toml",
        &rule("secrets", "read"),
    );
    assert_ne!(hidden(&place, "cat secrets/key"), Some(0));
    assert_eq!(hidden(&place, "cat notes"), Some(0));
}

/// A file that comes into being between two calls is held in the second.
#[test]
fn patterns_are_looked_up_at_every_start() {
    let place = place();
    user_rules(&place, &rule("**/*.pem", "read"));
    assert_eq!(hidden(&place, "mkdir new && echo x > new/key.pem"), Some(0));
    assert_ne!(hidden(&place, "cat new/key.pem"), Some(0));
}

#[test]
fn rules_that_were_imported_are_held_and_what_is_not_is_said() {
    let place = place();
    let settings =
        r#"{"permissions": {"deny": ["Read(./secrets/**)", "Read(.env)", "Read(//**)"]}}"#;
    write(&place, "work/settings.json", settings);
    let import = [
        "rules",
        "import",
        "--from",
        "claude",
        "settings.json",
        "--write",
    ];
    let imported = place.output(&import);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    for line in [
        "kept: Read(./secrets/**)",
        "kept in part: Read(.env) (the fence holds the files that are there when a command starts",
        "kept in part: Read(//**) (commands that name a file",
    ] {
        assert!(imported.stdout.contains(line), "{line}: {imported:?}");
    }
    for (text, possible) in [
        ("cat secrets/key", false),
        ("cat .env", false),
        ("cat a/b/.env", false),
    ] {
        assert_eq!(hidden(&place, text) == Some(0), possible, "{text}");
    }
    // What the fence cannot hold is said at every run.
    let ran = place.output(&["run", "--approval", "never", "--", "true"]);
    assert!(ran.stderr.contains("held in part"), "{ran:?}");
}
