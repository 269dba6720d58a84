//! The reach of a run: which unix sockets with a path it can connect to.
//!
//! Those of the session's own file systems, those that the policy names, and those that this
//! session has made. The last is not for paths to tell, which say nothing about who listens: the
//! kernel keeps for every socket which file names it and in which network it was made. A session
//! that shares the machine's network keeps a [`Roll`] of its own sockets instead.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use ringfence_confine::connect;
use ringfence_confine::unix_diag::{self, Listening};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, StatxFlags};

use super::protocol::{Fence, RawPath, Sockets, Tmp, World};

/// The reach of one run.
#[derive(Debug)]
pub(super) struct Reach {
    /// The sockets that the policy names. Held, so that no other can have their numbers.
    named: Vec<OwnedFd>,
    /// The file systems that nobody but the session can make anything in.
    own: Vec<u64>,
    /// The session's roll, where the network does not tell who made a socket.
    roll: Option<Roll>,
    /// When the session began, in seconds.
    began: i64,
}

impl Reach {
    /// Worked out in the run's own view, before its command can change anything in it.
    pub(super) fn of(fence: &Fence, world: &World, roll: &Roll, began: i64) -> io::Result<Self> {
        let mut own = Vec::new();
        if fence.tmp != Tmp::Machine {
            own.extend(own_file_system("/tmp"));
        }
        if !matches!(world, World::Machine { .. }) {
            own.extend(own_file_system("/dev/shm"));
        }
        let named = fence.unix_sockets.iter().map(RawPath::to_path);
        let shares_a_network = fence.sockets != Sockets::InNamespace;
        Ok(Self {
            // One that is gone cannot be connected to either.
            named: named.filter_map(|path| open(&path).ok()).collect(),
            own,
            roll: shares_a_network.then(|| roll.try_clone()).transpose()?,
            began,
        })
    }

    /// Whether the socket that a descriptor is of can be connected to. What is no socket can be
    /// tried: nobody answers there.
    pub(super) fn covers(&self, file: &OwnedFd) -> io::Result<bool> {
        let stat = rustix::fs::fstat(file)?;
        if !FileType::from_raw_mode(stat.st_mode).is_socket() {
            return Ok(true);
        }
        let is_named = self.named.iter().any(|named| is_same(named, &stat));
        if is_named || self.own.contains(&stat.st_dev) {
            return Ok(true);
        }
        // Without the kernel's word nothing is the session's.
        let listening = unix_diag::listening()?;
        let ours = match &self.roll {
            Some(roll) => roll.of_these(listening)?,
            None => listening,
        };
        let is_made_here = self.is_among(&ours, file, &stat)?;
        Ok(is_made_here)
    }

    /// Notes that somebody in the run listens on this socket.
    pub(super) fn note(&self, socket: &OwnedFd) -> io::Result<()> {
        match &self.roll {
            Some(roll) => roll.add(connect::cookie(socket)?),
            None => Ok(()),
        }
    }

    fn is_among(&self, ours: &[Listening], file: &OwnedFd, stat: &Stat) -> io::Result<bool> {
        // The kernel tells 32 bits of the file's number.
        #[allow(clippy::cast_possible_truncation)]
        let inode = stat.st_ino as u32;
        let mut same = ours.iter().filter(|known| known.inode == inode).peekable();
        if same.peek().is_none() {
            return Ok(false);
        }
        let device = (libc::major(stat.st_dev), libc::minor(stat.st_dev));
        if u64::from(inode) == stat.st_ino && same.clone().any(|known| known.device == device) {
            return Ok(true);
        }
        // The number is cut short, or shared by the parts of one file system (subvolumes): it can
        // be had for a socket that is the machine's, if that was made before the session.
        let device = device_of_mount(file)?;
        Ok(same.any(|known| Some(known.device) == device) && self.is_younger(file)?)
    }

    fn is_younger(&self, file: &OwnedFd) -> io::Result<bool> {
        let flags = AtFlags::EMPTY_PATH;
        let found = rustix::fs::statx(file, c"", flags, StatxFlags::BTIME)?;
        let known = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
        Ok(known && found.stx_btime.tv_sec >= self.began)
    }
}

fn open(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn is_same(held: &OwnedFd, stat: &Stat) -> bool {
    rustix::fs::fstat(held)
        .is_ok_and(|held| (held.st_dev, held.st_ino) == (stat.st_dev, stat.st_ino))
}

/// The file system of a folder that has one to itself, in memory.
fn own_file_system(path: &str) -> Option<u64> {
    const TMPFS: i64 = 0x0102_1994;
    let folder = open(Path::new(path)).ok()?;
    #[allow(clippy::unnecessary_cast, reason = "it is narrower elsewhere")]
    let is_tmpfs = rustix::fs::fstatfs(&folder).ok()?.f_type as i64 == TMPFS;
    let (inside, outside) = (
        rustix::fs::fstat(&folder).ok()?,
        rustix::fs::stat("/").ok()?,
    );
    (is_tmpfs && inside.st_dev != outside.st_dev).then_some(inside.st_dev)
}

/// The device of the mount that a file was opened through, as the kernel has it.
fn device_of_mount(file: &OwnedFd) -> io::Result<Option<(u32, u32)>> {
    let flags = AtFlags::EMPTY_PATH;
    let found = rustix::fs::statx(file, c"", flags, StatxFlags::MNT_ID)?;
    let mount = found.stx_mnt_id.to_string();
    // Names in it are bytes.
    let table = fs::read("/proc/self/mountinfo")?;
    Ok(table.split(|byte| *byte == b'\n').find_map(|line| {
        let line = String::from_utf8_lossy(line);
        let mut fields = line.split(' ');
        if fields.next()? != mount {
            return None;
        }
        let (major, minor) = fields.nth(1)?.split_once(':')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    }))
}

/// The sockets that the commands of a session listen on, by their cookies. All its runs have the
/// same one.
#[derive(Debug)]
pub(super) struct Roll(OwnedFd);

impl Roll {
    /// The most sockets that a session is known to listen on.
    const MOST: usize = 8192;

    pub(super) fn new() -> io::Result<Self> {
        let file = rustix::fs::memfd_create("sockets", rustix::fs::MemfdFlags::CLOEXEC)?;
        // Runs add to it without knowing of each other.
        rustix::fs::fcntl_setfl(&file, OFlags::APPEND)?;
        Ok(Self(file))
    }

    fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    fn cookies(&self) -> io::Result<Vec<[u8; 8]>> {
        let mut bytes = vec![0; Self::MOST * 8];
        let length = rustix::io::pread(&self.0, &mut bytes[..], 0)?;
        let (cookies, _) = bytes[..length].as_chunks();
        Ok(cookies.to_vec())
    }

    fn add(&self, cookie: u64) -> io::Result<()> {
        let cookies = self.cookies()?;
        if cookies.contains(&cookie.to_ne_bytes()) {
            return Ok(());
        }
        if cookies.len() >= Self::MOST {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        rustix::io::write(&self.0, &cookie.to_ne_bytes())?;
        Ok(())
    }

    fn of_these(&self, listening: Vec<Listening>) -> io::Result<Vec<Listening>> {
        let cookies = self.cookies()?;
        let known = |socket: &Listening| cookies.contains(&socket.cookie.to_ne_bytes());
        Ok(listening.into_iter().filter(known).collect())
    }
}

impl AsFd for Roll {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Roll {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.0.as_raw_fd()
    }
}

impl From<OwnedFd> for Roll {
    fn from(file: OwnedFd) -> Self {
        Self(file)
    }
}
