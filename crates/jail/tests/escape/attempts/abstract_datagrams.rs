//! Datagrams to a unix socket with an abstract name, outside any folder.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::OnceLock;

use super::{Attempt, Deed};

static LISTENER: OnceLock<UnixDatagram> = OnceLock::new();

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "abstract_datagrams",
    below: "/var/tmp",
    prepare: |_| {
        let name = format!("ringfence-log-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let listener = UnixDatagram::bind_addr(&address).unwrap();
        listener.set_nonblocking(true).unwrap();
        // What is sent on the machine arrives: this listener would notice.
        let here = UnixDatagram::unbound().unwrap();
        here.send_to_addr(b"x", &address).unwrap();
        listener.recv(&mut [0; 8]).unwrap();
        LISTENER.set(listener).unwrap();
        // SAFETY: this process has a single thread.
        unsafe { std::env::set_var("TEST_ABSTRACT", name) };
    },
    attack: Deed::Probe("send_to_an_abstract_name"),
    escaped: |_, done| done.code == 0 || LISTENER.get().unwrap().recv(&mut [0; 8]).is_ok(),
    twin: Deed::Probe("abstract_of_ones_own"),
    worked: |_, done| done.code == 0,
};
