//! A second seccomp listener.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "second_listener",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Probe("second_listener"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("second_filter"),
    worked: |_, done| done.code == 0,
};
