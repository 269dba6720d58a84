//! Datagrams to a unix socket of the machine, as for its log: nothing has to be connected.

use std::os::unix::net::UnixDatagram;
use std::sync::OnceLock;

use super::{Attempt, Deed};

/// A daemon of the user's in an ordinary folder.
static LISTENER: OnceLock<UnixDatagram> = OnceLock::new();

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "machine_datagrams",
    below: "/var/tmp",
    prepare: |fence| {
        let path = fence.outside().join("log.sock");
        let listener = UnixDatagram::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        // What is sent on the machine arrives: this listener would notice.
        let here = UnixDatagram::unbound().unwrap();
        here.send_to(b"x", &path).unwrap();
        listener.recv(&mut [0; 8]).unwrap();
        LISTENER.set(listener).unwrap();
    },
    attack: Deed::Probe("send_to_the_machine"),
    escaped: |_, done| done.code == 0 || LISTENER.get().unwrap().recv(&mut [0; 8]).is_ok(),
    twin: Deed::Probe("pairs_of_ones_own"),
    worked: |_, done| done.code == 0,
};
