//! A socket of the machine's beside one that the policy names.

use super::{Attempt, Deed};
use crate::daemon;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "socket_that_is_not_named",
    below: "/var/tmp",
    prepare: |fence| {
        daemon::listen(fence.outside().join("daemon.sock"));
        daemon::listen(fence.outside().join("allowed.sock"));
        fence.sandbox.unix_sockets = vec![fence.outside().join("allowed.sock")];
    },
    attack: Deed::Probe("connect_daemon"),
    escaped: |_, done| done.code == 0 || daemon::was_reached(),
    twin: Deed::Probe("connect_allowed"),
    worked: |_, done| done.code == 0,
};
