//! A socket that its daemon has bound by a relative name: no table says where it is.

use super::{Attempt, Deed};
use crate::daemon;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "socket_by_a_relative_name",
    below: "/var/tmp",
    prepare: |fence| {
        let back = std::env::current_dir().unwrap();
        std::env::set_current_dir(fence.outside()).unwrap();
        daemon::listen("daemon.sock");
        std::env::set_current_dir(back).unwrap();
    },
    attack: Deed::Probe("connect_daemon"),
    escaped: |_, done| done.code == 0 || daemon::was_reached(),
    twin: Deed::Probe("sockets_of_ones_own"),
    worked: |_, done| done.code == 0,
};
