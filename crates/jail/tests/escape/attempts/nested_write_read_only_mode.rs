//! The read-only policy: no file anywhere can be written.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "nested_write_read_only_mode",
    below: "/var/tmp",
    prepare: |fence| {
        fs::write(fence.workspace().join("readable"), "text").unwrap();
        fence.sandbox.mode = ringfence_policy::permissions::SandboxMode::ReadOnly;
    },
    attack: Deed::Shell(
        r#"printf x > planted; printf x > /tmp/planted && echo WROTE; printf x > "$HOME/planted"; printf x > "$OUTSIDE/planted"; true"#,
    ),
    escaped: |fence, done| {
        done.text.contains("WROTE")
            || fence.workspace().join("planted").exists()
            || fence.home().join("planted").exists()
    },
    twin: Deed::Shell(r#"cat readable && : > /dev/null"#),
    worked: |_, done| done.text.contains("text"),
};
