//! Datagrams to the machine from one end of a pair: it need not be connected to where they go.

use super::{Attempt, Deed};
use std::os::unix::net::UnixDatagram;
use std::sync::OnceLock;

static LISTENER: OnceLock<UnixDatagram> = OnceLock::new();

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "pairs_for_datagrams",
    below: "/var/tmp",
    prepare: |fence| {
        let path = fence.outside().join("log.sock");
        let listener = UnixDatagram::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        UnixDatagram::unbound()
            .unwrap()
            .send_to(b"x", &path)
            .unwrap();
        listener.recv(&mut [0; 8]).unwrap();
        LISTENER.set(listener).unwrap();
    },
    attack: Deed::Probe("send_from_a_pair"),
    escaped: |_, done| done.code == 0 || LISTENER.get().unwrap().recv(&mut [0; 8]).is_ok(),
    twin: Deed::Probe("pairs_of_ones_own"),
    worked: |_, done| done.code == 0,
};
