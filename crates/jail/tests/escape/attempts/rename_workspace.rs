//! The workspace itself is moved away, so that another folder takes its path.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "rename_workspace",
    below: "/var/tmp",
    prepare: |fence| fs::write(fence.workspace().join("here"), "").unwrap(),
    attack: Deed::Shell(
        r#"mv -T "$WORKSPACE" "$WORKSPACE-2"; cd / && rename=$(printf "%s" "$WORKSPACE") &&  rmdir "$WORKSPACE""#,
    ),
    escaped: |fence, _| !fence.workspace().join("here").exists(),
    twin: Deed::Shell(r#"cd / && test -f "$WORKSPACE/here""#),
    worked: |_, done| done.code == 0,
};
