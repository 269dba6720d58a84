//! `[audit]`: the audit log.

use std::path::PathBuf;

use crate::config::declare::settings;

settings! {
    /// The audit log.
    pub struct AuditConfig in "audit" {
        /// Whether an audit log is kept.
        enabled: bool = switch(true), When(false);
        /// Where it is kept; below the user's state folder when absent.
        dir: Option<PathBuf> = path(), Always;
    }
}
