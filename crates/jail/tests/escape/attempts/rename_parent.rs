//! `mv` of a parent directory defeats a path rule: move it away, put another in its place.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "rename_parent",
    below: "/var/tmp",
    prepare: |fence| fs::create_dir_all(fence.workspace().join(".git/hooks")).unwrap(),
    attack: Deed::Shell(
        r#"mv .git aside; mkdir -p .git/hooks; printf x > .git/hooks/pre-commit; rm -rf .git; mkdir -p .git/hooks; printf y > .git/hooks/pre-commit"#,
    ),
    escaped: |fence, _| {
        fence.workspace().join(".git/hooks/pre-commit").exists()
            || fence.workspace().join("aside").exists()
    },
    twin: Deed::Shell(r#"mkdir -p dir/hooks && mv dir aside2 && mkdir dir && printf x > dir/f"#),
    worked: |_, done| done.code == 0,
};
