//! Making all of `.git` writable because the command line contains `git`.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "git_in_the_command_line",
    below: "/var/tmp",
    prepare: |fence| {
        let done = std::process::Command::new("git")
            .args(["init", "-q"])
            .arg(fence.workspace())
            .env("HOME", fence.home())
            .status()
            .unwrap();
        assert!(done.success());
    },
    attack: Deed::Shell(
        r#"git status; printf x > .git/hooks/pre-commit; printf x >> .git/config; git config core.pager evil"#,
    ),
    escaped: |fence, _| {
        fence.workspace().join(".git/hooks/pre-commit").exists()
            || fs::read_to_string(fence.workspace().join(".git/config"))
                .unwrap()
                .contains("evil")
    },
    twin: Deed::Shell(
        r#"git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && git log --oneline | grep -q one"#,
    ),
    worked: |_, done| done.code == 0,
};
