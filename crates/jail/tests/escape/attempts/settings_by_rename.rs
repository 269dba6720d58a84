//! A protected name is taken by renaming, linking or a symbolic link, not by creating.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "settings_by_rename",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Shell(
        r#"mkdir made && printf x > made/settings.json; mv made .claude; mv -T made .claude; ln -s made .claude; printf x > f; ln f .mcp.json; mv -f f .mcp.json; ln -sf f .mcp.json"#,
    ),
    escaped: |fence, _| {
        fence.workspace().join(".claude/settings.json").exists()
            || fence.workspace().join(".mcp.json").is_file()
            || fence.workspace().join(".mcp.json").is_symlink()
    },
    twin: Deed::Shell(r#"mkdir other && mv other renamed && ln -s renamed link && test -d link"#),
    worked: |_, done| done.code == 0,
};
