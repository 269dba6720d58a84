//! A socket of the machine's, while another has a name that is no text: a list of names must not
//! fail for it.

use super::{Attempt, Deed};
use crate::daemon;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "socket_beside_an_odd_name",
    below: "/var/tmp",
    prepare: |fence| {
        use std::os::unix::ffi::OsStrExt;
        daemon::listen(fence.outside().join("daemon.sock"));
        let odd = std::ffi::OsStr::from_bytes(b"odd-\xff\xfe.sock");
        daemon::listen(fence.outside().join(odd));
    },
    attack: Deed::Probe("connect_daemon"),
    escaped: |_, done| done.code == 0 || daemon::was_reached(),
    twin: Deed::Probe("sockets_of_ones_own"),
    worked: |_, done| done.code == 0,
};
