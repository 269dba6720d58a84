//! A socket of a daemon in another network namespace, such as a container's: it is in nobody's
//! table.

use super::{Attempt, Deed};
use crate::daemon;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "socket_of_another_network",
    below: "/var/tmp",
    prepare: |fence| daemon::listen_in_another_network(&fence.outside().join("daemon.sock")),
    attack: Deed::Probe("connect_daemon"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("sockets_of_ones_own"),
    worked: |_, done| done.code == 0,
};
