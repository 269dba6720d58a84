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
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ringfence_confine::caller::Caller;
use ringfence_confine::connect::{address_of, connect, send_timeout};
use ringfence_confine::notify::{Listener, Notification};
use ringfence_confine::process::{self, Fork, Pid};
use rustix::fs::{Mode, OFlags};

use super::address::{self, Destination};
use super::protocol::{Fence, Sockets};
use super::reach::Reach;
use crate::net::OUTLETS;

/// How long the init itself waits: most connections take a thousandth of that.
const A_MOMENT: Duration = Duration::from_millis(2);
/// How often a process that waits sees whether anybody else does.
const TICK: Duration = Duration::from_millis(50);
/// The most connections that wait at once.
const MOST_WAITING: usize = 64;

/// The connections of one run.
#[derive(Debug)]
pub(super) struct Connections {
    reach: Reach,
    outlets: Outlets,
    waiting: Vec<(Pid, Notification)>,
}

/// The outlets of a session, as one of its runs sees them.
#[derive(Debug)]
enum Outlets {
    /// There are none in this network.
    Elsewhere,
    /// One of them, by its port, may be the run's own.
    Here { own: Option<u16> },
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
    pub(super) fn new(reach: Reach, fence: &Fence, own_outlet: Option<u16>) -> Self {
        Self {
            reach,
            outlets: match fence.sockets {
                Sockets::InNamespace => Outlets::Here { own: own_outlet },
                Sockets::InMachineNetwork | Sockets::LocalOnly => Outlets::Elsewhere,
            },
            waiting: Vec::new(),
        }
    }

    /// Answers a `connect`. Returns the path of a socket that was refused.
    pub(super) fn answer(
        &mut self,
        listener: &Listener,
        call: &Notification,
        destination: io::Result<Destination>,
    ) -> io::Result<Option<String>> {
        let ready = destination
            .map_err(Not::from)
            .and_then(|destination| self.prepare(call, destination));
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

    fn prepare(&self, call: &Notification, destination: Destination) -> Result<Ready, Not> {
        let caller = Caller::of(call)?;
        let socket = caller.descriptor(number(call))?;
        let path = match destination {
            Destination::Other(address) => {
                if self.is_anothers_outlet(&address) {
                    return Err(Not::Failed(libc::ECONNREFUSED));
                }
                return Ok(Ready {
                    socket,
                    address,
                    target: None,
                });
            }
            Destination::Path(path) => path,
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

    /// Whether an address is that of an outlet which is not the run's own: what others may reach
    /// through it is not for this one.
    fn is_anothers_outlet(&self, address: &[u8]) -> bool {
        match (&self.outlets, address::internet(address)) {
            (Outlets::Here { own }, Some(address)) => {
                address.ip() == OUTLETS && Some(address.port()) != *own
            }
            _ => false,
        }
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
