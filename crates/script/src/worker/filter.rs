//! The system calls that the zygote and its children may make: data, with the reason beside each line.
//!
//! Whatever is not listed kills the process. A child has its zygote's filter, and on top of it one that takes back what
//! only a zygote needs: a short one, because the kernel compiles it anew for every child.

use ringfence_confine::seccomp::{Answer, Entry, Filter, SeccompError, When};

const fn allow(syscall: i64, reason: &'static str) -> Entry {
    Entry {
        syscall,
        when: When::Always,
        answer: Answer::Allow,
        reason,
    }
}

const fn refuse(syscall: i64, errno: i32, reason: &'static str) -> Entry {
    Entry {
        syscall,
        when: When::Always,
        answer: Answer::Errno(errno),
        reason,
    }
}

const PROT_EXEC: u32 = libc::PROT_EXEC.cast_unsigned();

/// Makes nothing executable: code that a script smuggles into the heap stays data.
const NO_NEW_CODE: [Entry; 4] = [
    Entry {
        syscall: libc::SYS_mmap,
        when: When::ArgHasAny {
            arg: 2,
            mask: PROT_EXEC,
        },
        answer: Answer::KillProcess,
        reason: "no executable memory",
    },
    Entry {
        syscall: libc::SYS_mprotect,
        when: When::ArgHasAny {
            arg: 2,
            mask: PROT_EXEC,
        },
        answer: Answer::KillProcess,
        reason: "no executable memory",
    },
    allow(libc::SYS_mmap, "the C heap grows"),
    allow(libc::SYS_mprotect, "the C heap grows"),
];

/// What a run needs.
const CHILD: &[Entry] = &[
    allow(libc::SYS_read, "frames from the host"),
    allow(libc::SYS_recvfrom, "frames from the host"),
    allow(libc::SYS_write, "frames to the host"),
    allow(libc::SYS_sendto, "frames to the host"),
    allow(libc::SYS_brk, "the C heap grows"),
    allow(libc::SYS_munmap, "the C heap shrinks"),
    allow(libc::SYS_mremap, "large blocks are moved without copying"),
    allow(libc::SYS_madvise, "the C heap gives memory back"),
    allow(
        libc::SYS_clock_gettime,
        "Date.now where the vDSO does not serve",
    ),
    allow(
        libc::SYS_gettimeofday,
        "Date.now where the vDSO does not serve",
    ),
    allow(
        libc::SYS_getrandom,
        "the seed of Math.random and of hash maps",
    ),
    allow(
        libc::SYS_futex,
        "locks of the standard library, never contended",
    ),
    allow(
        libc::SYS_sigaltstack,
        "the standard library's stack overflow handler",
    ),
    allow(
        libc::SYS_rt_sigaction,
        "a fault restores the default handler before it dies of it",
    ),
    allow(libc::SYS_rt_sigprocmask, "abort unblocks its signal"),
    allow(libc::SYS_rt_sigreturn, "return from a signal handler"),
    allow(libc::SYS_getpid, "abort names itself"),
    allow(libc::SYS_gettid, "abort names itself"),
    Entry {
        syscall: libc::SYS_tgkill,
        when: When::ArgEq {
            arg: 2,
            value: libc::SIGABRT.cast_unsigned(),
        },
        answer: Answer::Allow,
        reason: "abort, of itself only in effect: it knows no other thread",
    },
    Entry {
        syscall: libc::SYS_prlimit64,
        when: When::ArgEq { arg: 0, value: 0 },
        answer: Answer::Allow,
        reason: "a run lowers its own limits when it learns them",
    },
    allow(libc::SYS_close, "descriptors are closed"),
    allow(libc::SYS_exit_group, "the end"),
    allow(libc::SYS_exit, "the end"),
    allow(
        libc::SYS_restart_syscall,
        "the kernel resumes a call after a stop signal",
    ),
    refuse(
        libc::SYS_openat,
        libc::ENOENT,
        "the C library looks for tuning files and does without",
    ),
    refuse(
        libc::SYS_ioctl,
        libc::ENOTTY,
        "a panic message asks whether it goes to a terminal",
    ),
    refuse(
        libc::SYS_getcwd,
        libc::ENOENT,
        "a panic message shortens paths",
    ),
];

