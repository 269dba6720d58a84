//! The lookout of a run: its init is told of calls that the fence may refuse before they are made,
//! and notes those that it does refuse.
//!
//! Where it only looks, the call is let through: what was read of it can change before it is made,
//! and mounts, namespaces and Landlock refuse as they do without it. What it holds it does not let
//! through: a kind of socket that the filter refuses anyway is refused here, by its number, and
//! connections are made in the command's stead (`connections`).

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use ringfence_confine::notify::{self, Listener, Notification};
use ringfence_confine::process::Pid;
use ringfence_policy::permissions::Lookout as Lookouts;
use rustix::event::PollFlags;
use rustix::fs::{Mode, OFlags, StatVfsMountFlags};

use super::address::{self, Destination};
use super::connections::Connections;
use super::protocol::{DeniedAccess, Fence, RawPath, Sockets};

/// The most denials that one run tells of.
const MOST: usize = 32;
/// The longest path that the kernel takes.
const LONGEST_PATH: usize = 4096;

/// The lookout of one run.
#[derive(Debug)]
pub(super) struct Lookout {
    /// None once nobody is left who could make a call.
    listener: Option<Listener>,
    /// None where connections cannot be made in somebody's stead.
    connections: Option<Connections>,
    /// Whether connections that lead nowhere are noted.
    notes_connections: bool,
    writes: Writes,
    seen: Vec<DeniedAccess>,
}

/// What refuses writes.
#[derive(Debug)]
pub(super) enum Writes {
    /// Mounts that are read-only.
    ByMounts,
    /// Landlock, but for these folders.
    Outside(Vec<PathBuf>),
}

impl Lookout {
    /// With connections it holds them; without, it looks at them.
    pub(super) fn new(
        listener: Listener,
        fence: &Fence,
        has_mounts: bool,
        connections: Option<Connections>,
    ) -> Self {
        listener.take_turns();
        let writes = if has_mounts {
            Writes::ByMounts
        } else {
            let writable = fence.writable.iter().chain(&fence.cache);
            Writes::Outside(writable.map(RawPath::to_path).collect())
        };
        Self {
            listener: Some(listener),
            connections,
            notes_connections: fence.sockets == Sockets::InNamespace
                && fence.lookout != Lookouts::Off,
            writes,
            seen: Vec::new(),
        }
    }

    /// What becomes readable when there is a call to look at.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.listener.as_ref().map(AsFd::as_fd)
    }

    /// Looks at a call, if polling the descriptor says that there is one.
    pub(super) fn attend(&mut self, polled: PollFlags) -> io::Result<()> {
        if polled.contains(PollFlags::IN) {
            self.look()
        } else {
            if !polled.is_empty() {
                self.listener = None;
            }
            Ok(())
        }
    }

    fn look(&mut self) -> io::Result<()> {
        let Some(listener) = &self.listener else {
            return Ok(());
        };
        let Some(call) = listener.receive()? else {
            return Ok(());
        };
        let denied = match (call.syscall, &mut self.connections) {
            (libc::SYS_connect, Some(connections)) => {
                let wanted = address::destination(&call);
                let beyond = match &wanted {
                    Ok(Destination::Other(address)) if self.notes_connections => beyond(address),
                    _ => None,
                };
                let beyond = beyond.filter(|_| listener.still_waits(&call));
                let refused = connections.answer(listener, &call, wanted)?;
                refused
                    .map(|path| DeniedAccess::UnixSocket { path })
                    .or(beyond)
            }
            (libc::SYS_listen, Some(connections)) => {
                connections.note(listener, &call)?;
                None
            }
            (syscall, _) => {
                let denied = self.judge(&call);
                // What was read may have been another process's if the caller was killed meanwhile.
                let denied = denied.filter(|_| listener.still_waits(&call));
                if syscall == libc::SYS_socket {
                    listener.refuse(&call, libc::EAFNOSUPPORT)?;
                } else {
                    listener.let_through(&call)?;
                }
                denied
            }
        };
        if let Some(denied) = denied
            && self.seen.len() < MOST
            && !self.seen.contains(&denied)
        {
            self.seen.push(denied);
        }
        Ok(())
    }

    /// The processes of the lookout itself.
    pub(super) fn own_processes(&self) -> Vec<i32> {
        let waiting = self.connections.iter().flat_map(Connections::waiting);
        waiting.map(|pid| pid.as_raw_nonzero().get()).collect()
    }

    /// A child has ended that may be one of them.
    pub(super) fn has_ended(&mut self, pid: Pid) {
        if let (Some(listener), Some(connections)) = (&self.listener, &mut self.connections) {
            connections.has_ended(listener, pid);
        }
    }

    /// The denials that were seen and not told yet.
    pub(super) fn take(&mut self) -> Vec<DeniedAccess> {
        std::mem::take(&mut self.seen)
    }

    fn judge(&self, call: &Notification) -> Option<DeniedAccess> {
        match call.syscall {
            libc::SYS_socket => Some(DeniedAccess::Socket),
            libc::SYS_connect => {
                let Ok(Destination::Other(address)) = address::destination(call) else {
                    return None;
                };
                beyond(&address)
            }
            _ => self.judge_write(call),
        }
    }

    fn judge_write(&self, call: &Notification) -> Option<DeniedAccess> {
        let named = CHANGES
            .iter()
            .find(|change| change.syscall == call.syscall)?;
        let path = path(call, named)?;
        let end = match named.flags {
            Some(_) => OFlags::empty(),
            None => OFlags::NOFOLLOW,
        };
        let resolved = ResolvedPath::of(&path, end)?;
        let refused = match &self.writes {
            Writes::ByMounts => resolved.is_read_only,
            Writes::Outside(roots) => !roots.iter().any(|root| resolved.path.starts_with(root)),
        };
        (refused && !is_own(&resolved.path)).then(|| DeniedAccess::Write {
            path: resolved.path.display().to_string(),
        })
    }
}

