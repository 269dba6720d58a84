//! Connections that are made in a command's stead.
//!
//! What a notified call names can change after it was looked at. So no connection is let through:
//! the address is copied once and judged, a path becomes a descriptor of the socket that it names,
//! and the caller's own socket is connected to just that. The caller is told what came of it.
//!
//! The init of a run must not wait: a connection that has to is left to a process of its own,
//! which goes on until there is an answer or nobody who waits for it.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ringfence_confine::caller::Caller;
use ringfence_confine::connect::{address_of, connect, send_timeout};
use ringfence_confine::notify::{self, Listener, Notification};
use ringfence_confine::process::{self, Fork, Pid};
use rustix::fs::{Mode, OFlags};

use super::reach::Reach;

/// How long the init itself waits: most connections take a thousandth of that.
const A_MOMENT: Duration = Duration::from_millis(2);
/// How often a process that waits sees whether anybody else does.
const TICK: Duration = Duration::from_millis(50);
/// The most connections that wait at once.
const MOST_WAITING: usize = 64;
/// The longest address that the kernel takes.
const LONGEST_ADDRESS: usize = 128;

/// The connections of one run.
#[derive(Debug)]
pub(super) struct Connections {
    reach: Reach,
    waiting: Vec<(Pid, Notification)>,
}

/// What somebody wants to be connected to.
#[derive(Debug)]
pub(super) enum Wanted {
    /// A socket in the file system.
    Path(PathBuf),
    /// Anything else, as the kernel reads it.
    Other(Vec<u8>),
}

/// A connection that can be made.
struct Ready {
    socket: OwnedFd,
    address: Vec<u8>,
    /// What the address names.
    target: Option<OwnedFd>,
}

/// Why one cannot.
enum Not {
    Refused { path: String },
    Failed(i32),
}

impl From<io::Error> for Not {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.raw_os_error().unwrap_or(libc::EACCES))
    }
}

impl From<rustix::io::Errno> for Not {
    fn from(error: rustix::io::Errno) -> Self {
        Self::Failed(error.raw_os_error())
    }
}

impl Connections {
    pub(super) fn new(reach: Reach) -> Self {
        Self {
            reach,
            waiting: Vec::new(),
        }
    }

    /// Answers a `connect`. Returns the path of a socket that was refused.
    pub(super) fn answer(
        &mut self,
        listener: &Listener,
        call: &Notification,
        wanted: io::Result<Wanted>,
    ) -> io::Result<Option<String>> {
        let ready = wanted
            .map_err(Not::from)
            .and_then(|wanted| self.prepare(call, wanted));
        // All that was read belongs to the caller only if that has been there all the time.
        if !listener.still_waits(call) {
            return Ok(None);
        }
        match ready {
            Ok(ready) => self.make(listener, call, &ready).map(|()| None),
            Err(Not::Failed(errno)) => listener.refuse(call, errno).map(|()| None),
            Err(Not::Refused { path }) => {
                listener.refuse(call, libc::EACCES)?;
                Ok(Some(path))
            }
        }
    }

    /// Answers a `listen`: what is listened on is this session's. The call itself names nothing
    /// that could change, and is let through.
    pub(super) fn note(&self, listener: &Listener, call: &Notification) -> io::Result<()> {
        let noted = Caller::of(call)
            .and_then(|caller| caller.descriptor(number(call)))
            .and_then(|socket| self.reach.note(&socket));
        match noted {
            // Nobody could connect to it.
            Err(error) if error.kind() == io::ErrorKind::QuotaExceeded => {
                listener.refuse(call, libc::ENOBUFS)
            }
            _ => listener.let_through(call),
        }
    }

    fn prepare(&self, call: &Notification, wanted: Wanted) -> Result<Ready, Not> {
        let caller = Caller::of(call)?;
        let socket = caller.descriptor(number(call))?;
        let path = match wanted {
            Wanted::Other(address) => {
                return Ok(Ready {
                    socket,
                    address,
                    target: None,
                });
            }
            Wanted::Path(path) => path,
        };
        let target = open(&path, &caller)?;
        if !self.reach.covers(&target).unwrap_or(false) {
            let real = fs::read_link(format!("/proc/self/fd/{}", target.as_raw_fd()));
            let path = real.unwrap_or(path).display().to_string();
            return Err(Not::Refused { path });
        }
        Ok(Ready {
            socket,
            address: address_of(&target),
            target: Some(target),
        })
    }

    fn make(&mut self, listener: &Listener, call: &Notification, ready: &Ready) -> io::Result<()> {
        match connect(&ready.socket, &ready.address, A_MOMENT) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.leave_to_another(listener, call, ready)
            }
            result => tell(listener, call, result),
        }
    }

    fn leave_to_another(
        &mut self,
        listener: &Listener,
        call: &Notification,
        ready: &Ready,
    ) -> io::Result<()> {
        if self.waiting.len() >= MOST_WAITING {
            return listener.refuse(call, libc::EAGAIN);
        }
        #[allow(unsafe_code)]
        // SAFETY: the init of a run has a single thread.
        match unsafe { process::fork() } {
            Ok(Fork::Child) => {
                let _ = ringfence_confine::privilege::parent_death_signal_kill();
                let _ = keep_trying(listener, call, ready);
                process::exit_now(0)
            }
            Ok(Fork::Parent(child)) => {
                self.waiting.push((child.pid, *call));
                Ok(())
            }
            Err(_) => listener.refuse(call, libc::EAGAIN),
        }
    }

    /// The processes that wait for connections: they are none of the command's.
    pub(super) fn waiting(&self) -> impl Iterator<Item = Pid> {
        self.waiting.iter().map(|(pid, _)| *pid)
    }

    /// A process has ended. If it was one that waited and gave no answer, somebody has killed it.
    pub(super) fn has_ended(&mut self, listener: &Listener, pid: Pid) {
        if let Some(index) = self.waiting.iter().position(|(known, _)| *known == pid) {
            let (_, call) = self.waiting.swap_remove(index);
            let _ = listener.refuse(&call, libc::EINTR);
        }
    }
}

