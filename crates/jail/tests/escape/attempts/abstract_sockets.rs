//! Unix sockets with abstract names, outside any folder.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "abstract_sockets",
    below: "/var/tmp",
    prepare: |_| {
        use std::os::linux::net::SocketAddrExt;
        let name = format!("ringfence-{}", std::process::id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
        std::mem::forget(std::os::unix::net::UnixListener::bind_addr(&address).unwrap());
        // SAFETY: this process has a single thread.
        unsafe { std::env::set_var("TEST_ABSTRACT", name) };
    },
    attack: Deed::Probe("connect_abstract"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("abstract_of_ones_own"),
    worked: |_, done| done.code == 0,
};
