//! Landlock: which files the calling thread may touch, whatever the mounts say.
//!
//! It is the second lock on the same door: where mounts already refuse, this refuses again, and
//! where namespaces are not to be had it stands alone.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::fs::{Mode, OFlags};
use thiserror::Error;

/// What a rule lets happen at and below a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// List the names in folders.
    List,
    /// Read, list and execute.
    Read,
    /// Everything.
    Write,
    /// Read and write what is there, and control devices; make and remove nothing.
    UseDevices,
}

/// What a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// A folder.
    Folder,
    /// Anything else.
    File,
}

/// Whether unix sockets with abstract names outside the domain can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbstractSockets {
    /// As the network namespace has them.
    Shared,
    /// Only those of this domain.
    Scoped,
}

/// Whether processes outside the domain can be signalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signals {
    /// As the PID namespace has them.
    Shared,
    /// Only those of this domain, where the kernel can tell (Linux 6.12).
    Scoped,
}

/// Why the calling thread could not be restricted.
#[derive(Debug, Error)]
pub enum LandlockError {
    /// The kernel has no Landlock, or it is not switched on.
    #[error(
        "the kernel does not enforce Landlock (it needs Linux 5.13 or later, with `landlock` in its list of security modules)"
    )]
    Unavailable,
    /// The kernel refused a rule.
    #[error("the kernel refused a Landlock rule: {0}")]
    Refused(#[from] RulesetError),
}

/// The newest interface that this code knows how to use fully.
const NEWEST: ABI = ABI::V6;

/// The version of Landlock that the kernel offers; 0 is none.
pub fn version() -> i32 {
    const CREATE_RULESET_VERSION: u32 = 1;
    // SAFETY: with this flag the call takes no memory and returns a number.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<u8>(),
            0,
            CREATE_RULESET_VERSION,
        )
    };
    i32::try_from(version).unwrap_or(0).max(0)
}

/// What is granted, as it is put together. A grant costs no descriptor that stays open.
pub struct Rules(RulesetCreated);

impl Rules {
    /// Rules that grant nothing yet.
    pub fn new(sockets: AbstractSockets, signals: Signals) -> Result<Self, LandlockError> {
        let every = AccessFs::from_all(NEWEST);
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(every)?;
        if sockets == AbstractSockets::Scoped {
            ruleset = ruleset.scope(Scope::AbstractUnixSocket)?;
        }
        if signals == Signals::Scoped {
            ruleset = ruleset.scope(Scope::Signal)?;
        }
        Ok(Self(ruleset.create()?.no_new_privs(false)))
    }

    /// The same rules once more: what is granted to the one is granted to the other.
    pub fn share(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// Grants something at and below a place.
    pub fn grant(&mut self, place: BorrowedFd<'_>, grant: Grant) -> Result<(), LandlockError> {
        let is_folder = rustix::fs::fstat(place)
            .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir());
        let node = if is_folder { Node::Folder } else { Node::File };
        self.grant_to(place, node, grant)
    }

    /// The same where it is known what is there.
    pub fn grant_to(
        &mut self,
        place: BorrowedFd<'_>,
        node: Node,
        grant: Grant,
    ) -> Result<(), LandlockError> {
        let rule = landlock::PathBeneath::new(place, grant.access(node));
        (&mut self.0).add_rule(rule)?;
        Ok(())
    }

    /// Restricts the calling thread, for good, to what is granted. The thread must have
    /// no-new-privileges.
    pub fn enforce(self) -> Result<(), LandlockError> {
        match self.0.restrict_self()?.ruleset {
            RulesetStatus::NotEnforced => Err(LandlockError::Unavailable),
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        }
    }
}

/// Rights that the kernel has by numbers: `landlock` does not know the one, and does not let the
/// other be granted where it is not asked for.
const REFER: u64 = 1 << 13;
const RESOLVE_UNIX: u64 = 1 << 16;
const SCOPE_ABSTRACT_UNIX_SOCKET: u64 = 1;

/// Keeps the calling thread, and whatever it starts, from unix sockets with abstract names that are
/// made outside of what it starts. Nothing else changes: it may still mount. The thread must have
/// no-new-privileges, and the kernel the sixth version.
pub fn scope_abstract_sockets() -> io::Result<()> {
    add_layer([0, 0, SCOPE_ABSTRACT_UNIX_SOCKET], &[])
}

/// The version of Landlock that has a right to connect to unix sockets by their paths.
const UNIX_SOCKETS_SINCE: i32 = 9;

