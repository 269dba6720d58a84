//! The system calls that no fenced command may make, as a table with its reasons.
//!
//! Commands are arbitrary programs, so everything else is let through: what a program may reach is
//! decided by namespaces, mounts and Landlock. This table closes the ways around those.

use libc::{EAFNOSUPPORT, ENOSYS, EOPNOTSUPP, EPERM, ESOCKTNOSUPPORT};
use ringfence_confine::seccomp::{Answer, Entry, Masked, When};
use ringfence_policy::permissions::Lookout;
use serde::{Deserialize, Serialize};

use super::lookout;
use super::protocol::Sockets;

const fn refuse(syscall: i64, reason: &'static str) -> Entry {
    Entry {
        syscall,
        when: When::Always,
        answer: Answer::Errno(EPERM),
        reason,
    }
}

const fn absent(syscall: i64, reason: &'static str) -> Entry {
    Entry {
        syscall,
        when: When::Always,
        answer: Answer::Errno(ENOSYS),
        reason,
    }
}

const fn refuse_when(syscall: i64, when: When, reason: &'static str) -> Entry {
    Entry {
        syscall,
        when,
        answer: Answer::Errno(EPERM),
        reason,
    }
}

/// Every `CLONE_NEW…` flag, `CLONE_NEWTIME` (0x80) left out: in `clone` that bit is part of the
/// exit signal.
const NEW_NAMESPACES: u32 = 0x7e02_0000;
const NEW_TIME: u32 = 0x80;

const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;
const SECCOMP_FILTER_FLAG_NEW_LISTENER: u32 = 8;

/// Sending on a socket that is connected by it (TCP fast open), with its flags in this argument.
const fn connects_on_sending(syscall: i64, arg: u8) -> Entry {
    Entry {
        syscall,
        when: When::ArgHasAny {
            arg,
            mask: libc::MSG_FASTOPEN.cast_unsigned(),
        },
        answer: Answer::Errno(EOPNOTSUPP),
        reason: "a connection that is not made by `connect`, where it is held",
    }
}

