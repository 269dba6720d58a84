//! The schemas of the tools: a model reads them, so that a change is a change of the interface.

use std::fmt::Write;

use expect_test::expect_file;
use ringfence::declarations::{self, Declared, Returns};
use ringfence::tools::ToolSet;
use serde_json::json;

use crate::conform;
use crate::support::Case;

pub(crate) fn cases() -> Vec<Case> {
    plain![of_arguments_stay, of_replies_stay, can_tell]
}

fn of_arguments_stay() {
    let mut text = String::new();
    for tool in ToolSet::every_built_in().iter() {
        let schema = serde_json::to_string_pretty(&tool.schema()).unwrap();
        writeln!(text, "{} {:?}: {schema}\n", tool.name(), tool.aliases()).unwrap();
    }
    expect_file!["./arguments.txt"].assert_eq(&text);
}

/// As the declarations that are made from them, which are short enough to be read.
fn of_replies_stay() {
    let tools = ToolSet::every_built_in();
    let declared = tools.iter().map(|tool| Declared {
        returns: Returns::Promise(tool.output_schema()),
        ..Declared::new(tool.name(), tool.description(), json!({}))
    });
    let declared: Vec<_> = declared.collect();
    expect_file!["./replies.d.ts"].assert_eq(&declarations::declarations(&declared));
}

/// The check of replies finds what is wrong with one.
fn can_tell() {
    let schema = ToolSet::built_in()
        .find("file_search")
        .unwrap()
        .output_schema();
    for (reply, fits) in [
        (json!([]), true),
        (json!([{"path": "a", "score": 1, "indices": [0]}]), true),
        (json!({}), false),
        (json!([{"path": "a"}]), false),
        (json!([{"path": "a", "score": "1"}]), false),
        (json!([{"path": "a", "score": 1, "other": 1}]), false),
        (json!([{"path": "a", "score": 1, "indices": ["0"]}]), false),
    ] {
        assert_eq!(conform::problem(&schema, &reply).is_none(), fits, "{reply}");
    }
}
