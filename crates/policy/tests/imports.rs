//! Other tools' rules: what becomes of each, and that nothing gets looser.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use expect_test::{ExpectFile, expect_file};
use ringfence_policy::host::{Host, Protocol};
use ringfence_policy::{
    Ground, ShellKind,
    facts::{CommandText, understand},
    import::{Dialect, Imported, import},
    rule::{Decision, Layer, Rule},
    ruleset::RuleSet,
};

fn read(dialect: Dialect, file: &str) -> Imported {
    let path = format!("{}/tests/fixtures/{file}", env!("CARGO_MANIFEST_DIR"));
    import(dialect, file, &std::fs::read_to_string(path).unwrap()).unwrap()
}

fn check(dialect: Dialect, file: &str, expected: &ExpectFile) -> RuleSet {
    let imported = read(dialect, file);
    let report: Vec<String> = imported.report.iter().map(ToString::to_string).collect();
    let toml: Vec<String> = imported.rules.iter().map(Rule::to_toml).collect();
    let text = toml.join("\n");
    // What is written can be read again, and the examples hold.
    let set = RuleSet::parse(Layer::User, "imported.toml", &text).unwrap();
    assert_eq!(set.rules().len(), imported.rules.len());
    expected.assert_eq(&format!("{}\n\n{text}", report.join("\n")));
    set
}

fn decide(set: &RuleSet, command: &str) -> Option<Decision> {
    let facts = understand(CommandText::Shell {
        kind: ShellKind::Bash,
        text: command,
    });
    let ground = Ground::at("/home/u/work").with_home("/home/u");
    set.decide(&facts, &ground, "bash")
        .map(|found| found.decision)
}

#[test]
fn codex() {
    let set = check(
        Dialect::Codex,
        "codex.rules",
        &expect_file!["fixtures/codex.expected"],
    );
    for (command, expected) in [
        ("git log -3", Some(Decision::Allow)),
        ("/opt/homebrew/bin/git log", Some(Decision::Allow)),
        ("/usr/local/bin/git log", None),
        ("git logout", None),
        ("git push origin main", Some(Decision::Ask)),
        ("git -C x push", Some(Decision::Ask)),
        ("cargo check", Some(Decision::Ask)),
        ("rm -rf build", Some(Decision::Deny)),
        ("git log && rm -fr x", Some(Decision::Deny)),
        ("bash -c 'touch x'", None),
    ] {
        assert_eq!(decide(&set, command), expected, "{command}");
    }
    let host = |host: &str, port| {
        set.decide_host(&Host::parse(host).unwrap(), port, Protocol::Https, "bash")
            .map(|found| found.decision)
    };
    assert_eq!(host("api.github.com", 443), Some(Decision::Allow));
    assert_eq!(host("api.github.com", 22), None);
    assert_eq!(host("a.example.com", 443), None);
    assert_eq!(host("telemetry.example.org", 8080), Some(Decision::Deny));
}

#[test]
fn claude() {
    let set = check(
        Dialect::Claude,
        "claude-settings.json",
        &expect_file!["fixtures/claude.expected"],
    );
    for (command, expected) in [
        ("git diff HEAD", Some(Decision::Allow)),
        ("git diff HEAD && curl x", Some(Decision::Deny)),
        ("npm run lint", Some(Decision::Ask)),
        ("npm run lint -- --fix", Some(Decision::Ask)),
        ("npm run build", Some(Decision::Ask)),
        ("cargo build", Some(Decision::Allow)),
        ("cargo publish", Some(Decision::Ask)),
        ("git push origin", Some(Decision::Ask)),
        ("rm -rf x", Some(Decision::Deny)),
        ("cat .env", Some(Decision::Deny)),
        ("cat sub/.env.local", Some(Decision::Deny)),
        ("cat secrets/key", Some(Decision::Deny)),
        ("grep x < /etc/shadow", Some(Decision::Deny)),
        ("node --version", None),
    ] {
        assert_eq!(decide(&set, command), expected, "{command}");
    }
    let tool = |name: &str| set.decide_tool(name).map(|found| found.decision);
    assert_eq!(tool("mcp.github.list_issues"), Some(Decision::Allow));
    assert_eq!(tool("mcp.github.delete_repo"), None);
    assert_eq!(tool("mcp.memory.store"), Some(Decision::Allow));
    assert_eq!(tool("mcp.filesystem.read"), Some(Decision::Deny));
}

#[test]
fn gemini() {
    let set = check(
        Dialect::Gemini,
        "gemini-policy.toml",
        &expect_file!["fixtures/gemini.expected"],
    );
    for (command, expected) in [
        ("git status", Some(Decision::Allow)),
        ("git status; foo", Some(Decision::Allow)),
        ("npm test", Some(Decision::Allow)),
        ("npm run build", Some(Decision::Ask)),
        ("rm -rf x", Some(Decision::Deny)),
        ("hg status", None),
    ] {
        assert_eq!(decide(&set, command), expected, "{command}");
    }
    let tool = |name: &str| set.decide_tool(name).map(|found| found.decision);
    assert_eq!(tool("mcp.untrusted-server.x"), Some(Decision::Deny));
    assert_eq!(tool("mcp.jira.search"), Some(Decision::Allow));
    assert_eq!(tool("apply_patch"), Some(Decision::Ask));
}

#[test]
fn what_is_beyond_the_literal_subset_is_refused_with_its_line() {
    for (text, line) in [
        ("x = 1\n", 1),
        ("\n\nload(\"a\", \"b\")\n", 3),
        ("prefix_rule(pattern = [\"a\"] + [\"b\"])", 1),
        ("prefix_rule(pattern = x)", 1),
        ("prefix_rule([\"a\"])", 1),
        ("for x in []:\n  pass", 1),
        ("prefix_rule(pattern = [\"a\" \"b\"])", 1),
        ("prefix_rule(pattern = [\"a\"], decision = \"maybe\")", 1),
        ("prefix_rule(pattern = [\"a\"], sandbox = \"x\")", 1),
        ("frobnicate(x = 1)", 1),
        ("prefix_rule(pattern = [\"a)", 1),
    ] {
        let error = import(Dialect::Codex, "x.rules", text)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(&format!("x.rules:{line}: ")),
            "{text}: {error}"
        );
    }
    assert!(import(Dialect::Claude, "x.json", "{}").is_err());
    assert!(import(Dialect::Gemini, "x.toml", "[[rule]]\n").is_err());
}
