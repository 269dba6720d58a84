//! Namespaces: making them, mapping identities into them, and giving them a loopback.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::thread::UnshareFlags;

use crate::process::{self, Fork};

pub use libc::{CLONE_NEWNS, CLONE_NEWPID};

/// Which identities exist in a user namespace. Ids mean the same inside and outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identities {
    /// One user and one group: all that an ordinary user may map.
    One {
        /// The user.
        uid: u32,
        /// The group.
        gid: u32,
    },
    /// Every id that exists here, so that owners of files look as they are. Needs root.
    All,
}

/// Moves the calling process into a new user namespace, in which it has every capability.
///
/// # Safety
/// As for [`process::fork`]: single thread.
pub unsafe fn enter_user_namespace(identities: Identities) -> io::Result<()> {
    match identities {
        Identities::One { uid, gid } => {
            unshare(UnshareFlags::NEWUSER)?;
            fs::write("/proc/self/setgroups", "deny")?;
            fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
            fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))
        }
        // SAFETY: passed on to the caller.
        Identities::All => unsafe { enter_with_all_identities() },
    }
}

/// A map of more than one id can only be written from outside the new namespace, by somebody
/// privileged there: a child that stays behind does it.
unsafe fn enter_with_all_identities() -> io::Result<()> {
    let uid_map = identity_map("/proc/self/uid_map")?;
    let gid_map = identity_map("/proc/self/gid_map")?;
    let target = rustix::process::getpid().as_raw_nonzero();
    let (ours, theirs) = crate::descriptor::socket_pair()?;
    // SAFETY: passed on to the caller; the child reads, writes two files and exits.
    match unsafe { process::fork() }? {
        Fork::Child => {
            drop(ours);
            let write = || -> io::Result<()> {
                crate::descriptor::receive(&theirs, &mut [0; 1])?;
                fs::write(format!("/proc/{target}/uid_map"), &uid_map)?;
                fs::write(format!("/proc/{target}/gid_map"), &gid_map)
            };
            process::exit_now(match write() {
                Ok(()) => 0,
                Err(error) => error.raw_os_error().unwrap_or(1),
            })
        }
        Fork::Parent(child) => {
            let entered = unshare(UnshareFlags::NEWUSER);
            drop(theirs);
            crate::descriptor::send(&ours, b"!", &[])?;
            let ending = process::wait(&child)?;
            entered?;
            match ending.code() {
                Some(0) => Ok(()),
                Some(errno) => Err(io::Error::from_raw_os_error(errno)),
                None => Err(io::Error::other(
                    "the process that maps identities was killed",
                )),
            }
        }
    }
}

/// The identity map over the same ranges that exist in this namespace.
fn identity_map(path: &str) -> io::Result<String> {
    let map = fs::read_to_string(path)?;
    let mut lines = Vec::new();
    for line in map.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if let [inside, _, count] = fields[..] {
            lines.push(format!("{inside} {inside} {count}"));
        }
    }
    Ok(lines.join("\n") + "\n")
}

/// Moves the calling process into new namespaces of its own.
pub fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: flags that would split state between threads (FILES, FS) are for single-threaded
    // callers to give; the namespace flags used with this function touch no memory.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

pub use rustix::thread::UnshareFlags as Flags;

/// Forbids user namespaces inside the current one, where the kernel counts them.
pub fn forbid_nested_user_namespaces() -> io::Result<()> {
    fs::write("/proc/sys/user/max_user_namespaces", "0")
}

/// Bounds the process ids, and with them the processes, of the calling process's PID namespace.
/// Only to be called where [`pid_max_is_per_namespace`]: elsewhere it would change the machine.
pub fn set_pid_max(limit: u64) -> io::Result<()> {
    // The kernel refuses anything below 301: the first 300 ids are kept for system processes when
    // the numbers start over.
    fs::write("/proc/sys/kernel/pid_max", limit.max(301).to_string())
}

/// The same through a descriptor of `/proc/sys/kernel`, for a namespace whose own `/proc` is closed
/// to writes: the kernel looks at who writes, not at where the folder came from.
pub fn set_pid_max_at(kernel: impl AsFd, limit: u64) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags};
    let file = rustix::fs::openat(
        kernel,
        "pid_max",
        OFlags::WRONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    rustix::io::write(&file, limit.max(301).to_string().as_bytes())?;
    Ok(())
}

/// Whether `pid_max` belongs to the PID namespace (Linux 6.14) and not to the machine.
pub fn pid_max_is_per_namespace() -> bool {
    kernel_version() >= (6, 14)
}

/// Major and minor number of the running kernel.
pub fn kernel_version() -> (u32, u32) {
    let uname = rustix::system::uname();
    let release = uname.release().to_string_lossy();
    let mut numbers = release
        .split(|c: char| !c.is_ascii_digit())
        .map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// A socket that listens on an address of the loopback of the calling process's network namespace,
/// on a port of the kernel's choosing. It keeps answering there wherever its descriptor goes.
pub fn listen_on_loopback(address: std::net::Ipv4Addr) -> io::Result<OwnedFd> {
    use rustix::net::{AddressFamily, SocketAddrV4, SocketFlags, SocketType};
    const WAITING: i32 = 128;
    let socket = rustix::net::socket_with(
        AddressFamily::INET,
        SocketType::STREAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )?;
    rustix::net::bind(&socket, &SocketAddrV4::new(address, 0))?;
    rustix::net::listen(&socket, WAITING)?;
    Ok(socket)
}

/// Brings up the loopback of the calling process's network namespace.
pub fn loopback_up() -> io::Result<()> {
    use std::os::fd::AsRawFd;
    const UP_AND_RUNNING: i16 = 0x41;
    let socket: OwnedFd = rustix::net::socket(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        None,
    )?;
    // SAFETY: `ifreq` is plain data for which zero is valid, and outlives the call; the name is
    // shorter than its field.
    let result = unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l'.cast_signed();
        request.ifr_name[1] = b'o'.cast_signed();
        request.ifr_ifru.ifru_flags = UP_AND_RUNNING;
        libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request)
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
