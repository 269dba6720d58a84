//! A socket of the machine's in the workspace, where it was before the session: by its name, by
//! another one, and moved to where one's own was.

use super::{Attempt, Deed};
use crate::daemon;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "socket_that_was_there",
    below: "/var/tmp",
    prepare: |fence| daemon::listen(fence.workspace().join("daemon.sock")),
    attack: Deed::Probe("connect_what_was_there"),
    escaped: |_, done| done.code == 0 || daemon::was_reached(),
    twin: Deed::Probe("sockets_of_ones_own"),
    worked: |_, done| done.code == 0,
};
