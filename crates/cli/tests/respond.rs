//! `ringfence respond` and `ringfence tools`, from the outside.

#![allow(clippy::unwrap_used)]

mod program;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use program::Place;
use serde_json::Value;

fn items(place: &Place, flags: &[&str], message: &str) -> (Vec<Value>, Option<i32>) {
    let mut arguments = vec!["respond", "--json", "--approve", "all"];
    arguments.extend(flags);
    arguments.push("-");
    let ran = place.output_given(&arguments, message);
    let items =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    (items, ran.code)
}

fn types(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .map(|item| item["type"].as_str().unwrap())
        .collect()
}

/// What was said, thoughts and scripts left out.
fn said(items: &[Value]) -> String {
    items
        .iter()
        .filter_map(|item| {
            item["content"][0]["text"]
                .as_str()
                .filter(|_| item["type"] == "message")
        })
        .collect()
}

const MESSAGE: &str = "Let me fix it.\n\n<thinking>\nfirst look\n</thinking>\n\nStarting.\n\n<tool-calls>\nconst found = await tools.fileSearch({pattern: \"*.test.ts\"});\nawait tools.applyPatch({patch: \"*** Begin Patch\\n*** Add File: made.txt\\n+by the first\\n*** End Patch\"});\nreturn {message: `found ${found.length}`};\n</tool-calls>\n\nThen:\n\n```ts tool-calls\nconst read: { stdout: string } = await tools.exec({command: [\"cat\", \"made.txt\"]});\nreturn read.stdout;\n```\n\nDone — «fini».\n";

#[test]
fn everything_in_a_message_comes_out_in_order() {
    let place = Place::new();
    fs::write(place.work().join("a.test.ts"), "").unwrap();
    let (items, code) = items(&place, &[], MESSAGE);
    assert_eq!(
        types(&items),
        [
            "message",
            "reasoning",
            "message",
            "script_tool_call",
            "script_tool_call_output",
            "message",
            "script_tool_call",
            "script_tool_call_output",
            "message",
        ],
        "{items:#?}"
    );
    assert_eq!(code, Some(0), "{items:#?}");
    assert_eq!(
        said(&items),
        "Let me fix it.\n\n\n\nStarting.\n\n\n\nThen:\n\n\n\nDone — «fini».\n"
    );
    assert_eq!(items[1]["content"][0]["text"], "\nfirst look\n");
    assert_eq!(items[3]["status"], "completed", "{items:#?}");
    assert_eq!(items[3]["call_id"], items[4]["call_id"]);
    assert_eq!(items[4]["summary"], "found 1", "{items:#?}");
    // The second runs after the first, and sees what it did.
    assert_eq!(items[7]["output_json"], "\"by the first\\n\"", "{items:#?}");
    let first = items[3]["source_sha256"].as_str().unwrap();
    assert_eq!(first.len(), 64);
}

#[test]
fn modes_decide_whether_scripts_run() {
    let script =
        "a\n<tool-calls>\nawait tools.exec({command: [\"touch\", \"ran\"]});\n</tool-calls>\nb\n";
    let place = Place::new();
    let config = place.home().join(".config/ringfence");
    fs::create_dir_all(&config).unwrap();
    let ran = || place.work().join("ran").exists();

    let (disabled, code) = items(&place, &["--mode", "disabled"], script);
    assert_eq!(types(&disabled), ["message", "message", "message"]);
    assert!(
        said(&disabled).contains("was not run: scripts are disabled"),
        "{disabled:#?}"
    );
    assert_eq!((code, ran()), (Some(0), false));

    let (dry, code) = items(&place, &["--dry-run"], script);
    let report = dry[2]["output_json"].as_str().unwrap();
    assert!(
        report.contains("\"dryRun\":true") && report.contains("exec"),
        "{dry:#?}"
    );
    assert_eq!((code, ran()), (Some(0), false));

    // The general setting, then the provider's, then the turn's.
    fs::write(
        config.join("config.toml"),
        "[script]\nmode = \"disabled\"\nenabled_providers = [\"good\"]\n",
    )
    .unwrap();
    assert_eq!(types(&items(&place, &[], script).0).len(), 3);
    assert!(!ran());
    assert_eq!(
        types(&items(&place, &["--provider", "good"], script).0).len(),
        4
    );
    assert!(ran());
    fs::remove_file(place.work().join("ran")).unwrap();
    let turn = items(&place, &["--provider", "good", "--mode", "dry-run"], script);
    assert_eq!(types(&turn.0).len(), 4);
    assert!(!ran());
}