/// What the zygote needs beyond its children.
const ZYGOTE: &[Entry] = &[
    allow(libc::SYS_clone, "children"),
    allow(libc::SYS_wait4, "reaping"),
    allow(
        libc::SYS_pidfd_send_signal,
        "killing children when the host is gone",
    ),
    allow(libc::SYS_poll, "waiting for the host and for children"),
    allow(libc::SYS_ppoll, "waiting for the host and for children"),
    allow(libc::SYS_socketpair, "a socket for each child"),
    allow(libc::SYS_sendmsg, "passing a child's socket to the host"),
    allow(libc::SYS_recvmsg, "the host's orders"),
    allow(
        libc::SYS_dup2,
        "a child puts its socket in the place of the host's",
    ),
    allow(
        libc::SYS_dup3,
        "a child puts its socket in the place of the host's",
    ),
    allow(libc::SYS_fcntl, "close-on-exec"),
    allow(libc::SYS_close_range, "a child closes what it inherited"),
    allow(libc::SYS_prctl, "parent-death signal and filter of a child"),
    allow(libc::SYS_seccomp, "the filter of a child"),
];

/// The filter of a run, for a process that has the zygote's.
pub(super) fn child() -> Result<Filter, SeccompError> {
    let taken_back: Vec<Entry> = ZYGOTE
        .iter()
        .map(|entry| Entry {
            when: When::Always,
            answer: Answer::KillProcess,
            ..*entry
        })
        .collect();
    Filter::new(&taken_back, Answer::Allow)
}

/// The filter of the zygote.
pub(super) fn zygote() -> Result<Filter, SeccompError> {
    Filter::new(&[&NO_NEW_CODE, CHILD, ZYGOTE].concat(), Answer::KillProcess)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use ringfence_confine::{privilege, process};

    const PROBE: &str = "RINGFENCE_FILTER_PROBE";
    const ALIVE: i32 = 42;

    /// What a child might try, and whether it lives.
    const PROBES: [(&str, bool); 11] = [
        ("nothing", true),
        ("clock", true),
        ("file", true),
        ("socket", false),
        ("socket pair", false),
        ("waiting", false),
        ("copy of a descriptor", false),
        ("filter", false),
        ("thread", false),
        ("program", false),
        ("directory", false),
    ];

    fn try_it(probe: &str) {
        match probe {
            "clock" => drop(std::time::SystemTime::now()),
            // Refused with an error, not with death: the C library tries this by itself.
            "file" => assert!(std::fs::read("/etc/hostname").is_err()),
            "socket" => drop(std::net::TcpListener::bind("127.0.0.1:0")),
            "socket pair" => drop(std::os::unix::net::UnixStream::pair()),
            "waiting" => drop(process::reap()),
            "copy of a descriptor" => drop(std::io::stderr().as_fd().try_clone_to_owned()),
            "filter" => drop(super::child().unwrap().install()),
            "thread" => drop(std::thread::spawn(|| {})),
            "program" => drop(Command::new("/bin/true").status()),
            "directory" => drop(std::fs::create_dir("/tmp/ringfence-probe")),
            _ => {}
        }
    }

    /// The test starts its own program again for each probe: a filter is for good, and death is for all threads.
    #[test]
    fn a_child_that_breaks_its_filter_dies_of_it() {
        if let Ok(probe) = std::env::var(PROBE) {
            privilege::no_new_privs().unwrap();
            super::zygote().unwrap().install().unwrap();
            super::child().unwrap().install().unwrap();
            try_it(&probe);
            process::exit_now(ALIVE);
        }
        let this = "worker::filter::tests::a_child_that_breaks_its_filter_dies_of_it";
        for (probe, lives) in PROBES {
            let status = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", this, "--nocapture"])
                .env(PROBE, probe)
                .stdout(std::process::Stdio::null())
                .status()
                .unwrap();
            let expected = if lives {
                (Some(ALIVE), None)
            } else {
                (None, Some(libc::SIGSYS))
            };
            assert_eq!((status.code(), status.signal()), expected, "{probe}");
        }
    }
}
