//! A `.git` that is a file names a git folder elsewhere: one with hooks of the attacker's.

use std::fs;

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "dot_git_file",
    below: "/var/tmp",
    prepare: |fence| fs::write(fence.workspace().join(".git"), "gitdir: /elsewhere\n").unwrap(),
    attack: Deed::Shell(
        r#"mkdir -p evil/hooks; printf x > evil/hooks/pre-commit; printf 'gitdir: evil\n' > .git
        printf 'gitdir: evil\n' > new; mv -f new .git; rm -f .git; ln -sf evil .git; mv .git aside"#,
    ),
    escaped: |fence, _| {
        fs::read_to_string(fence.workspace().join(".git"))
            .ok()
            .as_deref()
            != Some("gitdir: /elsewhere\n")
    },
    twin: Deed::Shell(r#"cat .git && printf 'gitdir: x\n' > other && mv -f other another"#),
    worked: |_, done| done.code == 0,
};
