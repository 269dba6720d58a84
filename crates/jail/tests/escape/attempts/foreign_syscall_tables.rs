//! The 32-bit and x32 system call tables.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "foreign_syscall_tables",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Probe("foreign_tables"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("native_table"),
    worked: |_, done| done.code == 0,
};
