//! Seccomp filters from tables.
//!
//! A filter is data: entries that name a system call, perhaps a condition on one argument, the
//! answer, and the reason. Filters are assembled here rather than by a crate because the ones at
//! hand give a single answer per filter and leave the x32 table open.

mod program;

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use thiserror::Error;

/// What the kernel does with a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Let it through.
    Allow,
    /// Refuse it with this error number.
    Errno(i32),
    /// Kill the process with `SIGSYS`.
    KillProcess,
    /// Have the filter's [`Listener`](crate::notify::Listener) say what happens. Without one, the
    /// call fails as if the kernel did not know it.
    Notify,
}

/// When an entry applies. Arguments are compared on their low 32 bits: the kernel takes every
/// argument that is tested here as an `int`, and comparing more would let a caller slip past by
/// setting bits that the kernel ignores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At every call.
    Always,
    /// When the argument equals the value.
    ArgEq {
        /// Which argument, from 0.
        arg: u8,
        /// The value.
        value: u32,
    },
    /// When the argument, masked, equals the value.
    ArgMaskedEq {
        /// Which argument, from 0.
        arg: u8,
        /// The bits that count.
        mask: u32,
        /// Their value.
        value: u32,
    },
    /// When the argument, masked, is not zero.
    ArgHasAny {
        /// Which argument, from 0.
        arg: u8,
        /// The bits that count.
        mask: u32,
    },
    /// When both arguments, masked, equal their values.
    BothMaskedEq([Masked; 2]),
}

/// What some bits of an argument are to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Masked {
    /// Which argument, from 0.
    pub arg: u8,
    /// The bits that count.
    pub mask: u32,
    /// Their value.
    pub value: u32,
}

/// One line of a filter. The first entry that applies decides.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The system call's number (`libc::SYS_…`).
    pub syscall: i64,
    /// The condition.
    pub when: When,
    /// What happens.
    pub answer: Answer,
    /// Why this line is here, for whoever reads the table.
    pub reason: &'static str,
}

/// Why a filter could not be made or installed.
#[derive(Debug, Error)]
pub enum SeccompError {
    /// The table does not fit into what the kernel accepts.
    #[error("the filter has {0} instructions; the kernel takes at most 4096")]
    TooLong(usize),
    /// An entry names a system call that cannot exist.
    #[error("{0} is not the number of a system call")]
    NoSuchCall(i64),
    /// An entry names an argument that does not exist.
    #[error("system call {syscall} has no argument {arg}")]
    NoSuchArgument {
        /// The system call's number.
        syscall: i64,
        /// The argument asked for.
        arg: u8,
    },
    /// The kernel refused the filter.
    #[error("the kernel refused the seccomp filter: {0}")]
    Refused(#[from] io::Error),
}

impl From<SeccompError> for io::Error {
    fn from(error: SeccompError) -> Self {
        match error {
            SeccompError::Refused(error) => error,
            other => Self::other(other),
        }
    }
}

/// A filter, ready to be installed as often as needed.
#[derive(Debug, Clone)]
pub struct Filter {
    program: Vec<libc::sock_filter>,
}

impl Filter {
    /// Assembles a filter. Calls of a foreign architecture and of the x32 table are always killed.
    pub fn new(entries: &[Entry], otherwise: Answer) -> Result<Self, SeccompError> {
        let program = program::assemble(entries, otherwise)?;
        Ok(Self { program })
    }

    /// Puts the filter on the calling thread, for good. The thread must have no-new-privileges.
    pub fn install(&self) -> Result<(), SeccompError> {
        self.install_with(0).map(|_| ())
    }

    /// The same, with a listener for the calls that are answered with [`Answer::Notify`]. There is
    /// one listener for all filters of a process: where somebody else has it, this fails.
    pub fn install_with_listener(&self) -> Result<crate::notify::Listener, SeccompError> {
        // With this, a call that the listener has seen waits for its answer whatever signals
        // arrive; without, it would be made again and be seen twice.
        const WAIT_KILLABLE: libc::c_ulong = 1 << 5;
        let listening = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        let descriptor = match self.install_with(listening | WAIT_KILLABLE) {
            Err(SeccompError::Refused(error)) if error.raw_os_error() == Some(libc::EINVAL) => {
                self.install_with(listening)
            }
            other => other,
        }?;
        // SAFETY: with this flag the kernel returns a new descriptor, which nobody else owns.
        let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
        Ok(crate::notify::Listener::from(descriptor))
    }

