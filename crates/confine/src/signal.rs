//! Signal masks and dispositions, and signals as a descriptor that can be polled.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// Blocks a signal for the calling thread and returns a descriptor that becomes readable when it
/// arrives.
pub fn as_descriptor(signal: i32) -> io::Result<OwnedFd> {
    // SAFETY: the set lives on this stack and is initialised by sigemptyset before it is read;
    // signalfd returns a descriptor that nobody else owns.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, signal);
        if libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if fd < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(OwnedFd::from_raw_fd(fd))
        }
    }
}

/// Has a signal do nothing, until a program is executed.
pub fn ignore(signal: i32) {
    // SAFETY: setting SIG_IGN runs no code of ours.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Gives a program that is about to be executed what it expects: default dispositions and nothing
/// blocked.
pub fn reset_for_exec() {
    // SAFETY: setting SIG_DFL runs no code of ours; KILL and STOP cannot be set, which is ignored.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
    }
}
