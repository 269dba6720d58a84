//! Probes of the sockets that are neither TCP nor streams: datagrams, multipath TCP, netlink.

use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use super::{Probe, any, call, variable};

pub(super) const PROBES: &[(&str, Probe)] = &[
    ("send_datagrams", send_datagrams),
    ("datagrams_of_ones_own", || {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.send_to(b"hello", socket.local_addr()?)?;
        socket.recv(&mut [0; 8]).map(|_| ())
    }),
    ("connect_multipath", || {
        multipath(variable("TEST_PORT").parse().unwrap())
    }),
    ("multipath_of_ones_own", || {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        multipath(listener.local_addr()?.port())
    }),
    ("change_a_link", || link(RTM_NEWLINK)),
    ("look_at_a_link", || link(RTM_GETLINK)),
    ("send_to_the_machine", || {
        let path = format!("{}/log.sock", variable("OUTSIDE"));
        let socket = UnixDatagram::unbound()?;
        any([
            ("sent".into(), socket.send_to(b"escaped", &path).map(|_| 0)),
            ("connected".into(), socket.connect(&path).map(|()| 0)),
            (
                "sent to the log".into(),
                socket.send_to(b"", "/dev/log").map(|_| 0),
            ),
        ])
    }),
    ("send_from_a_pair", || {
        let path = format!("{}/log.sock", variable("OUTSIDE"));
        let raw = || {
            let address = SocketAddr::from_pathname(&path)?;
            let socket = UnixDatagram::from(open(libc::AF_UNIX, libc::SOCK_RAW, 0)?);
            socket.send_to_addr(b"escaped", &address)
        };
        any([
            (
                "a pair".into(),
                UnixDatagram::pair()
                    .and_then(|(end, _)| end.send_to(b"escaped", &path))
                    .map(|_| 0),
            ),
            ("a raw one".into(), raw().map(|_| 0)),
        ])
    }),
    ("send_to_an_abstract_name", || {
        let address = SocketAddr::from_abstract_name(variable("TEST_ABSTRACT"))?;
        let socket = UnixDatagram::unbound()?;
        any([
            (
                "sent".into(),
                socket.send_to_addr(b"escaped", &address).map(|_| 0),
            ),
            (
                "connected".into(),
                socket.connect_addr(&address).map(|()| 0),
            ),
        ])
    }),
];

/// Whether one has arrived is seen where they are sent to: sending works where nobody listens.
fn send_datagrams() -> io::Result<()> {
    let port: u16 = variable("TEST_PORT").parse().unwrap();
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    any(["127.0.0.1", "0.0.0.0", "127.1.2.3"].map(|to| {
        let sent = socket.send_to(b"escaped", (to, port));
        let reported = sent.and_then(|_| Err(io::Error::other("sent")));
        (to.to_owned(), reported)
    }))
}

fn open(family: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    let arguments = [family, kind | libc::SOCK_CLOEXEC, protocol].map(i64::from);
    let [family, kind, protocol] = arguments;
    let number = call(libc::SYS_socket, [family, kind, protocol, 0, 0])?;
    let number = i32::try_from(number).map_err(io::Error::other)?;
    // SAFETY: the call has just made it, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

fn multipath(port: u16) -> io::Result<()> {
    let socket = open(libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_MPTCP)
        // A kernel without it has nothing to try: TCP stands in.
        .or_else(|_| open(libc::AF_INET, libc::SOCK_STREAM, 0))?;
    let mut address = [0u8; 16];
    address[..2].copy_from_slice(&2u16.to_ne_bytes());
    address[2..4].copy_from_slice(&port.to_be_bytes());
    address[4..8].copy_from_slice(&[127, 0, 0, 1]);
    let arguments = [socket.as_raw_fd().into(), address.as_ptr() as i64, 16, 0, 0];
    call(libc::SYS_connect, arguments).map(|_| ())
}

const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;

/// Asks about the loopback, or for it to be up, which it is: that takes the right to change it.
fn link(request: u16) -> io::Result<()> {
    let socket = open(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
    let flags: u16 = if request == RTM_NEWLINK { 1 | 4 } else { 1 };
    let mut message = Vec::new();
    message.extend(32u32.to_ne_bytes());
    message.extend(request.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]);
    // The family, the kind and the index of the loopback; flags, and which of them to change.
    message.extend([0; 4]);
    message.extend(1u32.to_ne_bytes());
    message.extend(1u32.to_ne_bytes());
    message.extend(1u32.to_ne_bytes());
    let number = i64::from(socket.as_raw_fd());
    let sent = [number, message.as_ptr() as i64, 32, 0, 0];
    call(libc::SYS_sendto, sent)?;
    let mut answer = [0u8; 8192];
    let received = [number, answer.as_mut_ptr() as i64, 8192, 0, 0];
    call(libc::SYS_recvfrom, received)?;
    let kind = u16::from_ne_bytes([answer[4], answer[5]]);
    let error = i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]);
    if kind == 2 && error != 0 {
        return Err(io::Error::from_raw_os_error(-error));
    }
    Ok(())
}