    fn install_with(&self, flags: libc::c_ulong) -> Result<i32, SeccompError> {
        let program = libc::sock_fprog {
            len: u16::try_from(self.program.len())
                .map_err(|_| SeccompError::TooLong(self.program.len()))?,
            filter: self.program.as_ptr().cast_mut(),
        };
        // SAFETY: `program` points to `len` instructions that live in `self.program` until the
        // call has returned; the kernel copies them and writes to none.
        let result = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                std::ptr::from_ref(&program),
            )
        };
        match i32::try_from(result) {
            Ok(result) if result >= 0 => Ok(result),
            _ => Err(io::Error::last_os_error().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{privilege, process};

    /// What a filtered child saw: error numbers as their value, success as 0, death as `None`.
    fn in_child(filter: &Filter, call: impl FnOnce() -> i64) -> Option<i32> {
        let body = || {
            privilege::no_new_privs().unwrap();
            filter.install().unwrap();
            if call() < 0 {
                io::Error::last_os_error().raw_os_error().unwrap()
            } else {
                0
            }
        };
        // SAFETY: the child only makes system calls and exits.
        match unsafe { process::fork() }.unwrap() {
            process::Fork::Child => process::exit_now(body()),
            process::Fork::Parent(child) => process::wait(&child).unwrap().code(),
        }
    }

    fn entry(syscall: i64, when: When, answer: Answer) -> Entry {
        Entry {
            syscall,
            when,
            answer,
            reason: "test",
        }
    }

    fn call(number: i64) -> i64 {
        // SAFETY: the calls made through this take no arguments.
        unsafe { libc::syscall(number) }
    }

    fn ioctl(request: u64) -> i64 {
        // SAFETY: the requests used here take no pointer, or fail before using one.
        unsafe { libc::syscall(libc::SYS_ioctl, -1, request, 0) }
    }

    #[test]
    fn conditions_look_at_the_low_half_only() {
        let tiocsti = When::ArgEq {
            arg: 1,
            value: 0x5412,
        };
        let filter = Filter::new(
            &[entry(libc::SYS_ioctl, tiocsti, Answer::Errno(95))],
            Answer::Allow,
        )
        .unwrap();
        assert_eq!(in_child(&filter, || ioctl(0x5412)), Some(95));
        assert_eq!(in_child(&filter, || ioctl(0xdead_0000_0000_5412)), Some(95));
        assert_eq!(in_child(&filter, || ioctl(0x5413)), Some(libc::EBADF));
    }

    #[test]
    fn masks_and_the_calls_after_a_condition_work() {
        let filter = Filter::new(
            &[
                entry(
                    libc::SYS_ioctl,
                    When::ArgHasAny { arg: 1, mask: 0x3 },
                    Answer::Errno(95),
                ),
                entry(
                    libc::SYS_ioctl,
                    When::ArgMaskedEq {
                        arg: 1,
                        mask: 0xf0,
                        value: 0x10,
                    },
                    Answer::Errno(96),
                ),
                entry(libc::SYS_getppid, When::Always, Answer::Errno(97)),
            ],
            Answer::Allow,
        )
        .unwrap();
        assert_eq!(in_child(&filter, || ioctl(0x102)), Some(95));
        assert_eq!(in_child(&filter, || ioctl(0x114)), Some(96));
        assert_eq!(in_child(&filter, || ioctl(0x104)), Some(libc::EBADF));
        assert_eq!(in_child(&filter, || call(libc::SYS_getppid)), Some(97));
    }

    #[test]
    fn both_conditions_must_hold() {
        let masked = |arg, mask, value| Masked { arg, mask, value };
        let both = When::BothMaskedEq([masked(1, u32::MAX, 0x10), masked(2, 0xf, 2)]);
        let entries = [
            entry(libc::SYS_ioctl, both, Answer::Errno(95)),
            entry(
                libc::SYS_ioctl,
                When::ArgEq {
                    arg: 1,
                    value: 0x11,
                },
                Answer::Errno(96),
            ),
        ];
        let filter = Filter::new(&entries, Answer::Allow).unwrap();
        // SAFETY: the descriptor is none, so that no argument is used as a pointer.
        let ioctl = |request: u64, argument: u64| unsafe {
            libc::syscall(libc::SYS_ioctl, -1, request, argument)
        };
        for (request, argument, expected) in [
            (0x10, 2, 95),
            (0x10, 0xf2, 95),
            (0x1_0000_0010, 0x1_0000_0002, 95),
            (0x10, 1, libc::EBADF),
            (0x11, 2, 96),
            (0x12, 2, libc::EBADF),
        ] {
            let got = in_child(&filter, || ioctl(request, argument));
            assert_eq!(got, Some(expected), "{request:x} {argument:x}");
        }
    }

    #[test]
    fn an_allow_list_kills_what_is_not_on_it() {
        let allowed = [libc::SYS_exit_group, libc::SYS_seccomp, libc::SYS_prctl]
            .map(|number| entry(number, When::Always, Answer::Allow));
        let filter = Filter::new(&allowed, Answer::KillProcess).unwrap();
        assert_eq!(in_child(&filter, || 0), Some(0));
        assert_eq!(in_child(&filter, || call(libc::SYS_getppid)), None);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_32_bit_and_x32_tables_are_closed() {
        let filter = Filter::new(&[], Answer::Allow).unwrap();
        let x32_getppid = i64::from(program::X32_BIT) | libc::SYS_getppid;
        assert_eq!(in_child(&filter, || call(x32_getppid)), None);
        let int80_getppid = || {
            let result: i64;
            // SAFETY: `int 0x80` with eax = 64 is getppid of the 32-bit table; no memory is used.
            unsafe { std::arch::asm!("int 0x80", inlateout("rax") 64i64 => result) };
            result
        };
        assert_eq!(in_child(&filter, int80_getppid), None);
    }
}
