//! Seccomp notifications: somebody else is told of a system call before it is made, and says
//! whether it is.
//!
//! What the arguments point to can change between the look and the call: whoever lets a call
//! through has learnt what was probably asked for, and decided nothing. Refusing is for good.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use crate::process::Pid;

/// Where notifications come from.
#[derive(Debug)]
pub struct Listener(OwnedFd);

/// A system call that waits to be made.
#[derive(Debug, Clone, Copy)]
pub struct Notification {
    id: u64,
    /// The thread that makes it, by its number in the listener's PID namespace.
    pub thread: Pid,
    /// The system call's number (`libc::SYS_…`).
    pub syscall: i64,
    /// Its arguments.
    pub arguments: [u64; 6],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Answer {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

/// `SECCOMP_USER_NOTIF_FLAG_CONTINUE`
const CONTINUE: u32 = 1;
const NOTIF_RECV: libc::c_ulong = 0xc050_2100;
const NOTIF_SEND: libc::c_ulong = 0xc018_2101;
const NOTIF_ID_VALID: libc::c_ulong = 0x4008_2102;
const NOTIF_SET_FLAGS: libc::c_ulong = 0x4008_2104;

impl From<OwnedFd> for Listener {
    fn from(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Listener {
    /// Has the kernel run the two sides on one processor in turn, which halves the cost of a
    /// notification. An older kernel does without.
    pub fn take_turns(&self) {
        const SYNC_WAKE_UP: u64 = 1;
        // SAFETY: this request takes a number.
        unsafe { libc::ioctl(self.0.as_raw_fd(), NOTIF_SET_FLAGS, SYNC_WAKE_UP) };
    }

    /// Takes the next notification. Waits for one; poll first. None if the caller has gone
    /// meanwhile.
    pub fn receive(&self) -> io::Result<Option<Notification>> {
        // SAFETY: the structure is plain data that must be zero, and outlives the call.
        let (result, raw) = unsafe {
            let mut raw: libc::seccomp_notif = std::mem::zeroed();
            let result = libc::ioctl(self.0.as_raw_fd(), NOTIF_RECV, &raw mut raw);
            (result, raw)
        };
        if result != 0 {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                Some(libc::ENOENT | libc::EINTR) => Ok(None),
                _ => Err(error),
            };
        }
        let Some(thread) = Pid::from_raw(raw.pid.cast_signed()) else {
            return Ok(None);
        };
        Ok(Some(Notification {
            id: raw.id,
            thread,
            syscall: raw.data.nr.into(),
            arguments: raw.data.args,
        }))
    }

    /// Whether the caller still waits: what was read of it meanwhile was its own, and not that of
    /// another process with the same number.
    pub fn still_waits(&self, call: &Notification) -> bool {
        // SAFETY: the request reads one number that outlives the call.
        unsafe { libc::ioctl(self.0.as_raw_fd(), NOTIF_ID_VALID, &raw const call.id) == 0 }
    }

    /// Lets the call be made. One whose caller has gone is fine.
    pub fn let_through(&self, call: &Notification) -> io::Result<()> {
        self.answer(Answer {
            id: call.id,
            flags: CONTINUE,
            ..Answer::default()
        })
    }

    /// Has the call return 0 without being made: it was made in the caller's stead.
    pub fn succeed(&self, call: &Notification) -> io::Result<()> {
        self.answer(Answer {
            id: call.id,
            ..Answer::default()
        })
    }

    /// Has the call fail with this error number.
    pub fn refuse(&self, call: &Notification, errno: i32) -> io::Result<()> {
        self.answer(Answer {
            id: call.id,
            error: -errno,
            ..Answer::default()
        })
    }

    fn answer(&self, mut answer: Answer) -> io::Result<()> {
        // SAFETY: the structure has the layout of `seccomp_notif_resp` and outlives the call.
        let result = unsafe { libc::ioctl(self.0.as_raw_fd(), NOTIF_SEND, &raw mut answer) };
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            _ if result == 0 => Ok(()),
            Some(libc::ENOENT) => Ok(()),
            _ => Err(error),
        }
    }
}

/// Reads from the memory of a process, as much as there is in one piece.
pub fn read_memory(of: Pid, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    let address = usize::try_from(address).map_err(io::Error::other)?;
    let remote = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(address),
        iov_len: buffer.len(),
    };
    // SAFETY: the kernel writes to `buffer` alone, which outlives the call; the remote address is
    // a number to us.
    let read = unsafe {
        libc::process_vm_readv(
            of.as_raw_nonzero().get(),
            &raw const local,
            1,
            &raw const remote,
            1,
            0,
        )
    };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seccomp::{self, Entry, Filter, When};
    use crate::{descriptor, privilege, process};

    /// A child makes a call that is notified; what it got is its exit code.
    fn told(decide: impl Fn(&Listener, &Notification)) -> Option<i32> {
        let entry = Entry {
            syscall: libc::SYS_getppid,
            when: When::Always,
            answer: seccomp::Answer::Notify,
            reason: "test",
        };
        let filter = Filter::new(&[entry], seccomp::Answer::Allow).unwrap();
        let (ours, theirs) = descriptor::socket_pair().unwrap();
        // SAFETY: the child only makes system calls and exits.
        let child = match unsafe { process::fork() }.unwrap() {
            process::Fork::Child => {
                privilege::no_new_privs().unwrap();
                let listener = filter.install_with_listener().unwrap();
                descriptor::send(&theirs, b"!", &[listener.as_fd()]).unwrap();
                drop(listener);
                // SAFETY: getppid takes nothing.
                let result = unsafe { libc::syscall(libc::SYS_getppid, 7) };
                let errno = io::Error::last_os_error().raw_os_error();
                process::exit_now(if result < 0 { errno.unwrap() } else { 0 })
            }
            process::Fork::Parent(child) => child,
        };
        let mut received = descriptor::receive(&ours, &mut [0; 1]).unwrap();
        let listener = Listener::from(received.descriptors.remove(0));
        listener.take_turns();
        let call = listener.receive().unwrap().unwrap();
        assert_eq!(call.syscall, libc::SYS_getppid);
        assert_eq!((call.thread, call.arguments[0]), (child.pid, 7));
        assert!(listener.still_waits(&call));
        decide(&listener, &call);
        process::wait(&child).unwrap().code()
    }

    #[test]
    fn a_call_waits_for_its_answer() {
        let through = told(|listener, call| listener.let_through(call).unwrap());
        assert_eq!(through, Some(0));
        let refused = told(|listener, call| listener.refuse(call, libc::EAFNOSUPPORT).unwrap());
        assert_eq!(refused, Some(libc::EAFNOSUPPORT));
    }

    #[test]
    fn memory_of_another_process_can_be_read() {
        let text = *b"something";
        // SAFETY: the child waits to be killed.
        let child = match unsafe { process::fork() }.unwrap() {
            process::Fork::Child => loop {
                // SAFETY: pause takes nothing.
                unsafe { libc::pause() };
            },
            process::Fork::Parent(child) => child,
        };
        let mut buffer = [0; 9];
        let read = read_memory(child.pid, text.as_ptr() as u64, &mut buffer).unwrap();
        assert_eq!((read, buffer), (9, text));
        process::kill(&child.pidfd).unwrap();
        process::wait(&child).unwrap();
    }
}
