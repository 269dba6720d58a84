//! A denied path that is a symbolic link, or that is reached through one.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "denied_through_a_link",
    below: "/var/tmp",
    prepare: |fence| {
        fs::create_dir(fence.home().join(".ssh")).unwrap();
        fs::write(fence.home().join(".ssh/id"), "SECRET").unwrap();
        fs::write(fence.home().join("real"), "SECRET").unwrap();
        std::os::unix::fs::symlink("real", fence.home().join(".netrc")).unwrap();
        fs::write(fence.home().join("open"), "PUBLIC").unwrap();
    },
    attack: Deed::Shell(
        r#"ln -s "$HOME/.ssh" keys; cat keys/id; cat "$HOME/.netrc"; cat "$HOME/real""#,
    ),
    escaped: |_, done| done.text.contains("SECRET"),
    twin: Deed::Shell(r#"cat "$HOME/open""#),
    worked: |_, done| done.text.contains("PUBLIC"),
};
