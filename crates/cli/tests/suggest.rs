//! What was asked, and the rules that would have spared it: `audit stats` and `rules suggest`.

#![allow(clippy::unwrap_used)]

mod program;

use program::Place;
use serde_json::{Value, json};

/// Makes a call that is asked about, with this answer to it.
fn ask(place: &Place, command: &str, answer: &str) {
    let flags = ["--approval", "on-request", "--approve", answer];
    place.call("bash", &json!({ "command": command }), &flags);
}

fn report(place: &Place, arguments: &[&str]) -> Value {
    let ran = place.output(arguments);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

fn suggestions(place: &Place) -> Vec<Value> {
    let report = report(place, &["rules", "suggest", "--json"]);
    report["suggestions"].as_array().unwrap().clone()
}

#[test]
fn what_was_always_approved_becomes_the_narrowest_rule() {
    let place = Place::new();
    for command in [
        "frobnicate build a",
        "frobnicate build b",
        "frobnicate build a",
    ] {
        ask(&place, command, "all");
    }
    ask(&place, "ls -la", "all");
    let stats = report(&place, &["audit", "stats", "--json"]);
    assert_eq!(stats["approved"], 3, "{stats}");
    assert_eq!(
        stats["asked"][0]["command"], "frobnicate build a",
        "{stats}"
    );
    assert_eq!(stats["asked"][0]["asked"], 2, "{stats}");
    assert_eq!(stats["asked"][0]["approved"], 2, "{stats}");
    let found = suggestions(&place);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["spares"], 3, "{found:?}");
    let rule = found[0]["rule"].as_str().unwrap();
    assert!(
        rule.contains("frobnicate") && rule.contains("build"),
        "{rule}"
    );
    // The rule holds what it says: with it nobody is asked, and the rest still is.
    let folder = place.home().join(".config/ringfence");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("rules.toml"), rule).unwrap();
    let check = |command: &str| {
        place
            .output(&["check", "--approval", "on-request", command])
            .code
    };
    assert_eq!(check("frobnicate build a"), Some(0));
    assert_eq!(check("frobnicate build b"), Some(0));
    assert_eq!(check("frobnicate deploy"), Some(3));
    // And is not suggested again.
    assert!(suggestions(&place).is_empty());
    let text = place.output(&["rules", "suggest"]);
    assert!(
        text.stdout.contains("no rule would have spared one"),
        "{text:?}"
    );
}

/// No rule covers what somebody said no to, what left the fence, or what has a secret in it.
#[test]
fn what_somebody_refused_is_never_suggested() {
    for (deeds, covered) in [
        (
            &[
                ("frobnicate build a", "all"),
                ("frobnicate build b", "none"),
            ][..],
            "frobnicate build b",
        ),
        (&[("frobnicate a", "none")], "frobnicate a"),
        (
            &[("curl -u me:hunter22 http://h/", "all")],
            "curl -u me:hunter22 http://h/",
        ),
        (&[("$X now", "all")], "$X now"),
    ] {
        let place = Place::new();
        for (command, answer) in deeds {
            ask(&place, command, answer);
        }
        for found in suggestions(&place) {
            let folder = place.home().join(".config/ringfence");
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("rules.toml"), found["rule"].as_str().unwrap()).unwrap();
            let ran = place.output(&["check", "--approval", "unless-trusted", covered]);
            assert_ne!(ran.code, Some(0), "{found}: {covered}");
        }
    }
}

/// Outside the fence nothing is suggested, and what else a rule lets through is listed.
#[test]
fn a_suggestion_says_what_else_it_lets_through() {
    let place = Place::new();
    for command in ["frobnicate build a", "frobnicate build b"] {
        ask(&place, command, "all");
    }
    // The same program ran unasked under another policy.
    let call = json!({ "command": "frobnicate build c" });
    place.call("bash", &call, &["--approval", "never"]);
    let found = suggestions(&place);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["also"], json!(["frobnicate build c"]), "{found:?}");
    let text = place.output(&["rules", "suggest", "--since", "24h"]);
    for line in [
        "would have spared 2 questions",
        "asked:  frobnicate build a",
        "and lets through: frobnicate build c",
        "[[rule]]",
    ] {
        assert!(text.stdout.contains(line), "{line}: {text:?}");
    }
    // Nothing before the period counts.
    let none = report(&place, &["rules", "suggest", "--since", "0m", "--json"]);
    assert_eq!(none["suggestions"], json!([]), "{none}");
    assert_eq!(
        place.output(&["rules", "suggest", "--since", "soon"]).code,
        Some(2)
    );
}

#[test]
fn without_a_log_there_are_no_numbers() {
    let place = Place::new();
    let stats = place.output(&["audit", "stats"]);
    assert!(stats.stdout.starts_with("0 calls"), "{stats:?}");
    assert!(suggestions(&place).is_empty());
}
