//! A socket of the machine's that is neither a stream nor for datagrams.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "socket_for_packets",
    below: "/var/tmp",
    prepare: |fence| {
        use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
        use std::os::fd::OwnedFd;
        let path = fence.outside().join("packets.sock");
        let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
        rustix::net::bind(&socket, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        rustix::net::listen(&socket, 1).unwrap();
        std::mem::forget::<OwnedFd>(socket);
    },
    attack: Deed::Probe("connect_packets"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("packets_of_ones_own"),
    worked: |_, done| done.code == 0,
};
