//! The schemas of the tools: a model reads them, so that a change is a change of the interface.

use std::fmt::Write;

use expect_test::expect_file;
use ringfence::tools::TOOLS;

use crate::stage::Case;

pub(crate) fn cases() -> Vec<Case> {
    vec![("schemas::of_arguments_stay", of_arguments_stay)]
}

fn of_arguments_stay() {
    let mut text = String::new();
    for tool in TOOLS {
        let schema = serde_json::to_string_pretty(&(tool.schema)()).unwrap();
        writeln!(text, "{} {:?}: {schema}\n", tool.name, tool.aliases).unwrap();
    }
    expect_file!["./arguments.txt"].assert_eq(&text);
}