#[test]
fn what_cannot_be_run_is_told_with_its_place() {
    let place = Place::new();
    for (message, code, part, line) in [
        (
            "a\n<tool-calls>\nreturn 1;",
            "ScriptSyntaxError",
            "has no `</tool-calls>`",
            2,
        ),
        (
            "<tool-calls>\na <tool-calls>\nb</tool-calls></tool-calls>",
            "ScriptSyntaxError",
            "inside a block",
            2,
        ),
        (
            "```ts tool-calls\nreturn 1;\n",
            "ScriptSyntaxError",
            "is not closed",
            1,
        ),
    ] {
        let (items, exit) = items(&place, &[], message);
        let error = &items.last().unwrap()["error"];
        assert_eq!(error["code"], code, "{items:#?}");
        assert_eq!(error["phase"], "parsing");
        assert_eq!(error["metadata"]["line"], line, "{items:#?}");
        assert!(
            error["message"].as_str().unwrap().contains(part),
            "{items:#?}"
        );
        assert_eq!(exit, Some(1));
    }
    let (items, exit) = items(
        &place,
        &[],
        "one\n\n<tool-calls>\nlet x = ;\n</tool-calls>\ntwo",
    );
    assert_eq!(
        types(&items),
        [
            "message",
            "script_tool_call",
            "script_tool_call_output",
            "message"
        ]
    );
    assert_eq!(items[2]["error"]["code"], "ScriptSyntaxError", "{items:#?}");
    assert_eq!(
        items[2]["error"]["metadata"]["messageLine"], 4,
        "{items:#?}"
    );
    assert_eq!((exit, said(&items).as_str()), (Some(1), "one\n\n\ntwo"));
}

#[test]
fn a_script_runs_as_soon_as_it_is_whole() {
    let place = Place::new();
    let mut child = place
        .ringfence(&["respond", "--approve", "all", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    stdin
        .write_all(b"first\n<tool-calls>return 6 * 7</tool-calls>")
        .unwrap();
    stdin.flush().unwrap();
    // The message goes on only after the result has been seen.
    assert_eq!(lines.next().unwrap().unwrap(), "first");
    assert_eq!(lines.next().unwrap().unwrap(), "42");
    stdin.write_all(b" last\n").unwrap();
    drop(stdin);
    assert_eq!(lines.next().unwrap().unwrap(), " last");
    assert!(child.wait().unwrap().success());
}

#[test]
fn tools_are_listed_for_people_models_and_scripts() {
    let place = Place::new();
    let listed = place.output(&["tools"]).stdout;
    assert!(
        listed.contains("apply_patch") && listed.contains("in scripts: tools."),
        "{listed}"
    );
    let json: Value = serde_json::from_str(&place.output(&["tools", "--json"]).stdout).unwrap();
    let patch = json
        .as_array()
        .unwrap()
        .iter()
        .find(|tool| tool["name"] == "apply_patch")
        .unwrap();
    assert_eq!(patch["schema"]["properties"]["patch"]["type"], "string");
    let dts = place.output(&["tools", "--dts"]).stdout;
    for part in [
        "declare const tools: {",
        "  exec(args: {",
        "  applyPatch(args: {\n",
        "}): Promise<FileSearchResult[]>;",
        "  search(query: string)",
    ] {
        assert!(dts.contains(part), "{part}: {dts}");
    }
    assert!(!dts.contains("spawn"), "{dts}");
    let folder = place.home().join(".config/ringfence");
    std::fs::create_dir_all(&folder).unwrap();
    let text = "[script.expose]\nenable_spawn = true\n";
    std::fs::write(folder.join("config.toml"), text).unwrap();
    let dts = place.output(&["tools", "--dts"]).stdout;
    for part in [
        "  spawn: {\n",
        "    cancel(args: string): Promise<boolean>;\n",
        "): { id: string; done: Promise<ExecResult> };\n",
    ] {
        assert!(dts.contains(part), "{part}: {dts}");
    }
    let prompt = place.output(&["tools", "--prompt"]).stdout;
    assert!(
        prompt.contains("<tool-calls>") && prompt.contains("tools.exec"),
        "{prompt}"
    );
}

#[test]
fn scripts_look_tools_up() {
    let place = Place::new();
    let script = "<tool-calls>\nconst [first] = await tools.search(\"patch\");\nconst about = await tools.describe(first.name);\nreturn about.declaration;\n</tool-calls>";
    let (items, code) = items(&place, &[], script);
    assert_eq!(code, Some(0), "{items:#?}");
    let output = items[1]["output_json"].as_str().unwrap();
    assert!(output.contains("applyPatch(args: {"), "{output}");
}
