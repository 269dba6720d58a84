//! Landlock: which files the calling thread may touch, whatever the mounts say.
//!
//! It is the second lock on the same door: where mounts already refuse, this refuses again, and
//! where namespaces are not to be had it stands alone.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::fs::{Mode, OFlags};
use thiserror::Error;

/// What a rule lets happen at and below a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// Read, list and execute.
    Read,
    /// Everything.
    Write,
    /// Read and write what is there, and control devices; make and remove nothing.
    UseDevices,
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

/// Restricts the calling thread, for good, to what is granted. The thread must have
/// no-new-privileges.
pub fn restrict(
    grants: &[(BorrowedFd<'_>, Grant)],
    sockets: AbstractSockets,
    signals: Signals,
) -> Result<(), LandlockError> {
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
    let mut ruleset = ruleset.create()?.no_new_privs(false);
    for (place, grant) in grants {
        ruleset = ruleset.add_rule(landlock::PathBeneath::new(place, grant.access(*place)))?;
    }
    match ruleset.restrict_self()?.ruleset {
        RulesetStatus::NotEnforced => Err(LandlockError::Unavailable),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

/// Keeps the calling thread, and whatever it starts, from unix sockets with abstract names that are
/// made outside of what it starts. Nothing else changes. The thread must have no-new-privileges.
pub fn scope_abstract_sockets() -> Result<(), LandlockError> {
    let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    // Every layer refuses to move files between folders unless it is told not to.
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::Refer)?
        .scope(Scope::AbstractUnixSocket)?
        .create()?
        .no_new_privs(false);
    if let Ok(root) = root {
        ruleset = ruleset.add_rule(landlock::PathBeneath::new(root, AccessFs::Refer))?;
    }
    match ruleset.restrict_self()?.ruleset {
        RulesetStatus::NotEnforced => Err(LandlockError::Unavailable),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

/// The version of Landlock that has a right to connect to unix sockets by their paths.
const UNIX_SOCKETS_SINCE: i32 = 9;

/// Keeps the calling thread, for good, from unix sockets with a path, but for those at and below
/// these places and those that it makes itself or what it starts does. Says whether the kernel can
/// do that. The thread must have no-new-privileges.
pub fn restrict_unix_sockets(places: &[BorrowedFd<'_>]) -> io::Result<bool> {
    /// `LANDLOCK_ACCESS_FS_REFER` and `LANDLOCK_ACCESS_FS_RESOLVE_UNIX`, which `landlock` does not
    /// know yet.
    const REFER: u64 = 1 << 13;
    const RESOLVE_UNIX: u64 = 1 << 16;
    const PATH_BENEATH: i32 = 1;
    #[repr(C, packed)]
    struct PathBeneath(u64, i32);
    if version() < UNIX_SOCKETS_SINCE {
        return Ok(false);
    }
    let done = |result: i64| match i32::try_from(result) {
        Ok(result) if result >= 0 => Ok(result),
        _ => Err(io::Error::last_os_error()),
    };
    let handled = REFER | RESOLVE_UNIX;
    // SAFETY: the kernel reads the eight bytes of `handled`, and returns a new descriptor.
    let ruleset = unsafe {
        let made = libc::syscall(libc::SYS_landlock_create_ruleset, &raw const handled, 8, 0);
        OwnedFd::from_raw_fd(done(made)?)
    };
    let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    // Every layer refuses to move files between folders unless it is told not to.
    let rules = places.iter().map(|place| (*place, RESOLVE_UNIX));
    for (place, access) in rules.chain([(root.as_fd(), REFER)]) {
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
        })?;
    }
    // SAFETY: the call takes numbers.
    done(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) })?;
    Ok(true)
}

/// Restricts the calling thread to no file at all.
pub fn deny_everything() -> Result<(), LandlockError> {
    restrict(&[], AbstractSockets::Scoped, Signals::Scoped)
}

impl Grant {
    fn access(self, place: BorrowedFd<'_>) -> BitFlags<AccessFs> {
        let access = match self {
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
        // A rule on a file may only name what one does to files.
        let is_file = rustix::fs::fstat(place)
            .is_ok_and(|stat| !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir());
        if is_file {
            access & AccessFs::from_file(NEWEST)
        } else {
            access
        }
    }
}
