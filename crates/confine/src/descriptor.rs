//! Messages with descriptors over a socket pair, and closing what must not be inherited.

use std::io;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

/// The most descriptors that one message carries.
pub const MAX_DESCRIPTORS: usize = 8;

/// Two connected ends that keep message borders, closed on exec.
pub fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

/// A socket at a path that one other end may connect to, keeping message borders.
pub fn listen(path: &std::path::Path) -> io::Result<OwnedFd> {
    let socket = local_socket()?;
    rustix::net::bind(&socket, &rustix::net::SocketAddrUnix::new(path)?)?;
    rustix::net::listen(&socket, 1)?;
    Ok(socket)
}

/// Connects to a socket at a path.
pub fn connect(path: &std::path::Path) -> io::Result<OwnedFd> {
    let socket = local_socket()?;
    rustix::net::connect(&socket, &rustix::net::SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

fn local_socket() -> io::Result<OwnedFd> {
    Ok(rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

/// Sends one message. Blocks or fails with `WouldBlock`, as the socket is set.
pub fn send(socket: impl AsFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "too many descriptors",
        ));
    }
    loop {
        match rustix::net::sendmsg(
            &socket,
            &[IoSlice::new(bytes)],
            &mut ancillary,
            SendFlags::NOSIGNAL,
        ) {
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// One received message. An empty one means that the other end is gone.
#[derive(Debug, Default)]
pub struct Received {
    /// How many bytes of the buffer were filled.
    pub length: usize,
    /// The descriptors that came along, closed on exec.
    pub descriptors: Vec<OwnedFd>,
}

/// Receives one message. One that does not fit the buffer is an error, never cut.
pub fn receive(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<Received> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let message = loop {
        match rustix::net::recvmsg(
            &socket,
            &mut [IoSliceMut::new(buffer)],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC,
        ) {
            Ok(message) => break message,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    };
    let mut descriptors = Vec::new();
    for part in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = part {
            descriptors.extend(received);
        }
    }
    if message
        .flags
        .intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC)
    {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a message was cut off",
        ));
    }
    Ok(Received {
        length: message.bytes,
        descriptors,
    })
}

/// Marks every descriptor from this one on to be closed at the next exec.
pub fn close_on_exec_from(first: RawFd) -> io::Result<()> {
    const CLOSE_RANGE_CLOEXEC: u32 = 4;
    let first = u32::try_from(first).unwrap_or(0);
    // SAFETY: only a flag of descriptors changes; none is closed under its owner.
    let result =
        unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, CLOSE_RANGE_CLOEXEC) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Closes a descriptor that a forked process has a copy of and will not need.
///
/// # Safety
/// The owner of it, in this process, may not use or drop it afterwards.
pub unsafe fn close(descriptor: &OwnedFd) {
    use std::os::fd::AsRawFd;
    // SAFETY: passed on to the caller.
    unsafe { libc::close(descriptor.as_raw_fd()) };
}

/// Closes every descriptor from this one on.
///
/// # Safety
/// No owner of such a descriptor may use or drop it afterwards; a process does this right before
/// it becomes something else.
pub unsafe fn close_from(first: RawFd) -> io::Result<()> {
    let first = u32::try_from(first).unwrap_or(0);
    // SAFETY: passed on to the caller.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Puts a copy of a descriptor at a number, open across exec.
pub fn place(descriptor: impl AsFd, at: RawFd) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let from = descriptor.as_fd().as_raw_fd();
    // SAFETY: `at` is one of the standard numbers of a process that is about to exec, owned by
    // nobody in it.
    let result = unsafe {
        if from == at {
            libc::fcntl(at, libc::F_SETFD, 0)
        } else {
            libc::dup2(from, at)
        }
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
