//! Descriptors of the run's init, which has some that lead out: to the harness, and to the controls
//! of the run's limits.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "descriptors_of_init",
    below: "/var/tmp",
    prepare: |fence| fence.limits.memory_bytes = Some(1 << 30),
    attack: Deed::Probe("descriptors_of_init"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Shell(r#"test -e /proc/self/fd/1 && test -d /proc/1"#),
    worked: |_, done| done.code == 0,
};
