//! `ringfence call`, from the outside: replies, errors, records.

#![allow(clippy::unwrap_used)]

mod program;

use std::os::unix::fs::PermissionsExt;

use program::{Place, output_and_memory};
use serde_json::{Value, json};

#[test]
fn replies_have_the_fields_of_their_specifications() {
    let place = Place::new();
    let shell = place.call(
        "shell",
        &json!({"command": ["sh", "-c", "echo out; echo err >&2; exit 3"]}),
        &["--approve", "all"],
    );
    assert_eq!(shell["exit_code"], 3, "{shell}");
    assert_eq!(shell["stdout"]["text"], "out\n");
    assert_eq!(shell["stderr"]["text"], "err\n");
    assert_eq!(shell["timed_out"], false);
    let both = shell["aggregated_output"]["text"].as_str().unwrap();
    assert!(both.contains("out\n") && both.contains("err\n"));
    assert!(shell["duration"].is_u64());
    let alias = place.call("container.exec", &json!({"command": ["true"]}), &[]);
    assert_eq!(alias["exit_code"], 0, "{alias}");
    let text = place.call(
        "shell_command",
        &json!({"command": "echo $((1+2)) | cat"}),
        &[],
    );
    assert_eq!(text["stdout"]["text"], "3\n", "{text}");
    let bash = place.call(
        "bash",
        &json!({"command": "ls /no-such-place", "description": "lists nothing"}),
        &[],
    );
    assert_eq!(bash["exitCode"], 2, "{bash}");
    assert_eq!(bash["interrupted"], false);
    assert_eq!(bash["isImage"], false);
    let meaning = "a file or folder that was named could not be read";
    assert_eq!(bash["returnCodeInterpretation"], meaning);
}

/// git's and make's codes are theirs; what nobody knows is explained as shells do.
#[test]
fn an_exit_code_is_explained_as_the_programs_that_gave_it() {
    let place = Place::new();
    std::fs::write(place.work().join("file"), "x").unwrap();
    std::fs::write(place.work().join("Makefile"), "all:\n\tfalse\n").unwrap();
    for (command, code, meaning) in [
        (
            "git rev-parse --verify -q nothing",
            128,
            "git: a fatal error",
        ),
        ("cd . && git log", 128, "git: a fatal error"),
        ("git log --no-such-option", 128, "git: a fatal error"),
        (
            "git diff --no-index file Makefile >&2",
            1,
            "git diff: there are",
        ),
        ("make", 2, "make: a command of a target failed"),
        (
            "make nothing 2>&1",
            2,
            "make: a command of a target failed, or there is no rule",
        ),
        ("cat file | grep y", 1, "no match"),
        ("diff file Makefile", 1, "there are differences"),
        ("timeout 0.01 sleep 60", 124, "timeout: the time"),
        ("curl -s http://127.0.0.1:9/", 7, "curl: no connection"),
        // False friends.
        (
            "git --version; bash -c 'exit 128'",
            128,
            "Invalid exit argument",
        ),
        ("make; bash -c 'exit 2'", 2, "Misuse of shell command"),
        (
            "set -o pipefail; bash -c 'exit 2' | cat",
            2,
            "Misuse of shell command",
        ),
        ("make | cat; exit 2", 2, "Misuse of shell command"),
        ("grep x file > not-there/found", 1, "General error"),
        ("make-it-so", 127, "Command not found"),
        (
            "git() { return 128; }; git push",
            128,
            "Invalid exit argument",
        ),
    ] {
        let reply = place.call("bash", &json!({"command": command}), &["--approve", "all"]);
        assert_eq!(reply["exitCode"], code, "{command}: {reply:#}");
        let said = reply["returnCodeInterpretation"].as_str().unwrap();
        assert!(said.starts_with(meaning), "{command}: {said}");
    }
    let arguments = json!({"command": ["bash", "-lc", "cd . && git log"]});
    let reply = place.call("shell", &arguments, &["--approve", "all"]);
    let said = reply["exit_code_meaning"].as_str().unwrap();
    assert!(said.starts_with("git: a fatal error"), "{reply:#}");
}

