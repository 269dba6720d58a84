//! The entry in an agent's configuration: nothing else changes, it works, and it goes again.

use std::fs;

use crate::program::{Place, exists};

/// Each agent with its file in the home, a text that a person has there, and what of it marks an entry.
const AGENTS: &[(&str, &str, &str, &str)] = &[
    (
        "claude",
        ".claude.json",
        "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}\n",
        "\"type\": \"stdio\"",
    ),
    (
        "codex",
        ".codex/config.toml",
        "# mine\nmodel = \"m\" # and why\n\n[mcp_servers.other]\ncommand = \"x\"\n",
        "[mcp_servers.ringfence]",
    ),
    (
        "cursor",
        ".cursor/mcp.json",
        "{\"mcpServers\": {}}",
        "${workspaceFolder}",
    ),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        "{\n\t// mine\n\t\"servers\": {\n\t\t\"other\": {\"command\": \"x\"}, // kept\n\t},\n}\n",
        "\"type\": \"stdio\"",
    ),
    (
        "gemini",
        ".gemini/settings.json",
        "{\n  \"theme\": \"x\"\n}\n",
        "\"mcpServers\"",
    ),
    (
        "goose",
        ".config/goose/config.yaml",
        "# mine\nextensions:\n  other: # kept\n    enabled: true\nGOOSE_MODE: auto\n",
        "cmd: ",
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "{\n  // mine\n  \"model\": \"m\", /* kept */\n}\n",
        "\"type\": \"local\"",
    ),
    (
        "zed",
        ".config/zed/settings.json",
        "// mine\n{\n  \"theme\": \"x\", // kept\n  \"context_servers\": {}\n}\n",
        "\"context_servers\"",
    ),
];

#[test]
fn every_agent() {
    for (agent, path, text, marked) in AGENTS {
        let place = Place::new();
        let file = place.home().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let printed = place.output(&["mcp", "install", agent]);
        assert_eq!(printed.code, Some(0), "{printed:?}");
        assert!(
            printed.stdout.contains("+ ") && printed.stdout.contains("--write"),
            "{printed:?}"
        );
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            *text,
            "{agent} only prints"
        );

        let written = place.output(&["mcp", "install", agent, "--write", "--check"]);
        assert_eq!(written.code, Some(0), "{written:?}");
        assert!(written.stdout.contains("it works: 8 tools"), "{written:?}");
        let after = fs::read_to_string(&file).unwrap();
        assert!(
            after.contains(marked) && after.contains("ringfence"),
            "{after}"
        );
        for comment in [
            "mine",
            "kept",
            "and why",
            "other",
            "numStartups",
            "theme",
            "GOOSE_MODE",
        ] {
            assert_eq!(
                after.contains(comment),
                text.contains(comment),
                "{agent}: {comment}: {after}"
            );
        }
        let again = place.output(&["mcp", "install", agent, "--write"]);
        assert!(again.stdout.contains("has it already"), "{again:?}");

        let undone = place.output(&["mcp", "install", agent, "--undo"]);
        assert_eq!(undone.code, Some(0), "{undone:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), *text, "{agent}");
        let nothing = place.output(&["mcp", "install", agent, "--undo"]);
        assert_ne!(nothing.code, Some(0), "{nothing:?}");
    }
}

#[test]
fn a_file_that_was_not_there() {
    for (agent, path, ..) in AGENTS {
        let place = Place::new();
        let file = place.home().join(path);
        let written = place.output(&["mcp", "install", agent, "--write", "--", "--tools", "code"]);
        assert_eq!(written.code, Some(0), "{written:?}");
        assert!(
            fs::read_to_string(&file).unwrap().contains("\"code\""),
            "{agent}"
        );
        let undone = place.output(&["mcp", "install", agent, "--undo"]);
        assert_eq!(undone.code, Some(0), "{undone:?}");
        let left = fs::read_to_string(&file).unwrap_or_default();
        assert!(!left.contains("ringfence"), "{agent}: {left}");
    }
}

#[test]
fn what_else_was_changed_since_stays() {
    let place = Place::new();
    let file = place.home().join(".cursor/mcp.json");
    place.output(&["mcp", "install", "cursor", "--write"]);
    let text = fs::read_to_string(&file).unwrap();
    let text = text.replacen('{', "{\n  \"mine\": 1,", 1);
    fs::write(&file, text).unwrap();
    let undone = place.output(&["mcp", "install", "cursor", "--undo"]);
    assert_eq!(undone.code, Some(0), "{undone:?}");
    let left = fs::read_to_string(&file).unwrap();
    assert!(
        left.contains("\"mine\": 1") && !left.contains("ringfence"),
        "{left}"
    );
}

#[test]
fn what_is_not_understood_is_left_alone() {
    for (agent, path, text) in [
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": []}"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": {"),
        (
            "codex",
            ".codex/config.toml",
            "mcp_servers = { other = {} }\n",
        ),
        ("goose", ".config/goose/config.yaml", "extensions: [a]\n"),
    ] {
        let place = Place::new();
        let file = place.home().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let refused = place.output(&["mcp", "install", agent, "--write"]);
        assert_ne!(refused.code, Some(0), "{refused:?}");
        assert!(refused.stderr.contains("by hand"), "{refused:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert!(!exists(&file.with_file_name("mcp.json.before-ringfence")));
    }
}

#[test]
fn a_check_says_what_is_wrong() {
    let place = Place::new();
    let file = place.home().join(".cursor/mcp.json");
    place.output(&["mcp", "install", "cursor", "--write"]);
    let text = fs::read_to_string(&file).unwrap();
    let broken = text.replace("\"mcp\"", "\"mcp\", \"--no-such-flag\"");
    assert_ne!(text, broken);
    fs::write(&file, broken).unwrap();
    // The entry in the file is the one that is tried.
    let checked = place.output(&["mcp", "install", "cursor", "--check"]);
    assert_ne!(checked.code, Some(0), "{checked:?}");
    assert!(checked.stderr.contains("initialize"), "{checked:?}");
}
