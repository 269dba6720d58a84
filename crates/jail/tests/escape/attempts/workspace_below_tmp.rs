//! A workspace below `/tmp` works, and its neighbours there stay out of sight.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "workspace_below_tmp",
    below: "/tmp",
    prepare: |fence| fs::write(fence.outside().join("file"), "SECRET").unwrap(),
    attack: Deed::Shell(r#"ls "$OUTSIDE" && cat "$OUTSIDE/file"; printf x > "$OUTSIDE/planted""#),
    escaped: |fence, done| done.text.contains("SECRET") || fence.outside().join("planted").exists(),
    twin: Deed::Shell(r#"printf x > made && test -f "$WORKSPACE/made""#),
    worked: |fence, done| done.code == 0 && fence.workspace().join("made").exists(),
};
