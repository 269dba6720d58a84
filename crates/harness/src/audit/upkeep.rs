//! How an audit log is looked after over the years: when another file is begun, how long files are
//! kept, and what a record waits for.

use std::time::Duration;

use super::clock::Timestamp;
use super::part::Part;
use crate::config::AuditConfig;

/// How a log is looked after. Nothing of it by default: one file, kept for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Upkeep {
    /// Another file is begun when one is this long.
    pub part_bytes: Option<u64>,
    /// Another file is begun when one is this old.
    pub part_age: Option<Duration>,
    /// Files are removed when nobody has written to them for this long.
    pub keep_for: Option<Duration>,
    /// The oldest files are removed when all together are larger.
    pub keep_bytes: Option<u64>,
    /// What a record waits for.
    pub sync: Durability,
}

/// What a record waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The kernel has it: it outlives this process, but not a power cut.
    #[default]
    Never,
    /// The same, and with the outcome of a call all that was recorded is on the disk.
    Outcome,
}

impl From<&AuditConfig> for Upkeep {
    fn from(config: &AuditConfig) -> Self {
        let days = |days: u64| Duration::from_secs(days.saturating_mul(24 * 60 * 60));
        Self {
            part_bytes: Some(config.part_bytes),
            part_age: Some(days(config.part_days)),
            keep_for: (config.keep_days > 0).then(|| days(config.keep_days)),
            keep_bytes: (config.keep_bytes > 0).then_some(config.keep_bytes),
            sync: config.sync,
        }
    }
}

impl Upkeep {
    /// Whether the next record belongs into another file. One without a record is never left.
    pub(super) fn wants_another_part(&self, part: &Part, now: Timestamp) -> bool {
        let age = now.since(part.began());
        let is_full = self.part_bytes.is_some_and(|most| part.bytes() >= most);
        let is_old = self.part_age.is_some_and(|most| age >= most);
        part.bytes() > 0 && (is_full || is_old)
    }

    /// Whether anything is ever removed.
    pub(super) fn removes(&self) -> bool {
        self.keep_for.is_some() || self.keep_bytes.is_some()
    }
}
