//! `[audit]`: the audit log.

use std::path::PathBuf;

use crate::audit::Durability;
use crate::config::declare::{settings, words};

settings! {
    /// The audit log.
    pub struct AuditConfig in "audit" {
        /// Whether an audit log is kept.
        enabled: bool = switch(true), When(false);
        /// Where it is kept; below the user's state folder when absent.
        dir: Option<PathBuf> = path(), Always;
        /// A log goes on in another file when one is this long.
        part_bytes: u64 = number(1024, 64 << 20), Never;
        /// The same when one is so many days old.
        part_days: u64 = number(1, 7), Never;
        /// Days after which files are removed that nobody has written to since; 0 keeps them for ever.
        keep_days: u64 = number(0, 0), Always;
        /// The oldest files are removed when all together are larger; 0 sets no bound.
        keep_bytes: u64 = number(0, 0), Always;
        /// Whether the end of a call waits until its records are on the disk (`outcome`), so that they outlive a power cut.
        sync: Durability = word("never"), Always;
    }
}

words! { Durability { Never = "never", Outcome = "outcome", } }
