//! A link to one's own socket and one to the machine's are exchanged all the time.

use super::{Attempt, Deed};
use crate::daemon;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "socket_behind_a_swapped_link",
    below: "/var/tmp",
    prepare: |fence| daemon::listen(fence.outside().join("daemon.sock")),
    attack: Deed::Probe("connect_a_swapped_link"),
    escaped: |_, _| daemon::was_reached(),
    twin: Deed::Probe("sockets_of_ones_own"),
    worked: |_, done| done.code == 0,
};
