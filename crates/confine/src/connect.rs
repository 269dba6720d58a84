//! Connecting a socket to an address that is given as bytes, and sockets by the file that names
//! them.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use crate::signal::Interruptions;

/// Connects a socket. It takes as long as it takes, but is interrupted (`ErrorKind::Interrupted`)
/// after this much waiting: the socket may be one that blocks. Connecting it again goes on where
/// this ended.
pub fn connect(socket: impl AsFd, address: &[u8], patience: Duration) -> io::Result<()> {
    let length = libc::socklen_t::try_from(address.len()).map_err(io::Error::other)?;
    let interruptions = Interruptions::every(patience)?;
    // SAFETY: the kernel reads `length` bytes of `address`, which outlives the call.
    let result =
        unsafe { libc::connect(socket.as_fd().as_raw_fd(), address.as_ptr().cast(), length) };
    let error = io::Error::last_os_error();
    drop(interruptions);
    if result == 0 { Ok(()) } else { Err(error) }
}

/// The address of the very socket that a descriptor (`O_PATH`) is of, whatever its names mean
/// meanwhile.
pub fn address_of(file: impl AsFd) -> Vec<u8> {
    let path = format!("/proc/self/fd/{}\0", file.as_fd().as_raw_fd());
    [&family(libc::AF_UNIX)[..], path.as_bytes()].concat()
}

fn family(family: i32) -> [u8; 2] {
    u16::try_from(family).unwrap_or_default().to_ne_bytes()
}

/// How long a socket itself waits to be connected: nothing is for as long as it takes.
pub fn send_timeout(socket: impl AsFd) -> Option<Duration> {
    rustix::net::sockopt::socket_timeout(socket, rustix::net::sockopt::Timeout::Send)
        .ok()
        .flatten()
}

/// A number that no other socket ever has, while the machine is up.
pub fn cookie(socket: impl AsFd) -> io::Result<u64> {
    Ok(rustix::net::sockopt::socket_cookie(socket)?)
}
