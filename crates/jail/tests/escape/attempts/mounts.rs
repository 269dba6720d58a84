//! Uncovering what is covered: mounting and unmounting.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "mounts",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Probe("change_mounts"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Shell(r#"grep -q . /proc/self/mounts"#),
    worked: |_, done| done.code == 0,
};
