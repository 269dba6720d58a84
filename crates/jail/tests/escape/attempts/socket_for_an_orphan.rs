//! The machine's socket for a process whose parent has ended.

use super::{Attempt, Deed};
use crate::daemon;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "socket_for_an_orphan",
    below: "/var/tmp",
    prepare: |fence| daemon::listen(fence.outside().join("daemon.sock")),
    attack: Deed::Probe("connect_as_an_orphan"),
    escaped: |_, done| done.code == 0 || daemon::was_reached(),
    twin: Deed::Probe("ones_own_as_an_orphan"),
    worked: |_, done| done.code == 0,
};