#[test]
fn bad_input_gets_an_error_with_its_own_code() {
    let place = Place::new();
    let closed = place.work().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    let cases: &[(&str, Value, &str, &str)] = &[
        ("shel", json!({}), "unknown_tool", "did you mean `shell`?"),
        (
            "bash",
            json!({"comand": "ls"}),
            "unknown_field",
            "did you mean `command`?",
        ),
        ("bash", json!({"command": 5}), "bad_arguments", "`command`"),
        (
            "bash",
            json!("ls"),
            "bad_arguments",
            "expected an object, got a string",
        ),
        (
            "bash",
            json!({}),
            "bad_arguments",
            "missing field `command`",
        ),
        ("bash", json!({"command": "  "}), "empty_command", "empty"),
        ("shell", json!({"command": []}), "empty_command", "empty"),
        (
            "shell",
            json!({"command": ["printf", "a\u{0}b"]}),
            "nul_in_argument",
            "NUL",
        ),
        (
            "shell",
            json!({"command": ["ls"], "workdir": "missing"}),
            "workdir_unusable",
            "missing",
        ),
        (
            "shell",
            json!({"command": ["ls"], "workdir": "closed"}),
            "workdir_unusable",
            "closed",
        ),
        (
            "shell",
            json!({"command": ["ls"], "workdir": "/etc/passwd"}),
            "workdir_unusable",
            "/etc/passwd",
        ),
        (
            "shell",
            json!({"command": ["no-such-program-here"]}),
            "program_not_found",
            "was not found",
        ),
        (
            "shell",
            json!({"command": ["/etc/passwd"]}),
            "program_not_executable",
            "/etc/passwd",
        ),
        (
            "bash",
            json!({"command": "ls", "timeout": 600_001}),
            "timeout_too_long",
            "600000 ms",
        ),
        (
            "bash",
            json!({"command": "ls", "dangerouslyDisableSandbox": true}),
            "escalation_not_allowed",
            "allow_disable_sandbox",
        ),
        (
            "shell",
            json!({"command": ["ls"], "sandbox_permissions": "require_escalated"}),
            "escalation_not_allowed",
            "allow_disable_sandbox",
        ),
        (
            "bash",
            json!({"command": "rm -rf /"}),
            "dangerous",
            "never run",
        ),
    ];
    for (tool, arguments, code, says) in cases {
        let reply = place.call(tool, arguments, &["--approve", "all"]);
        assert_eq!(reply["error"]["code"], *code, "{tool} {arguments}: {reply}");
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{tool} {arguments}: {message}");
        let next = place.call("shell", &json!({"command": ["true"]}), &[]);
        assert_eq!(
            next["exit_code"], 0,
            "the call after {tool} {arguments}: {next}"
        );
    }
    let broken = place.output(&["call", "bash", "{not json"]);
    assert!(broken.stdout.contains("they are not JSON"), "{broken:?}");
}

#[test]
fn a_broken_configuration_is_an_error_with_file_and_line() {
    let place = Place::new();
    let folder = place.home().join(".config/ringfence");
    std::fs::create_dir_all(&folder).unwrap();
    for (text, says) in [
        ("[sandbox]\nmode = \"read-onyl\"\n", ":2"),
        ("[sandbox]\nmoed = \"read-only\"\n", "mode"),
        ("[sandbox\n", ":1"),
    ] {
        std::fs::write(folder.join("config.toml"), text).unwrap();
        let ran = place.output(&["run", "--", "true"]);
        assert_eq!(ran.code, Some(125), "{text}: {ran:?}");
        assert!(
            ran.stderr.contains("config.toml") && ran.stderr.contains(says),
            "{text}: {ran:?}"
        );
    }
    std::fs::write(folder.join("config.toml"), "").unwrap();
    assert_eq!(place.output(&["run", "--", "true"]).code, Some(0));
    std::fs::write(
        folder.join("rules.toml"),
        "[[rule]]\nprefix = [\"ls\"]\ndecision = \"alow\"\n",
    )
    .unwrap();
    let ran = place.output(&["run", "--", "true"]);
    assert!(
        ran.code == Some(125) && ran.stderr.contains("rules.toml"),
        "{ran:?}"
    );
}

#[test]
fn a_time_out_keeps_the_output_so_far() {
    let place = Place::new();
    let arguments = json!({"command": "echo before; sleep 30", "timeout": 700});
    let reply = place.call("bash", &arguments, &["--approve", "all"]);
    assert_eq!(reply["exitCode"], 124, "{reply}");
    assert_eq!(reply["interrupted"], true);
    assert_eq!(reply["stdout"], "before\n");
}

#[test]
fn a_process_that_holds_the_output_open_does_not_hold_the_call() {
    let place = Place::new();
    let started = std::time::Instant::now();
    let reply = place.call("bash", &json!({"command": "sleep 60 & echo done"}), &[]);
    assert!(
        started.elapsed() < std::time::Duration::from_secs(20),
        "{reply}"
    );
    assert_eq!(reply["stdout"], "done\n", "{reply}");
    assert!(reply["backgroundTaskId"].is_string(), "{reply}");
    assert_eq!(
        reply["background_processes"].as_array().map(Vec::len),
        Some(1),
        "{reply}"
    );
}

