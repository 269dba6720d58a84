//! What the harness, the warden and its stages say to each other.
//!
//! The messages are private to one build of this program: both ends are the same executable, so
//! there is no version to negotiate. Paths and words travel as bytes, since Unix names are bytes.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use ringfence_confine::descriptor;
use ringfence_policy::permissions::{Limit, Lookout};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::standing::Standing;

/// A path as bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct RawPath(Vec<u8>);

impl From<&Path> for RawPath {
    fn from(path: &Path) -> Self {
        Self(path.as_os_str().as_bytes().to_vec())
    }
}

impl RawPath {
    pub(crate) fn to_path(&self) -> PathBuf {
        PathBuf::from(OsString::from_vec(self.0.clone()))
    }
}

/// The first message to a warden: which world it shall make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Boot {
    pub(crate) world: World,
    pub(crate) identity: Identity,
    pub(crate) run_folder: RunFolder,
    /// The registry of marks.
    pub(crate) marks: Option<RawPath>,
    /// The session's workspace, and the process that opened it.
    pub(crate) workspace: RawPath,
    pub(crate) harness: u32,
}

/// What every run of a session finds in its `/run`, which is empty otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunFolder {
    /// Certificates, as PEM.
    pub(crate) certificates: Option<Vec<u8>>,
    /// Sockets of the machine's that are there too. Resolved.
    pub(crate) sockets: Vec<RawPath>,
}

/// Where the runs of a warden live.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum World {
    /// In namespaces of the session's own.
    Namespaces {
        /// Whether the session has a network of its own, which is nothing but a loopback.
        own_network: bool,
        /// The size of the session's `/tmp`.
        tmp_bytes: Option<u64>,
        /// The control groups that runs shall have, where some can be made.
        groups: Groups,
    },
    /// In namespaces that `bwrap` has made around the warden; each stage has it make its own.
    Bubblewrap {
        /// Where `bwrap` is.
        bwrap: RawPath,
        /// Whether the session has a network of its own.
        own_network: bool,
        /// The size of the session's `/tmp`.
        tmp_bytes: Option<u64>,
        /// As above.
        groups: Groups,
    },
    /// Inside what a stage had `bwrap` make for its run.
    BubblewrapRun,
    /// In a container that an engine has made around the warden.
    Container,
    /// On the machine as it is.
    Machine {
        /// As above.
        groups: Groups,
    },
}

impl World {
    pub(crate) fn groups(&self) -> Groups {
        match self {
            Self::Namespaces { groups, .. }
            | Self::Bubblewrap { groups, .. }
            | Self::Machine { groups } => *groups,
            // The warden of the one has made them; the engine of the other has its own.
            Self::BubblewrapRun | Self::Container => Groups::default(),
        }
    }
}

/// Which control groups a run shall have, where some can be made: each costs something to make.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Groups {
    /// One that bounds and counts its processes.
    pub(crate) processes: bool,
    /// One that bounds its memory.
    pub(crate) memory: bool,
    /// One that counts its CPU time.
    pub(crate) cpu_time: bool,
}

/// Whom the commands run as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// The groups to take on; absent where they cannot be changed.
    pub(crate) groups: Option<Vec<u32>>,
}

/// The warden's answer to [`Boot`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Booted {
    Ready,
    Failed(Failure),
}

/// What a stage is asked to get ready for, before the command is known: how far its run reaches,
/// and what it may use up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Enclosure {
    pub(crate) fence: Option<Fence>,
    pub(crate) limits: RunLimits,
}

/// The warden's answer to an [`Enclosure`], which asks for a stage. What comes along: the socket
/// that takes the command, the one for orders and reports, the stage's pidfd, and a socket that
/// listens on the loopback of the session's own network, where it has one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Prepared {
    Stage,
    Failed(Failure),
}

/// The warden's last word: nothing of what it started or placed is left.
pub(crate) const GOODBYE: &[u8] = b"goodbye";

