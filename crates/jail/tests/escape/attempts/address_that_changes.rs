//! The address of one's own socket becomes that of the machine's between the look and the call.

use super::{Attempt, Deed};
use crate::daemon;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "address_that_changes",
    below: "/var/tmp",
    prepare: |fence| daemon::listen(fence.outside().join("daemon.sock")),
    attack: Deed::Probe("change_the_address"),
    escaped: |_, _| daemon::was_reached(),
    twin: Deed::Probe("change_ones_own_address"),
    worked: |_, done| done.code == 0,
};
