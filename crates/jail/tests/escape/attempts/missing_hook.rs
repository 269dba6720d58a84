//! A protected file that does not exist yet is simply created.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "missing_hook",
    below: "/var/tmp",
    prepare: |fence| fs::create_dir(fence.workspace().join(".git")).unwrap(),
    attack: Deed::Shell(r#"mkdir -p .git/hooks; printf x > .git/hooks/pre-commit"#),
    escaped: |fence, _| fence.workspace().join(".git/hooks/pre-commit").exists(),
    twin: Deed::Shell(r#"printf x > .git/COMMIT_EDITMSG && mkdir -p .git/objects/ab"#),
    worked: |fence, _| fence.workspace().join(".git/COMMIT_EDITMSG").exists(),
};