/// Calls that are refused whatever the policy.
const ALWAYS: &[Entry] = &[
    refuse(libc::SYS_ptrace, "controls other processes"),
    refuse(
        libc::SYS_process_vm_readv,
        "reads the memory of other processes",
    ),
    refuse(
        libc::SYS_process_vm_writev,
        "writes the memory of other processes",
    ),
    refuse(
        libc::SYS_process_madvise,
        "acts on the memory of other processes",
    ),
    refuse(
        libc::SYS_pidfd_getfd,
        "takes descriptors out of other processes",
    ),
    refuse(libc::SYS_kcmp, "tells how other processes are laid out"),
    absent(
        libc::SYS_io_uring_setup,
        "does file and network work past this filter",
    ),
    absent(
        libc::SYS_io_uring_enter,
        "does file and network work past this filter",
    ),
    absent(
        libc::SYS_io_uring_register,
        "does file and network work past this filter",
    ),
    absent(
        libc::SYS_clone3,
        "has its flags in memory, where they cannot be seen; `clone` serves",
    ),
    refuse_when(
        libc::SYS_clone,
        When::ArgHasAny {
            arg: 0,
            mask: NEW_NAMESPACES,
        },
        "a namespace of one's own brings capabilities in it",
    ),
    refuse_when(
        libc::SYS_unshare,
        When::ArgHasAny {
            arg: 0,
            mask: NEW_NAMESPACES | NEW_TIME,
        },
        "a namespace of one's own brings capabilities in it",
    ),
    refuse(libc::SYS_setns, "enters other namespaces"),
    refuse(libc::SYS_mount, "changes what is mounted"),
    refuse(libc::SYS_umount2, "uncovers what was covered"),
    refuse(libc::SYS_pivot_root, "changes what is mounted"),
    refuse(libc::SYS_chroot, "moves the root"),
    refuse(libc::SYS_open_tree, "changes what is mounted"),
    refuse(libc::SYS_move_mount, "changes what is mounted"),
    refuse(libc::SYS_mount_setattr, "changes what is mounted"),
    refuse(libc::SYS_fsopen, "makes file systems"),
    refuse(libc::SYS_fsconfig, "makes file systems"),
    refuse(libc::SYS_fsmount, "makes file systems"),
    refuse(libc::SYS_fspick, "changes file systems"),
    refuse(libc::SYS_open_by_handle_at, "opens files past every path"),
    refuse(libc::SYS_name_to_handle_at, "makes the handles for that"),
    refuse(libc::SYS_bpf, "loads programs into the kernel"),
    refuse(
        libc::SYS_perf_event_open,
        "watches the kernel and other processes",
    ),
    refuse(
        libc::SYS_userfaultfd,
        "stops the kernel in the middle of its work",
    ),
    refuse(
        libc::SYS_keyctl,
        "reaches keys that no namespace holds back",
    ),
    refuse(
        libc::SYS_add_key,
        "reaches keys that no namespace holds back",
    ),
    refuse(
        libc::SYS_request_key,
        "reaches keys that no namespace holds back",
    ),
    refuse(libc::SYS_kexec_load, "replaces the kernel"),
    refuse(libc::SYS_kexec_file_load, "replaces the kernel"),
    refuse(libc::SYS_init_module, "loads code into the kernel"),
    refuse(libc::SYS_finit_module, "loads code into the kernel"),
    refuse(libc::SYS_delete_module, "unloads code from the kernel"),
    refuse(libc::SYS_reboot, "stops the machine"),
    refuse(libc::SYS_swapon, "changes the machine's memory"),
    refuse(libc::SYS_swapoff, "changes the machine's memory"),
    refuse(libc::SYS_acct, "writes to a file of the kernel's choosing"),
    refuse(libc::SYS_quotactl, "changes quotas"),
    refuse(libc::SYS_syslog, "reads and clears the kernel's log"),
    refuse(libc::SYS_settimeofday, "sets the machine's clock"),
    refuse(libc::SYS_clock_settime, "sets the machine's clock"),
    refuse(libc::SYS_clock_adjtime, "sets the machine's clock"),
    refuse(libc::SYS_adjtimex, "sets the machine's clock"),
    refuse(libc::SYS_sethostname, "renames the machine"),
    refuse(libc::SYS_setdomainname, "renames the machine"),
    refuse(libc::SYS_vhangup, "takes the terminal away"),
    refuse(libc::SYS_fanotify_init, "watches the whole file system"),
    #[cfg(target_arch = "x86_64")]
    refuse(libc::SYS_iopl, "reaches hardware"),
    #[cfg(target_arch = "x86_64")]
    refuse(libc::SYS_ioperm, "reaches hardware"),
    refuse_when(
        libc::SYS_seccomp,
        When::ArgHasAny {
            arg: 1,
            mask: SECCOMP_FILTER_FLAG_NEW_LISTENER,
        },
        "a second listener could answer in place of the first",
    ),
    connects_on_sending(libc::SYS_sendto, 3),
    connects_on_sending(libc::SYS_sendmsg, 2),
    connects_on_sending(libc::SYS_sendmmsg, 3),
    refuse_when(
        libc::SYS_ioctl,
        When::ArgEq {
            arg: 1,
            value: TIOCSTI,
        },
        "types into the terminal",
    ),
    refuse_when(
        libc::SYS_ioctl,
        When::ArgEq {
            arg: 1,
            value: TIOCLINUX,
        },
        "pastes into the terminal",
    ),
];

/// What takes room on a disk without the kernel counting it as written: refused, where there is a
/// limit, as by a file system that cannot do it. Whoever asks writes then.
pub(super) const UNCOUNTED: &[Entry] = &[Entry {
    syscall: libc::SYS_fallocate,
    when: When::Always,
    answer: Answer::Errno(EOPNOTSUPP),
    reason: "takes room on a disk without being counted",
}];

const fn family(number: i32, reason: &'static str) -> Entry {
    Entry {
        syscall: libc::SYS_socket,
        when: When::ArgEq {
            arg: 0,
            value: number.cast_unsigned(),
        },
        answer: Answer::Allow,
        reason,
    }
}

/// Unix sockets of a kind that has to be connected before anything can be sent. One for datagrams
/// can send to any path, and where to is in memory: nobody could hold that.
const fn local(syscall: i64, kind: i32) -> Entry {
    const KIND: u32 = 0xf;
    Entry {
        syscall,
        when: When::BothMaskedEq([
            Masked {
                arg: 0,
                mask: u32::MAX,
                value: libc::AF_UNIX.cast_unsigned(),
            },
            Masked {
                arg: 1,
                mask: KIND,
                value: kind.cast_unsigned(),
            },
        ]),
        answer: Answer::Allow,
        reason: "talks to processes of the same session",
    }
}