/// What did not work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) step: Step,
    pub(crate) errno: i32,
    /// What it was about: a path, mostly.
    pub(crate) subject: String,
}

/// The step of a launch that failed, in the order in which they happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Step {
    UserNamespace,
    OtherNamespaces,
    Loopback,
    BaseMounts,
    Bubblewrap,
    Fork,
    Prepare,
    Message,
    WritableRoot,
    ProtectedPath,
    ProtectedSymlink,
    Marks,
    DeniedRead,
    Watch,
    Terminal,
    Descriptors,
    WorkingDirectory,
    Limits,
    Identity,
    Landlock,
    Seccomp,
    Program,
}

impl Failure {
    pub(crate) fn new(step: Step, error: &io::Error, subject: impl Into<String>) -> Self {
        Self {
            step,
            errno: error.raw_os_error().unwrap_or(libc::EIO),
            subject: subject.into(),
        }
    }
}

/// The command that a stage has been waiting for. Standard input, output and error come along,
/// unless it gets a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Launch {
    pub(crate) argv: Vec<Vec<u8>>,
    /// `NAME=value`.
    pub(crate) environment: Vec<Vec<u8>>,
    pub(crate) cwd: RawPath,
    pub(crate) terminal: Option<TerminalSize>,
}

/// How far a run reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fence {
    pub(crate) writable: Vec<RawPath>,
    /// A folder that can be written, and in which nothing is protected. Resolved.
    pub(crate) cache: Option<RawPath>,
    pub(crate) protected: Vec<RawPath>,
    pub(crate) denied: Vec<RawPath>,
    pub(crate) tmp: Tmp,
    pub(crate) sockets: Sockets,
    pub(crate) lookout: Lookout,
    /// Sockets of the machine's that can be connected to. Resolved.
    pub(crate) unix_sockets: Vec<RawPath>,
    /// Those of them in the machine's `/tmp` that are to be seen in the session's.
    pub(crate) sockets_in_tmp: Vec<RawPath>,
    /// Roots in the machine's `/tmp` that are seen in the session's, where they can only be read.
    pub(crate) seen_in_tmp: Vec<RawPath>,
    /// Folders of the session's `/tmp`, right below it, in which there is nothing but the way to roots.
    pub(crate) ways_in_tmp: Vec<RawPath>,
}

/// Which `/tmp` a run sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Tmp {
    /// The session's, writable.
    Session,
    /// The session's, read-only.
    SessionReadOnly,
    /// The machine's.
    Machine,
}

/// Which sockets a run may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Sockets {
    /// Local and internet ones: the network namespace bounds where they lead.
    InNamespace,
    /// Local and internet ones in the machine's own network: abstract names of others must be
    /// kept out of reach.
    InMachineNetwork,
    /// Local ones only: there is no namespace to bound them.
    LocalOnly,
}

/// Resource limits of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunLimits {
    pub(crate) cpu_seconds: Option<u64>,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) process_memory_bytes: Option<u64>,
    pub(crate) processes: Option<u64>,
    pub(crate) file_size_bytes: Option<u64>,
    pub(crate) open_files: Option<u64>,
    pub(crate) disk_bytes: Option<u64>,
    pub(crate) wall_millis: Option<u64>,
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub columns: u16,
}

impl Default for TerminalSize {
    /// What terminals have had since they were made of glass.
    fn default() -> Self {
        Self {
            rows: 24,
            columns: 80,
        }
    }
}

/// What the harness tells a stage after the launch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Send a signal to the command's process group.
    Signal(i32),
    /// Kill everything and end.
    End,
}

