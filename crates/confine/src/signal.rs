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

/// Interrupts whatever system call the calling process waits in, again and again, for as long as
/// this lives: what does not wait is not disturbed. For processes of a single thread.
#[derive(Debug)]
pub struct Interruptions(());

impl Interruptions {
    /// One after every so long.
    pub fn every(pause: std::time::Duration) -> io::Result<Self> {
        extern "C" fn nothing(_: i32) {}
        // SAFETY: the structures are plain data that outlive the calls, and the handler does
        // nothing. It is installed without SA_RESTART, so that calls end with EINTR.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as extern "C" fn(i32) as usize;
            if libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        set_timer(pause)?;
        Ok(Self(()))
    }
}

impl Drop for Interruptions {
    fn drop(&mut self) {
        let _ = set_timer(std::time::Duration::ZERO);
    }
}

/// More than once: a signal that comes before the call has begun to wait does not interrupt it.
fn set_timer(pause: std::time::Duration) -> io::Result<()> {
    let time = libc::timeval {
        tv_sec: pause.as_secs().cast_signed(),
        tv_usec: pause.subsec_micros().into(),
    };
    let timer = libc::itimerval {
        it_interval: time,
        it_value: time,
    };
    // SAFETY: the structure outlives the call.
    let result =
        unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
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