/// The descriptor that a call is about. It is an `int`: the upper half of the argument does not
/// count.
#[allow(clippy::cast_possible_truncation)]
fn number(call: &Notification) -> i32 {
    call.arguments[0] as i32
}

/// What a `connect` names, copied from its caller's memory.
pub(super) fn wanted(call: &Notification) -> io::Result<Wanted> {
    let invalid = || io::Error::from_raw_os_error(libc::EINVAL);
    #[allow(clippy::cast_possible_truncation, reason = "it is an `int`")]
    let length = usize::try_from(call.arguments[2] as i32).map_err(|_| invalid())?;
    if length > LONGEST_ADDRESS {
        return Err(invalid());
    }
    let mut address = vec![0; length];
    if length > 0 && notify::read_memory(call.thread, call.arguments[1], &mut address)? < length {
        return Err(io::Error::from_raw_os_error(libc::EFAULT));
    }
    Ok(Wanted::from(address))
}

impl From<Vec<u8>> for Wanted {
    fn from(address: Vec<u8>) -> Self {
        let unix = u16::try_from(libc::AF_UNIX).unwrap_or_default();
        match address.split_first_chunk::<2>() {
            // Longer ones are refused by the kernel without a look at the path.
            Some((family, [first, ..]))
                if u16::from_ne_bytes(*family) == unix && *first != 0 && address.len() <= 110 =>
            {
                let path = address[2..].split(|byte| *byte == 0).next();
                Self::Path(PathBuf::from(std::ffi::OsStr::from_bytes(
                    path.unwrap_or_default(),
                )))
            }
            _ => Self::Other(address),
        }
    }
}

/// Opens what a path names for the caller: from its working folder, and with its own folder in
/// `/proc` where the path says "self".
fn open(path: &Path, caller: &Caller) -> io::Result<OwnedFd> {
    let open = |path: &Path| rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    let own = |rest: &Path, within: &str| -> io::Result<PathBuf> {
        let folder = Path::new("/proc").join(caller.name_in_proc()?);
        Ok(folder.join(within).join(rest))
    };
    for (named, within) in [
        ("/proc/self", ""),
        ("/proc/thread-self", ""),
        ("/dev/fd", "fd"),
    ] {
        if let Ok(rest) = path.strip_prefix(named) {
            return Ok(open(&own(rest, within)?)?);
        }
    }
    if path.is_absolute() {
        return Ok(open(path)?);
    }
    let folder = open(&own(Path::new(""), "cwd")?)?;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(&folder, path, flags, Mode::empty())?)
}

fn tell(listener: &Listener, call: &Notification, result: io::Result<()>) -> io::Result<()> {
    match result {
        Ok(()) => listener.succeed(call),
        Err(error) => listener.refuse(call, error.raw_os_error().unwrap_or(libc::EIO)),
    }
}

/// Goes on until there is an answer, or nobody who waits for it.
fn keep_trying(listener: &Listener, call: &Notification, ready: &Ready) -> io::Result<()> {
    let caller = Caller::of(call)?;
    let began = Instant::now();
    let patience = send_timeout(&ready.socket);
    loop {
        match connect(&ready.socket, &ready.address, TICK) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return tell(listener, call, result),
        }
        if !listener.still_waits(call) {
            return Ok(());
        }
        if caller.is_interrupted() {
            return listener.refuse(call, libc::EINTR);
        }
        if patience.is_some_and(|patience| began.elapsed() >= patience) {
            let errno = if ready.target.is_some() {
                libc::EAGAIN
            } else {
                libc::EINPROGRESS
            };
            return listener.refuse(call, errno);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart_as_the_kernel_does() {
        let unix = |path: &[u8]| [&[1, 0], path].concat();
        for (address, path) in [
            (unix(b"/run/x\0"), Some("/run/x")),
            (unix(b"relative"), Some("relative")),
            (unix(b"/cut\0off"), Some("/cut")),
            (unix(b"\0abstract"), None),
            (unix(b""), None),
            (vec![2, 0, 0, 80, 127, 0, 0, 1], None),
            (vec![1], None),
            (vec![], None),
            (unix(&[b'x'; 109]), None),
        ] {
            let found = match Wanted::from(address.clone()) {
                Wanted::Path(path) => Some(path),
                Wanted::Other(same) => {
                    assert_eq!(same, address);
                    None
                }
            };
            assert_eq!(found.as_deref(), path.map(Path::new), "{address:?}");
        }
    }
}