#[test]
fn long_output_is_cut_and_kept_in_a_file() {
    let place = Place::new();
    let reply = place.call(
        "bash",
        &json!({"command": "seq 1 20000; cat /dev/null"}),
        &[],
    );
    let text = reply["stdout"].as_str().unwrap();
    assert!(
        text.starts_with("1\n2\n") && text.ends_with("19999\n20000\n"),
        "{reply}"
    );
    assert!(text.chars().count() < 30_200 && text.contains("bytes of output left out"));
    let path = reply["rawOutputPath"].as_str().unwrap();
    assert!(!path.starts_with(place.work().to_str().unwrap()));
    assert!(reply["summary"].as_str().unwrap().contains(path), "{reply}");
}

#[test]
fn a_call_may_leave_the_fence_only_where_configured_and_approved() {
    let place = Place::new();
    let folder = place.home().join(".config/ringfence");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("config.toml"),
        "[sandbox]\nallow_disable_sandbox = true\n",
    )
    .unwrap();
    let target = place.home().join("outside");
    let arguments = json!({
        "command": ["touch", target],
        "sandbox_permissions": "require_escalated",
        "justification": "the outside file is needed",
    });
    let refused = place.call("shell", &arguments, &["--approve", "none"]);
    assert_eq!(refused["error"]["code"], "denied_by_user", "{refused}");
    let unasked = place.call("shell", &arguments, &[]);
    assert_eq!(
        unasked["error"]["code"], "approval_not_possible",
        "{unasked}"
    );
    assert!(!target.exists());
    // A yes to everything inside is none to leaving.
    let inside = place.call("shell", &arguments, &["--approve", "all"]);
    assert_eq!(inside["error"]["code"], "denied_by_user", "{inside}");
    assert!(!target.exists());
    let allowed = place.call("shell", &arguments, &["--approve", "all,unfenced"]);
    assert_eq!(
        (allowed["exit_code"].clone(), allowed["sandbox"].clone()),
        (json!(0), json!("none"))
    );
    assert!(target.exists());
    let record = place.output(&["audit", "show", "--json"]);
    assert!(
        record.stdout.contains("the outside file is needed"),
        "{record:?}"
    );
    let verified = place.output(&["audit", "verify"]);
    assert!(
        verified.code == Some(0) && verified.stdout.starts_with("intact"),
        "{verified:?}"
    );
}

/// Whoever takes the log, its heads and their register away leaves nothing that is called intact.
#[test]
fn a_record_that_is_not_there_is_not_intact() {
    let place = Place::new();
    place.call("shell", &json!({"command": ["true"]}), &[]);
    assert_eq!(place.output(&["audit", "verify"]).code, Some(0));
    let state = place.home().join(".local/state/ringfence");
    std::fs::remove_dir_all(state.join("audit")).unwrap();
    std::fs::remove_dir_all(state.join("audit-state")).unwrap();
    let ran = place.output(&["audit", "verify"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.starts_with("nothing to verify"), "{ran:?}");
    let ran = place.output(&["audit", "verify", "--json"]);
    assert!(ran.stdout.contains("\"intact\": null"), "{ran:?}");
}

#[test]
fn the_record_tells_when_it_was_changed() {
    let place = Place::new();
    for _ in 0..2 {
        place.call("shell", &json!({"command": ["true"]}), &[]);
    }
    let folder = place.home().join(".local/state/ringfence/audit");
    let file = std::fs::read_dir(&folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("true", "tree", 1)).unwrap();
    let ran = place.output(&["audit", "verify"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stdout.contains(&format!("{}:", file.display())),
        "{ran:?}"
    );
    assert!(
        place
            .output(&["audit", "verify", "--json"])
            .stdout
            .contains("\"intact\": false")
    );
}

#[test]
fn printing_a_gigabyte_needs_little_memory() {
    let place = Place::new();
    let text = json!({"command": "head -c 1000000000 /dev/zero | tr '\\0' x"}).to_string();
    let child = place.spawn(&["call", "--approve", "all", "bash", &text]);
    let (reply, mebibytes) = output_and_memory(child);
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!(reply["exitCode"], 0, "{}", reply["stderr"]);
    let stdout = reply["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("xxx") && stdout.ends_with("xxx"));
    assert!(
        reply["summary"]
            .as_str()
            .unwrap()
            .contains("of 1000000000 bytes"),
        "{}",
        reply["summary"]
    );
    assert!(mebibytes < 64, "ringfence used {mebibytes} MiB");
}

#[test]
fn a_setting_that_is_not_served_is_refused_and_not_ignored() {
    let place = Place::new();
    let output = place
        .ringfence(&["run", "--", "echo", "ran"])
        .env("RINGFENCE_SCRIPT_EXPOSE_ENABLE_MCP", "true")
        .output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(
        output.stdout.is_empty() && said.contains("not available"),
        "{said}"
    );
}
