//! `clone3`, whose flags a filter cannot see.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "clone3",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Probe("clone3_user_namespace"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("threads_and_forks"),
    worked: |_, done| done.code == 0,
};
