//! The names that a tool of one's own can have.

use ringfence::tools::{ToolNameError, ToolSet};

use crate::own::Weigh;
use crate::support::Case;

pub(crate) fn cases() -> Vec<Case> {
    plain![are_taken_once]
}

fn are_taken_once() {
    let with = |name| ToolSet::built_in().with(Weigh { name }).map(drop);
    for (name, tool) in [
        ("bash", "bash"),
        ("applyPatch", "apply_patch"),
        ("writeStdin", "write_stdin"),
        ("Shell", "shell"),
    ] {
        let taken = ToolNameError::Taken {
            name: name.to_owned(),
            tool: tool.to_owned(),
        };
        assert_eq!(with(name), Err(taken));
    }
    for name in ["exec", "spawn", "search", "describe", "mcp", "http", "then"] {
        let name = name.to_owned();
        assert_eq!(
            with(name.clone().leak()),
            Err(ToolNameError::Reserved { name })
        );
    }
    for name in [
        "",
        "1st",
        "a.b",
        "a b",
        "ä",
        "x\n",
        "constructor()",
        "__proto__",
    ] {
        let not = ToolNameError::NotAName {
            name: name.to_owned(),
        };
        assert_eq!(with(name), Err(not), "{name}");
    }
    for name in ["weigh", "weigh-2", "weighIt"] {
        assert_eq!(with(name), Ok(()));
    }
    let twice = ToolSet::built_in().with(Weigh { name: "weigh" });
    let twice = twice.unwrap().with(Weigh { name: "weigh" });
    assert!(matches!(twice, Err(ToolNameError::Taken { .. })));
}
