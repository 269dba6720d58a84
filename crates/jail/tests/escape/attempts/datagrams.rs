//! UDP to somebody on the machine: nothing has to be connected for it.

use std::net::UdpSocket;
use std::sync::OnceLock;

use super::{Attempt, Deed};

/// Somebody on the machine's loopback.
static LISTENER: OnceLock<UdpSocket> = OnceLock::new();

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "datagrams",
    below: "/var/tmp",
    prepare: |_| {
        let listener = UdpSocket::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        // SAFETY: this process has a single thread.
        unsafe { std::env::set_var("TEST_PORT", port.to_string()) };
        // What is sent on the machine arrives at once: this listener would notice.
        let here = UdpSocket::bind("127.0.0.1:0").unwrap();
        here.send_to(b"x", ("127.0.0.1", port)).unwrap();
        listener.recv(&mut [0; 8]).unwrap();
        LISTENER.set(listener).unwrap();
    },
    attack: Deed::Probe("send_datagrams"),
    escaped: |_, _| LISTENER.get().unwrap().recv(&mut [0; 8]).is_ok(),
    twin: Deed::Probe("datagrams_of_ones_own"),
    worked: |_, done| done.code == 0,
};