/// Keeps the calling thread, for good, from unix sockets with a path, but for those at and below
/// these places and those that it makes itself or what it starts does. Says whether the kernel can
/// do that. The thread must have no-new-privileges.
pub fn restrict_unix_sockets(places: &[BorrowedFd<'_>]) -> io::Result<bool> {
    if version() < UNIX_SOCKETS_SINCE {
        return Ok(false);
    }
    let rules: Vec<_> = places.iter().map(|place| (*place, RESOLVE_UNIX)).collect();
    add_layer([RESOLVE_UNIX, 0, 0], &rules).map(|()| true)
}

/// Restricts the calling thread by the rights and scopes in these masks, but for what is granted at
/// places.
fn add_layer(handled: [u64; 3], rules: &[(BorrowedFd<'_>, u64)]) -> io::Result<()> {
    const PATH_BENEATH: i32 = 1;
    #[repr(C, packed)]
    struct PathBeneath(u64, i32);
    let done = |result: i64| match i32::try_from(result) {
        Ok(result) if result >= 0 => Ok(result),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: the kernel reads the bytes of `handled`, and returns a new descriptor.
    let ruleset = unsafe {
        let made = libc::syscall(
            libc::SYS_landlock_create_ruleset,
            handled.as_ptr(),
            size_of_val(&handled),
            0,
        );
        OwnedFd::from_raw_fd(done(made)?)
    };
    let grant = |place: BorrowedFd<'_>, access| {
        let rule = PathBeneath(access, place.as_raw_fd());
        // SAFETY: the rule has the kernel's layout and outlives the call.
        done(unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                ruleset.as_raw_fd(),
                PATH_BENEATH,
                &raw const rule,
                0,
            )
        })
    };
    for (place, access) in rules {
        grant(*place, *access)?;
    }
    // A layer refuses to move files between folders unless it is told not to. Newer kernels say so
    // only of layers that refuse something else about files, and do not know what is asked here
    // for others.
    let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    match grant(root.as_fd(), REFER) {
        Err(error) if handled[0] == 0 && error.raw_os_error() == Some(libc::EINVAL) => {}
        other => other.map(|_| ())?,
    }
    // SAFETY: the call takes numbers.
    done(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) })?;
    Ok(())
}

/// Restricts the calling thread to no file at all.
pub fn deny_everything() -> Result<(), LandlockError> {
    Rules::new(AbstractSockets::Scoped, Signals::Scoped)?.enforce()
}

impl Grant {
    fn access(self, node: Node) -> BitFlags<AccessFs> {
        let access = match self {
            Self::List => AccessFs::ReadDir.into(),
            Self::Read => AccessFs::from_read(NEWEST),
            Self::Write => AccessFs::from_all(NEWEST),
            Self::UseDevices => {
                AccessFs::ReadFile
                    | AccessFs::ReadDir
                    | AccessFs::WriteFile
                    | AccessFs::Truncate
                    | AccessFs::IoctlDev
            }
        };
        match node {
            // A rule on a file may only name what one does to files.
            Node::File => access & AccessFs::from_file(NEWEST),
            Node::Folder => access,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

    use super::*;
    use crate::{privilege, process};

    #[test]
    fn a_scope_keeps_from_the_names_of_others_and_from_nothing_else() {
        if version() < 6 {
            return;
        }
        let name = |whose: &str| {
            let name = format!("landlock-{}-{whose}", std::process::id());
            SocketAddr::from_abstract_name(name).unwrap()
        };
        let (others, own) = (name("others"), name("own"));
        let _listener = UnixListener::bind_addr(&others).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for part in ["one", "two"] {
            std::fs::create_dir(folder.path().join(part)).unwrap();
        }
        std::fs::write(folder.path().join("one/file"), "").unwrap();
        let body = || -> io::Result<(bool, bool, bool)> {
            privilege::no_new_privs()?;
            scope_abstract_sockets()?;
            let _own = UnixListener::bind_addr(&own)?;
            let moved = std::fs::rename(
                folder.path().join("one/file"),
                folder.path().join("two/file"),
            );
            Ok((
                UnixStream::connect_addr(&others).is_ok(),
                UnixStream::connect_addr(&own).is_ok(),
                moved.is_ok(),
            ))
        };
        // SAFETY: the child makes system calls and exits.
        let code = match unsafe { process::fork() }.unwrap() {
            process::Fork::Child => process::exit_now(match body() {
                Ok((false, true, true)) => 0,
                Ok(_) => 1,
                Err(_) => 2,
            }),
            process::Fork::Parent(child) => process::wait(&child).unwrap().code(),
        };
        assert_eq!(code, Some(0));
    }
}
