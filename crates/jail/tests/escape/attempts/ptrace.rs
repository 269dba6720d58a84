//! `ptrace` of another process.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "ptrace",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Probe("ptrace"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("fork_and_wait"),
    worked: |_, done| done.code == 0,
};