/// Unix sockets of every other kind.
const NOT_LOCAL: [Entry; 2] = [
    Entry {
        syscall: libc::SYS_socket,
        when: When::ArgEq {
            arg: 0,
            value: libc::AF_UNIX.cast_unsigned(),
        },
        answer: Answer::Errno(ESOCKTNOSUPPORT),
        reason: "sends datagrams to any path",
    },
    Entry {
        syscall: libc::SYS_socketpair,
        when: When::Always,
        answer: Answer::Errno(ESOCKTNOSUPPORT),
        reason: "one end of a pair for datagrams can send to any path too",
    },
];

/// Whether somebody makes connections in a command's stead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Connecting {
    /// The run's init.
    Held,
    /// Nobody: it is the command's own, and what is in sight can be reached.
    Free,
}

/// Asks for writing, or makes or empties a file.
const WRITING: u32 =
    (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC).cast_unsigned();

const fn looked_at(syscall: i64, when: When) -> Entry {
    Entry {
        syscall,
        when,
        answer: Answer::Notify,
        reason: "the fence may refuse it, and wants to know",
    }
}

const fn held(syscall: i64) -> Entry {
    Entry {
        syscall,
        when: When::Always,
        answer: Answer::Notify,
        reason: "the run's init does it in the command's stead, or keeps a roll of it",
    }
}

/// The calls that the run's init is told of.
fn looked_at_by(lookout: Lookout, sockets: Sockets, connecting: Connecting) -> Vec<Entry> {
    let mut table = Vec::new();
    if connecting == Connecting::Held {
        table.push(held(libc::SYS_connect));
        if sockets != Sockets::InNamespace {
            table.push(held(libc::SYS_listen));
        }
    }
    if lookout == Lookout::Off {
        return table;
    }
    let with = |arg, value: u32| When::ArgEq { arg, value };
    match sockets {
        // An internet address by its length.
        Sockets::InNamespace if connecting == Connecting::Free => table.extend([
            looked_at(libc::SYS_connect, with(2, 16)),
            looked_at(libc::SYS_connect, with(2, 28)),
        ]),
        Sockets::LocalOnly => table.extend(
            [libc::AF_INET, libc::AF_INET6]
                .map(|family| looked_at(libc::SYS_socket, with(0, family.cast_unsigned()))),
        ),
        Sockets::InNamespace | Sockets::InMachineNetwork => {}
    }
    if lookout == Lookout::Writes {
        table.extend(lookout::CHANGES.iter().map(|change| {
            let when = match change.flags {
                Some(arg) => When::ArgHasAny { arg, mask: WRITING },
                None => When::Always,
            };
            looked_at(change.syscall, when)
        }));
    }
    table
}

/// The whole table for a policy.
pub(super) fn table(sockets: Sockets, lookout: Lookout, connecting: Connecting) -> Vec<Entry> {
    let mut table = ALWAYS.to_vec();
    table.extend(looked_at_by(lookout, sockets, connecting));
    let local_sockets_are_bounded =
        sockets != Sockets::InMachineNetwork || ringfence_confine::landlock::version() >= 6;
    if local_sockets_are_bounded {
        table.extend(
            [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(|kind| local(libc::SYS_socket, kind)),
        );
    }
    table.extend(
        [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(|kind| local(libc::SYS_socketpair, kind)),
    );
    table.extend(NOT_LOCAL);
    if sockets != Sockets::LocalOnly {
        table.push(family(
            libc::AF_INET,
            "the network namespace bounds where it leads",
        ));
        table.push(family(
            libc::AF_INET6,
            "the network namespace bounds where it leads",
        ));
        table.push(family(
            libc::AF_NETLINK,
            "programs ask it for addresses and routes",
        ));
    }
    table.push(Entry {
        syscall: libc::SYS_socket,
        when: When::Always,
        answer: Answer::Errno(EAFNOSUPPORT),
        reason: "every other family (vsock, packet, bluetooth, …) leaves the fence",
    });
    table
}
