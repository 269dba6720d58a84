//! Keys, kernel programs, performance counters, and page faults in user space.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "kernel_keys_and_programs",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Probe("kernel_interfaces"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("native_table"),
    worked: |_, done| done.code == 0,
};
