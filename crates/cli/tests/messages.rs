//! Scripts inside a message: what is around them is kept, and each has its output. The numbers in the names are those of the
//! scenarios in `crates/harness/tests/script`.

#![allow(clippy::unwrap_used)]

mod program;

use program::Place;
use serde_json::Value;

/// The items that `ringfence respond` makes of a message.
fn items(flags: &[&str], message: &str) -> Vec<Value> {
    let place = Place::new();
    let mut arguments = vec!["respond", "--json"];
    arguments.extend(flags);
    arguments.push("-");
    let ran = place.output_given(&arguments, message);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn types(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .map(|item| item["type"].as_str().unwrap())
        .collect()
}

fn text(item: &Value) -> &str {
    item["content"][0]["text"].as_str().unwrap()
}

#[test]
fn f02_text_around_a_script_is_kept() {
    let items = items(
        &[],
        "before — ümlaut\n<tool-calls>\nreturn 1\n</tool-calls>\n  after\n",
    );
    let expected = [
        "message",
        "script_tool_call",
        "script_tool_call_output",
        "message",
    ];
    assert_eq!(types(&items), expected);
    assert_eq!(text(&items[0]), "before — ümlaut\n");
    assert_eq!(text(&items[3]), "\n  after\n");
}

#[test]
fn f09_thoughts_scripts_and_text_keep_their_order() {
    let message = "a<thinking>why</thinking>b<tool-calls>return 1</tool-calls>c";
    let items = items(&[], message);
    let expected = [
        "message",
        "reasoning",
        "message",
        "script_tool_call",
        "script_tool_call_output",
        "message",
    ];
    assert_eq!(types(&items), expected, "{items:#?}");
    assert_eq!(text(&items[1]), "why");
}

#[test]
fn f13_outputs_belong_to_their_calls() {
    let items = items(&[], "<tool-calls>return { message: 'done' }</tool-calls>");
    assert_eq!(
        types(&items),
        ["script_tool_call", "script_tool_call_output"]
    );
    assert_eq!(items[0]["call_id"], items[1]["call_id"]);
    assert_eq!(items[0]["id"], items[1]["id"]);
    assert_eq!(
        (items[0]["status"].as_str(), items[1]["summary"].as_str()),
        (Some("completed"), Some("done"))
    );
}

#[test]
fn f17_a_warning_replaces_a_script_that_is_disabled() {
    let items = items(&["--mode", "disabled"], "<tool-calls>return 1</tool-calls>");
    assert!(
        types(&items).iter().all(|kind| *kind == "message"),
        "{items:#?}"
    );
    assert!(text(&items[0]).contains("disabled"), "{items:#?}");
}

#[test]
fn f19_a_fenced_block_is_a_script() {
    let items = items(
        &[],
        "```ts tool-calls\nconst one: number = 1;\nreturn one\n```\n",
    );
    assert_eq!(items[1]["output_json"], "1", "{items:#?}");
    let items = self::items(&[], "```ts\nreturn 1\n```\n");
    assert_eq!(types(&items), ["message"], "other code is text");
}

#[test]
fn f20_several_blocks_run_in_their_order() {
    let patch = "*** Begin Patch\\n*** Add File: a.txt\\n+one\\n*** End Patch";
    let message = format!(
        "<tool-calls>\nawait tools.applyPatch({{ patch: '{patch}' }}); return 1\n</tool-calls>\nthen\n<tool-calls>\nreturn (await tools.exec({{ command: ['cat', 'a.txt'] }})).stdout\n</tool-calls>"
    );
    let items = items(&[], &message);
    let outputs: Vec<&Value> = items
        .iter()
        .filter(|item| item["type"] == "script_tool_call_output")
        .collect();
    assert_eq!(outputs.len(), 2, "{items:#?}");
    assert_eq!(
        (&outputs[0]["output_json"], &outputs[1]["output_json"]),
        (&Value::from("1"), &Value::from("\"one\\n\"")),
        "{items:#?}"
    );
}