/// What a stage tells the harness.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The program has been executed. The terminal's other end comes along, if there is one, and a
    /// pidfd of the run's first process if the one that the warden gave names another.
    Started {
        /// What was covered for it, as it was before the command could do anything.
        covered: Vec<Standing>,
    },
    /// It could not be.
    Failed(Failure),
    /// The command has ended. Others that it started may live on.
    Exited {
        /// The status word of `wait`.
        status: i32,
        cpu_micros: u64,
        max_rss_kib: u64,
        left: Vec<LeftRunning>,
        /// The limits that it hit, as far as they are known for certain.
        hit: Vec<Limit>,
        /// What the fence was seen to refuse it.
        denied: Vec<DeniedAccess>,
        /// Protected paths that lay open for a moment, because somebody outside replaced them, and
        /// that the run may have used: it was ended for that.
        exposed: Vec<RawPath>,
    },
    /// What the command left running has ended, or was ended for what lay open, as above.
    Over { exposed: Vec<RawPath> },
}

/// Something that the fence denied, and was seen to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeniedAccess {
    /// A connection to an address that cannot be reached.
    Connect {
        /// The address and the port.
        address: String,
    },
    /// A socket for the internet, where there is none.
    Socket,
    /// A connection to a unix socket that this session has not made.
    UnixSocket {
        /// Its path, with every link in it followed.
        path: String,
    },
    /// A change of a file or folder.
    Write {
        /// Its path, with every link in it followed.
        path: String,
    },
}

/// A process that a command left running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftRunning {
    /// Its process id, as the command saw it.
    pub pid: i32,
    /// Its command line.
    pub command: String,
}

/// Messages above this travel in a sealed memory file instead of the socket.
const INLINE: usize = 32 * 1024;
/// No message is larger than this: it is what the kernel takes for arguments, and then some.
const LARGEST: usize = 16 << 20;

const TAG_INLINE: u8 = 0;
const TAG_FILE: u8 = 1;

/// Sends a message.
pub(crate) fn send<T: Serialize>(
    socket: impl AsFd,
    message: &T,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut bytes = postcard::to_extend(message, vec![TAG_INLINE]).map_err(io::Error::other)?;
    if bytes.len() <= INLINE {
        return descriptor::send(socket, &bytes, descriptors);
    }
    bytes[0] = TAG_FILE;
    let file = file_of(&bytes[1..])?;
    let all: Vec<BorrowedFd<'_>> = std::iter::once(file.as_fd())
        .chain(descriptors.iter().copied())
        .collect();
    descriptor::send(socket, &bytes[..1], &all)
}

/// A memory file that holds these bytes.
pub(crate) fn file_of(bytes: &[u8]) -> io::Result<OwnedFd> {
    let file = rustix::fs::memfd_create("launch", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut written = 0;
    while written < bytes.len() {
        written += rustix::io::pwrite(&file, &bytes[written..], written as u64)?;
    }
    Ok(file)
}

/// A message that was received; `None` when the other end is gone.
pub(crate) type Received<T> = Option<(T, Vec<OwnedFd>)>;

/// Receives a message.
pub(crate) fn receive<T: DeserializeOwned>(socket: impl AsFd) -> io::Result<Received<T>> {
    let mut buffer = vec![0; INLINE + 1];
    let message = descriptor::receive(socket, &mut buffer)?;
    let mut descriptors = message.descriptors;
    let file;
    let body = match buffer[..message.length] {
        [] => return Ok(None),
        [TAG_INLINE, ref body @ ..] => body,
        [TAG_FILE] if !descriptors.is_empty() => {
            file = read_file(&descriptors.remove(0))?;
            &file[..]
        }
        _ => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "an unknown message",
            ));
        }
    };
    let value = postcard::from_bytes(body).map_err(io::Error::other)?;
    Ok(Some((value, descriptors)))
}

/// The bytes of such a file.
pub(crate) fn read_file(file: &OwnedFd) -> io::Result<Vec<u8>> {
    let size = usize::try_from(rustix::fs::fstat(file)?.st_size).unwrap_or(usize::MAX);
    if size > LARGEST {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a message is too large",
        ));
    }
    let mut bytes = vec![0; size];
    let mut read = 0;
    while read < size {
        match rustix::io::pread(file, &mut bytes[read..], read as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => read += count,
        }
    }
    Ok(bytes)
}
