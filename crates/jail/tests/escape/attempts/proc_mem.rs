//! `/proc/<pid>/mem` of the run's init, and of whatever else can be seen.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "proc_mem",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Probe("write_foreign_memory"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("read_own_memory"),
    worked: |_, done| done.code == 0,
};
