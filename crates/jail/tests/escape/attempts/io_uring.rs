//! `io_uring` does file and network work past a seccomp filter.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "io_uring",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Probe("io_uring"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("read_a_file"),
    worked: |_, done| done.code == 0,
};
