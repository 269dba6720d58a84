//! Multipath TCP, a protocol of its own beside TCP that reaches the same listeners.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "multipath_tcp",
    below: "/var/tmp",
    prepare: |_| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        // SAFETY: this process has a single thread.
        unsafe { std::env::set_var("TEST_PORT", port.to_string()) };
        std::mem::forget(listener);
    },
    attack: Deed::Probe("connect_multipath"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("multipath_of_ones_own"),
    worked: |_, done| done.code == 0,
};
