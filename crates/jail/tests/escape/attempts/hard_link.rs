//! A hard link to a denied or read-only file.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "hard_link",
    below: "/var/tmp",
    prepare: |fence| {
        fs::create_dir(fence.home().join(".ssh")).unwrap();
        fs::write(fence.home().join(".ssh/id"), "SECRET").unwrap();
        fs::write(fence.outside().join("file"), "kept").unwrap();
    },
    attack: Deed::Shell(
        r#"ln "$HOME/.ssh/id" stolen; ln "$OUTSIDE/file" mine; printf changed > mine; cat stolen"#,
    ),
    escaped: |fence, done| {
        done.text.contains("SECRET")
            || fs::read_to_string(fence.outside().join("file")).unwrap() != "kept"
    },
    twin: Deed::Shell(r#"printf x > a && ln a b && printf y > b && test $(cat a) = y"#),
    worked: |_, done| done.code == 0,
};
