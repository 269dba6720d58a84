//! Making, ending and reaping processes by hand, for small single-threaded helpers.

use std::ffi::{CString, c_char};
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};

pub use rustix::process::Pid;

/// Which side of a fork this is.
#[derive(Debug)]
pub enum Fork {
    /// The new process.
    Child,
    /// The process that forked, with its child.
    Parent(Child),
}

/// A child and the descriptor that names it for good.
#[derive(Debug)]
pub struct Child {
    /// Its process id, in this PID namespace.
    pub pid: Pid,
    /// A descriptor that refers to it even after its id is used again.
    pub pidfd: OwnedFd,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending(i32);

impl Ending {
    /// From the status word of `wait`.
    pub const fn from_status(status: i32) -> Self {
        Self(status)
    }

    /// The exit code, if it exited.
    pub const fn code(self) -> Option<i32> {
        if libc::WIFEXITED(self.0) {
            Some(libc::WEXITSTATUS(self.0))
        } else {
            None
        }
    }

    /// The signal, if one ended it.
    pub const fn signal(self) -> Option<i32> {
        if libc::WIFSIGNALED(self.0) {
            Some(libc::WTERMSIG(self.0))
        } else {
            None
        }
    }

    /// The status word.
    pub const fn status(self) -> i32 {
        self.0
    }
}

/// The process group of this process; none where its leader is outside of this PID namespace, as
/// in what `unshare --pid --fork` or a container engine's `exec` starts.
pub fn own_group() -> Option<Pid> {
    // SAFETY: takes nothing, changes nothing, cannot fail.
    Pid::from_raw(unsafe { libc::getpgrp() })
}

/// The session of this process; none where its leader is outside of this PID namespace.
pub fn own_session() -> Option<Pid> {
    // SAFETY: asks about this process, which exists; changes nothing.
    Pid::from_raw(unsafe { libc::getsid(0) }.max(0))
}

/// Forks.
///
/// # Safety
/// The calling process must have a single thread: locks held by others would stay held in the
/// child for ever.
pub unsafe fn fork() -> io::Result<Fork> {
    // SAFETY: passed on to the caller.
    unsafe { fork_into(0) }
}

/// Forks into new namespaces (`CLONE_NEW…` flags).
///
/// # Safety
/// As for [`fork`].
pub unsafe fn fork_into(namespaces: i32) -> io::Result<Fork> {
    let mut pidfd: i32 = -1;
    // SAFETY: without CLONE_VM the child has its own copy of everything, as after fork; the kernel
    // writes the descriptor to `pidfd`, which outlives the call.
    let pid = unsafe {
        libc::syscall(
            libc::SYS_clone,
            libc::CLONE_PIDFD | namespaces | libc::SIGCHLD,
            0,
            &raw mut pidfd,
            0,
            0,
        )
    };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Fork::Child),
        pid => {
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
            // SAFETY: the kernel has just made this descriptor for us.
            let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
            pid.map(|pid| Fork::Parent(Child { pid, pidfd }))
                .ok_or_else(|| io::Error::other("clone returned an impossible process id"))
        }
    }
}

/// Waits for one child of ours.
pub fn wait(child: &Child) -> io::Result<Ending> {
    wait_pid(child.pid)
}

/// Waits for a child by its id.
pub fn wait_pid(pid: Pid) -> io::Result<Ending> {
    loop {
        let mut status = 0;
        // SAFETY: `status` outlives the call.
        let result = unsafe { libc::waitpid(pid.as_raw_nonzero().get(), &raw mut status, 0) };
        if result >= 0 {
            return Ok(Ending(status));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// A child that has been reaped, with what it and its waited-for descendants used.
#[derive(Debug, Clone, Copy)]
pub struct Reaped {
    /// Who.
    pub pid: Pid,
    /// How it ended.
    pub ending: Ending,
    /// CPU time in user and kernel mode, in microseconds.
    pub cpu_micros: u64,
    /// The largest resident set of any one process, in kilobytes.
    pub max_rss_kib: u64,
}

/// What there is to reap.
#[derive(Debug, Clone, Copy)]
pub enum Reap {
    /// A child has ended.
    Ended(Reaped),
    /// There are children, and all of them run.
    Running,
    /// There is no child left.
    NoChildren,
}

/// Reaps any child that has ended, without waiting.
pub fn reap() -> io::Result<Reap> {
    let mut status = 0;
    // SAFETY: both out-parameters live on this stack; rusage is plain data.
    let (pid, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let pid = libc::wait4(
            -1,
            &raw mut status,
            libc::WNOHANG | libc::__WALL,
            &raw mut usage,
        );
        (pid, usage)
    };
    match pid {
        0 => Ok(Reap::Running),
        -1 => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ECHILD) => Ok(Reap::NoChildren),
            error if error.kind() == io::ErrorKind::Interrupted => Ok(Reap::Running),
            error => Err(error),
        },
        pid => {
            let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::other("no such process id"))?;
            Ok(Reap::Ended(Reaped {
                pid,
                ending: Ending(status),
                cpu_micros: micros(usage.ru_utime) + micros(usage.ru_stime),
                max_rss_kib: u64::try_from(usage.ru_maxrss).unwrap_or(0),
            }))
        }
    }
}

/// The CPU time of every descendant that has been waited for, by us or by its own parent.
pub fn cpu_of_children() -> std::time::Duration {
    // SAFETY: rusage is plain data that the call fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    std::time::Duration::from_micros(micros(usage.ru_utime) + micros(usage.ru_stime))
}

fn micros(time: libc::timeval) -> u64 {
    u64::try_from(time.tv_sec * 1_000_000 + time.tv_usec).unwrap_or(0)
}

/// Kills a process through its descriptor. One that has already ended is fine.
pub fn kill(pidfd: impl AsFd) -> io::Result<()> {
    match rustix::process::pidfd_send_signal(pidfd, rustix::process::Signal::KILL) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Overwrites the variables that the process was started with, and has none from now on.
///
/// # Safety
/// The calling process must have a single thread: nobody may read or change the list meanwhile.
pub unsafe fn forget_environment() {
    unsafe extern "C" {
        static mut environ: *mut *mut c_char;
    }
    // SAFETY: nobody else uses the list, as the caller sees to; it ends in null, and each entry is a
    // string in memory of this process's own that can be written.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            std::ptr::write_bytes(*entry, 0, libc::strlen(*entry));
            entry = entry.add(1);
        }
        environ = std::ptr::null_mut();
    }
}

/// Ends the process at once: no destructors, no exit handlers, no flushing.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: _exit takes no memory and does not return.
    unsafe { libc::_exit(code) }
}

/// Replaces this process by a program, without searching `PATH`. Returns only on failure.
pub fn exec(program: &CString, argv: &[CString], environment: &[CString]) -> io::Error {
    let pointers = |list: &[CString]| -> Vec<*const c_char> {
        list.iter()
            .map(|text| text.as_ptr())
            .chain([std::ptr::null()])
            .collect()
    };
    let (argv, environment) = (pointers(argv), pointers(environment));
    // SAFETY: both arrays end in null and point to strings that outlive the call.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}
