//! The machine's socket while the queue of those who answer for connections is full.

use super::{Attempt, Deed};
use crate::daemon;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "socket_while_many_wait",
    below: "/var/tmp",
    prepare: |fence| daemon::listen(fence.outside().join("daemon.sock")),
    attack: Deed::Probe("connect_while_many_wait"),
    escaped: |_, done| {
        done.code == 0 || daemon::was_reached() || !done.text.contains("still served")
    },
    twin: Deed::Probe("connect_many_at_once"),
    worked: |_, done| done.code == 0,
};
