//! A repository that does not exist yet is made, with hooks and a configuration of its own.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "missing_repository",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Shell(
        r#"mkdir .git && printf '[core]\nfsmonitor=evil' > .git/config; git init -q . ; mkdir .git/hooks"#,
    ),
    escaped: |fence, _| fence.workspace().join(".git/config").exists(),
    twin: Deed::Shell(r#"mkdir sub && git init -q sub && test -f sub/.git/HEAD"#),
    worked: |_, done| done.code == 0,
};
