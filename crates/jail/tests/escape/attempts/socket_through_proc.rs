//! The machine's socket by the names that it has in `/proc`.

use super::{Attempt, Deed};
use crate::daemon;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "socket_through_proc",
    below: "/var/tmp",
    prepare: |fence| daemon::listen(fence.outside().join("daemon.sock")),
    attack: Deed::Probe("connect_through_proc"),
    escaped: |_, done| done.code == 0 || daemon::was_reached(),
    twin: Deed::Probe("ones_own_through_proc"),
    worked: |_, done| done.code == 0,
};