/// A call that changes something at a path.
pub(super) struct Change {
    pub(super) syscall: i64,
    /// The argument with the folder that the path is relative to.
    folder: Option<usize>,
    /// The argument with the path.
    path: usize,
    /// The argument with flags that say whether it changes anything.
    pub(super) flags: Option<u8>,
}

const fn change(syscall: i64, folder: Option<usize>, path: usize) -> Change {
    Change {
        syscall,
        folder,
        path,
        flags: None,
    }
}

/// The calls that are looked at for what they write.
pub(super) const CHANGES: &[Change] = &[
    Change {
        flags: Some(2),
        ..change(libc::SYS_openat, Some(0), 1)
    },
    change(libc::SYS_mkdirat, Some(0), 1),
    change(libc::SYS_unlinkat, Some(0), 1),
    change(libc::SYS_renameat2, Some(2), 3),
    change(libc::SYS_truncate, None, 0),
    #[cfg(target_arch = "x86_64")]
    Change {
        flags: Some(1),
        ..change(libc::SYS_open, None, 0)
    },
    #[cfg(target_arch = "x86_64")]
    change(libc::SYS_creat, None, 0),
    #[cfg(target_arch = "x86_64")]
    change(libc::SYS_mkdir, None, 0),
    #[cfg(target_arch = "x86_64")]
    change(libc::SYS_rmdir, None, 0),
    #[cfg(target_arch = "x86_64")]
    change(libc::SYS_unlink, None, 0),
    #[cfg(target_arch = "x86_64")]
    change(libc::SYS_rename, None, 1),
];

/// Folders of the fence's own: nobody expects to write there, and nothing would allow it.
fn is_own(path: &Path) -> bool {
    ["/dev", "/proc", "/sys", "/run"]
        .iter()
        .any(|own| path.starts_with(own))
}

/// The denial of a connection that leads nowhere.
fn beyond(address: &[u8]) -> Option<DeniedAccess> {
    let address = address::internet(address).filter(is_beyond)?;
    Some(DeniedAccess::Connect {
        address: address.to_string(),
    })
}

/// Whether an address is beyond what a network with nothing but a loopback reaches. The name
/// server of many machines is at an address of their loopback, and not in ours.
fn is_beyond(address: &SocketAddr) -> bool {
    const NAME_SERVERS: [Ipv4Addr; 2] =
        [Ipv4Addr::new(127, 0, 0, 53), Ipv4Addr::new(127, 0, 0, 54)];
    let ip = address.ip();
    let is_name_server =
        matches!(ip, IpAddr::V4(ip) if NAME_SERVERS.contains(&ip)) && address.port() == 53;
    is_name_server || !ip.is_loopback() && !ip.is_unspecified()
}

