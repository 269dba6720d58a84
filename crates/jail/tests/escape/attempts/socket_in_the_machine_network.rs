//! The machine's socket where the session has the machine's network: nothing but the session's own
//! roll tells them apart there.

use super::{Attempt, Deed};
use crate::daemon;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "socket_in_the_machine_network",
    below: "/var/tmp",
    prepare: |fence| {
        fence.sandbox.network = ringfence_policy::permissions::Network::Full;
        daemon::listen(fence.outside().join("daemon.sock"));
        daemon::listen(fence.workspace().join("daemon.sock"));
    },
    attack: Deed::Probe("connect_either"),
    escaped: |_, done| done.code == 0 || daemon::was_reached(),
    twin: Deed::Probe("sockets_of_ones_own"),
    worked: |_, done| done.code == 0,
};
