//! UDP, raw, netlink, vsock, packet and other families, left open when only TCP was blocked.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "sockets_of_other_families",
    below: "/var/tmp",
    prepare: |_| {
        // Somebody listens on the machine's loopback: TCP and UDP.
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        // SAFETY: this process has a single thread.
        unsafe { std::env::set_var("TEST_PORT", port.to_string()) };
        std::mem::forget(tcp);
    },
    attack: Deed::Probe("reach_out"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("loopback_of_ones_own"),
    worked: |_, done| done.code == 0,
};