/// The path that a call names, made absolute.
fn path(call: &Notification, change: &Change) -> Option<PathBuf> {
    let path = read_path(call.thread, call.arguments[change.path])?;
    if path.is_absolute() {
        return Some(path);
    }
    let thread = call.thread.as_raw_nonzero();
    // A descriptor is an `int`: the upper half of the argument does not count.
    #[allow(clippy::cast_possible_truncation)]
    let folder = change
        .folder
        .map_or(libc::AT_FDCWD, |argument| call.arguments[argument] as i32);
    let link = if folder == libc::AT_FDCWD {
        format!("/proc/{thread}/cwd")
    } else {
        format!("/proc/{thread}/fd/{folder}")
    };
    Some(fs::read_link(link).ok()?.join(path))
}

fn read_path(thread: Pid, address: u64) -> Option<PathBuf> {
    const PAGE: u64 = 4096;
    let mut path = Vec::new();
    // Page by page: the one after the end of the path may not be there.
    while path.len() < LONGEST_PATH {
        let from = address.checked_add(path.len() as u64)?;
        let mut piece = [0; 4096];
        let length = usize::try_from(PAGE - from % PAGE).ok()?;
        let read = notify::read_memory(thread, from, &mut piece[..length]).ok()?;
        match piece[..read].iter().position(|byte| *byte == 0) {
            Some(end) => {
                path.extend_from_slice(&piece[..end]);
                return Some(PathBuf::from(std::ffi::OsString::from_vec(path)));
            }
            None if read == 0 => return None,
            None => path.extend_from_slice(&piece[..read]),
        }
    }
    None
}

/// A place in the file system, with every link in its path followed.
struct ResolvedPath {
    path: PathBuf,
    is_read_only: bool,
}

impl ResolvedPath {
    /// The place of a path: of what is there, or of what would be made there. None if nothing can
    /// be made there anyway. A link at the end is followed as the flags say: opening one opens what
    /// is behind it, removing one does not.
    fn of(path: &Path, end: OFlags) -> Option<Self> {
        let open = |path: &Path, end: OFlags| {
            let flags = OFlags::PATH | OFlags::CLOEXEC | end;
            rustix::fs::open(path, flags, Mode::empty()).ok()
        };
        let (opened, name) = match open(path, end) {
            Some(there) => (there, None),
            None => (open(path.parent()?, OFlags::empty())?, path.file_name()),
        };
        let real = fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd())).ok()?;
        let flags = rustix::fs::fstatvfs(&opened).ok()?.f_flag;
        Some(Self {
            path: match name {
                Some(name) => real.join(name),
                None => real,
            },
            is_read_only: flags.contains(StatVfsMountFlags::RDONLY),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_told_apart() {
        let inet = |bytes: [u8; 4], port: u16| {
            let mut raw = vec![2, 0];
            raw.extend(port.to_be_bytes());
            raw.extend(bytes);
            raw.extend([0; 8]);
            address::internet(&raw).unwrap()
        };
        for (bytes, port, beyond) in [
            ([127, 0, 0, 1], 80, false),
            ([0, 0, 0, 0], 80, false),
            ([192, 0, 2, 1], 443, true),
            ([169, 254, 169, 254], 80, true),
            ([127, 0, 0, 53], 53, true),
            ([127, 0, 0, 53], 80, false),
        ] {
            assert_eq!(is_beyond(&inet(bytes, port)), beyond, "{bytes:?}:{port}");
        }
        let mut mapped = vec![10, 0, 0, 80, 0, 0, 0, 0];
        mapped.extend(Ipv4Addr::LOCALHOST.to_ipv6_mapped().octets());
        mapped.extend([0; 4]);
        assert!(!is_beyond(&address::internet(&mapped).unwrap()));
        assert_eq!(address::internet(&[1, 0, b'/']), None);
        assert_eq!(address::internet(&[]), None);
    }
}
