//! Landlock: which files the calling thread may touch, whatever the mounts say.
//!
//! It is the second lock on the same door: where mounts already refuse, this refuses again, and
//! where namespaces are not to be had it stands alone.

use std::os::fd::BorrowedFd;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
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

    /// Grants something at and below a place.
    pub fn grant(&mut self, place: BorrowedFd<'_>, grant: Grant) -> Result<(), LandlockError> {
        let rule = landlock::PathBeneath::new(place, grant.access(place));
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

/// Restricts the calling thread to no file at all.
pub fn deny_everything() -> Result<(), LandlockError> {
    Rules::new(AbstractSockets::Scoped, Signals::Scoped)?.enforce()
}

impl Grant {
    fn access(self, place: BorrowedFd<'_>) -> BitFlags<AccessFs> {
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
