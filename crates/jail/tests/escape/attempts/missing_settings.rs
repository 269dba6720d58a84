//! Settings of editors and agents that do not exist yet, and that run code for the user, are created.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "missing_settings",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Shell(
        r#"for d in .vscode .idea .claude .codex .cursor .gemini; do mkdir $d; printf x > $d/settings.json; done; printf x > .mcp.json"#,
    ),
    escaped: |fence, _| {
        [
            ".vscode", ".idea", ".claude", ".codex", ".cursor", ".gemini",
        ]
        .iter()
        .any(|d| fence.workspace().join(d).join("settings.json").exists())
            || fence.workspace().join(".mcp.json").is_file()
    },
    twin: Deed::Shell(
        r#"mkdir settings && printf x > settings/settings.json && printf x > mcp.json"#,
    ),
    worked: |fence, _| fence.workspace().join("mcp.json").exists(),
};
