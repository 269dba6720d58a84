//! Calls in the providers' own forms, served by the tools that are here.

use ringfence::dialect::provider::Provider;
use serde_json::{Value, json};

use crate::model::{Comes, Model, Says};
use crate::stage::Stage;
use crate::support::{Case, block_on};

pub(crate) fn cases() -> Vec<Case> {
    plain![the_own_forms_of_responses, the_own_tools_of_messages]
}

fn results(body: &str, kind: &str) -> Vec<Value> {
    let body: Value = serde_json::from_str(body).unwrap();
    let items = body
        .get("input")
        .or_else(|| body["messages"].as_array()?.last()?.get("content"))
        .unwrap();
    let items = items.as_array().unwrap().iter();
    items
        .filter(|item| item["type"].as_str().unwrap_or_default().ends_with(kind))
        .cloned()
        .collect()
}

fn the_own_forms_of_responses() {
    let mut stage = Stage::new();
    let provider = Provider::OpenAiResponses;
    stage.own = vec![
        json!({ "type": "local_shell" }),
        json!({ "type": "shell" }),
        json!({ "type": "apply_patch" }),
    ];
    std::fs::write(stage.work("a.txt"), "a\n").unwrap();
    let mut model = Model::new(
        provider,
        Comes::Streamed(50),
        vec![Says {
            text: "all of them",
            raw: vec![
                json!({ "type": "local_shell_call", "call_id": "l", "action": { "type": "exec", "command": ["sh", "-c", "echo $A"], "env": { "A": "from env" } } }),
                json!({ "type": "shell_call", "call_id": "s", "action": { "commands": ["echo one", "echo two >&2; exit 3"], "max_output_length": 500 } }),
                json!({ "type": "apply_patch_call", "call_id": "p", "operation": { "type": "update_file", "path": "a.txt", "diff": "@@\n-a\n+b\n" } }),
                json!({ "type": "apply_patch_call", "call_id": "q", "operation": { "type": "delete_file", "path": "none.txt" } }),
                json!({ "type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin Patch\n*** Add File: b.txt\n+b\n*** End Patch" }),
            ],
            ..Says::default()
        }],
    );
    model.parallel = false;
    let (report, _) = block_on(stage.run(provider, Comes::Streamed(50), &model));
    assert_eq!(report.changed_files, ["a.txt", "b.txt"]);
    assert_eq!(std::fs::read_to_string(stage.work("a.txt")).unwrap(), "b\n");
    let results = results(&model.bodies()[1], "_call_output");
    assert_eq!(results.len(), 5, "{results:?}");
    assert_eq!(results[0]["type"], "local_shell_call_output");
    assert!(results[0]["output"].as_str().unwrap().contains("from env"));
    assert_eq!(
        results[1]["output"],
        json!([
            { "stdout": "one\n", "stderr": "", "outcome": { "type": "exit", "exit_code": 0 } },
            { "stdout": "", "stderr": "two\n", "outcome": { "type": "exit", "exit_code": 3 } },
        ])
    );
    assert_eq!(results[1]["max_output_length"], 500);
    assert_eq!(
        (&results[2]["status"], &results[3]["status"]),
        (&json!("completed"), &json!("failed"))
    );
    assert_eq!(results[4]["type"], "custom_tool_call_output");
}

fn the_own_tools_of_messages() {
    let mut stage = Stage::new();
    let provider = Provider::AnthropicMessages;
    let editor = "str_replace_based_edit_tool";
    stage.own = vec![
        json!({ "type": "bash_20250124", "name": "bash" }),
        json!({ "type": "text_editor_20250728", "name": editor }),
    ];
    std::fs::write(stage.work("a.txt"), "one\ntwo\nthree\nfour").unwrap();
    let path = stage.work("a.txt");
    let edits = [
        json!({ "command": "view", "path": path, "view_range": [2, 3] }),
        json!({ "command": "str_replace", "path": path, "old_str": "wo\nth", "new_str": "WO\nTH" }),
        json!({ "command": "str_replace", "path": path, "old_str": "o", "new_str": "0" }),
        json!({ "command": "insert", "path": path, "insert_line": 4, "insert_text": "five\n" }),
        json!({ "command": "create", "path": stage.work("b.txt"), "file_text": "new\n" }),
        json!({ "command": "create", "path": stage.work("b.txt"), "file_text": "newer\n" }),
        json!({ "command": "view", "path": stage.work("none.txt") }),
        json!({ "command": "undo_edit", "path": path }),
    ];
    let ids = ["e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7"];
    // One after the other: each is a turn of its own.
    let mut turns: Vec<Says> = ids
        .iter()
        .zip(&edits)
        .map(|(id, edit)| Says {
            text: "edit",
            calls: vec![(id, editor, edit.to_string())],
            ..Says::default()
        })
        .collect();
    turns.push(Says {
        text: "run",
        calls: vec![
            ("r", "bash", json!({ "restart": true }).to_string()),
            ("b", "bash", json!({ "command": "cat b.txt" }).to_string()),
        ],
        ..Says::default()
    });
    let model = Model::new(provider, Comes::Whole, turns);
    let (report, _) = block_on(stage.run(provider, Comes::Whole, &model));
    assert_eq!(report.ended.code(), "done");
    let told: Vec<(bool, String)> = model.bodies()[1..]
        .iter()
        .flat_map(|body| results(body, "tool_result"))
        .map(|result| {
            (
                result["is_error"] == true,
                result["content"][0]["text"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    let failed: Vec<bool> = told.iter().map(|(failed, _)| *failed).collect();
    assert_eq!(
        failed,
        [
            false, false, true, false, false, false, true, true, false, false
        ],
        "{told:?}"
    );
    assert_eq!(told[0].1, "     2\ttwo\n     3\tthree\n");
    assert!(told[2].1.contains("2 times"), "{}", told[2].1);
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "one\ntWO\nTHree\nfour\nfive\n"
    );
    assert!(told[9].1.contains("newer"), "{}", told[9].1);
}
