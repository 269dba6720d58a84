//! What a session is like, as its client wants it.

use serde_json::{Value, json};

use crate::client::{Client, code};
use crate::program::Place;

#[test]
fn options_that_cannot_be_are_told_with_their_place() {
    let place = Place::new();
    // The params but for the version and the client, the code, and where.
    let table = [
        (
            json!({"protocol_version": 2}),
            "unsupported_version",
            Some("protocol_version"),
        ),
        (
            json!({"protocol_version": "1"}),
            "invalid_params",
            Some("protocol_version"),
        ),
        (json!({"client": {}}), "invalid_params", Some("client")),
        (json!({"more": 1}), "invalid_params", Some("more")),
        (
            json!({"capabilities": {"questions": 1}}),
            "invalid_params",
            Some("capabilities.questions"),
        ),
        (
            json!({"options": {"sandbx": "x"}}),
            "invalid_params",
            Some("options.sandbx"),
        ),
        (
            json!({"options": {"limits": {"memory": 1}}}),
            "invalid_params",
            Some("options.limits.memory"),
        ),
        (
            json!({"options": {"limits": {"memory_bytes": -1}}}),
            "invalid_params",
            Some("options.limits.memory_bytes"),
        ),
        (
            json!({"options": {"sandbox": "none"}}),
            "cannot_open",
            Some("options.sandbox"),
        ),
        (
            json!({"options": {"approval": "always"}}),
            "cannot_open",
            Some("options.approval"),
        ),
        (
            json!({"options": {"limits": {"memory_bytes": 1}}}),
            "cannot_open",
            Some("options.limits"),
        ),
        (
            json!({"options": {"writable_roots": ["/no/such"]}}),
            "cannot_open",
            Some("options.writable_roots"),
        ),
        (
            json!({"options": {"workspace": "/no/such"}}),
            "cannot_open",
            None,
        ),
        (
            json!({"options": {"tools": ["bash", "no_such"]}}),
            "unknown_tool",
            Some("options.tools[1]"),
        ),
    ];
    let mut client = Client::start(&place, &[]);
    for (more, expected, path) in table {
        let mut params = json!({"protocol_version": 1, "client": {"name": "test"}});
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        client.request(1, "initialize", &params);
        let told = client.reply(1);
        assert_eq!(code(&told), expected, "{more}: {told}");
        assert_eq!(
            told["error"]["data"]["path"].as_str(),
            path,
            "{more}: {told}"
        );
    }
    let opened = client.initialize(&json!({}));
    assert!(
        opened["result"].is_object(),
        "a session can still be opened: {opened}"
    );
}

#[test]
fn a_session_is_as_its_client_wants_it() {
    let place = Place::new();
    let (outside, other) = (place.outside(), place.home().join("other"));
    std::fs::create_dir(&other).unwrap();
    let mut client = Client::start(&place, &[]);
    let opened = client.initialize(&json!({
        "workspace": other,
        "writable_roots": [outside],
        "environment": {"COLOUR": "blue"},
        "limits": {"processes": 50},
        "approval": "never",
        "tools": ["bash", "runCode"],
        "question_timeout_ms": 5000,
    }));
    let result = &opened["result"];
    assert_eq!(result["workspace"], json!(other), "{opened}");
    assert_eq!(result["approval"], "never");
    assert_eq!(result["tools"], json!(["bash", "run_code"]));
    assert_eq!(result["question_timeout_ms"], 5000);
    assert_eq!(result["writable_roots"], json!([other, outside]));
    let command = format!(
        "pwd; echo $COLOUR; ulimit -u; echo > {}/made && echo written",
        outside.display()
    );
    let ran = client.called(1, "bash", &json!({"command": command}));
    let said = ran["result"]["reply"]["stdout"].as_str().unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        (lines[0], lines[1], lines[3]),
        (&*other.display().to_string(), "blue", "written"),
        "{ran}"
    );
    let refused = client.called(2, "shell", &json!({"command": ["true"]}));
    assert_eq!(code(&refused), "unknown_tool", "{refused}");
    client.request(3, "tools", &json!({}));
    let tools = client.reply(3);
    let names: Vec<&Value> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, [&json!("bash"), &json!("run_code")]);
    let schema = &tools["result"]["tools"][0]["schema"]["properties"]["command"];
    assert!(schema.is_object(), "{tools}");
}

#[test]
fn a_sandbox_of_the_clients_choice_holds() {
    for (sandbox, written) in [("read-only", false), ("workspace-write", true)] {
        let place = Place::new();
        let mut client = Client::open(&place, &json!({"sandbox": sandbox, "approval": "never"}));
        let ran = client.called(1, "bash", &json!({"command": "echo > file"}));
        assert_eq!(
            place.work().join("file").exists(),
            written,
            "{sandbox}: {ran}"
        );
    }
}

#[test]
fn what_a_flag_sets_stays() {
    let place = Place::new();
    let table = [
        (
            ["--sandbox", "read-only"],
            json!({"sandbox": "workspace-write"}),
            "sandbox",
        ),
        (
            ["--cwd", "."],
            json!({"workspace": "/var/tmp"}),
            "workspace",
        ),
        (["--network", "off"], json!({"network": "full"}), "network"),
        (
            ["--network", "off"],
            json!({"allow_hosts": ["a.example"]}),
            "allow_hosts",
        ),
        (
            ["--allow-host", "a.example"],
            json!({"network": "full"}),
            "network",
        ),
        (
            ["--writable", "/var/tmp"],
            json!({"writable_roots": ["/"]}),
            "writable_roots",
        ),
        (
            ["--approval", "never"],
            json!({"approval": "on-failure"}),
            "approval",
        ),
    ];
    for (flags, options, option) in table {
        let mut client = Client::start(&place, &flags);
        let told = client.initialize(&options);
        assert_eq!(code(&told), "option_fixed", "{flags:?}: {told}");
        assert_eq!(told["error"]["data"]["path"], format!("options.{option}"));
        let opened = client.initialize(&json!({}));
        assert!(opened["result"].is_object(), "{opened}");
    }
}
