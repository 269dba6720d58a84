//! A symlink swapped between check and use: one process puts a folder and a link out of the
//! workspace in each other's place while another writes through the name.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "swapped_symlink",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Shell(
        r#"mkdir real; ln -s "$OUTSIDE" out; ln -s real name
        (for i in $(seq 300); do ln -sfnT out name; ln -sfnT real name; done) &
        for i in $(seq 300); do (printf x > name/planted) 2>/dev/null; done; wait"#,
    ),
    escaped: |fence, _| fence.outside().join("planted").exists(),
    twin: Deed::Shell(
        r#"for i in $(seq 20); do ln -sfnT real name; printf x > name/written; done; cat real/written"#,
    ),
    worked: |fence, done| done.code == 0 && fence.workspace().join("real/written").exists(),
};
