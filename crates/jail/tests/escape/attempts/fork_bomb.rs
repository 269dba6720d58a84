//! A fork bomb, bounded by the process limit.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "fork_bomb",
    below: "/var/tmp",
    prepare: |fence| fence.limits.processes = Some(400),
    attack: Deed::Probe("fork_until_refused"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("fork_and_wait"),
    worked: |_, done| done.code == 0,
};
