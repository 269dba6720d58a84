//! `process_vm_readv` and `process_vm_writev`.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "process_vm",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Probe("process_vm"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("read_own_memory"),
    worked: |_, done| done.code == 0,
};
