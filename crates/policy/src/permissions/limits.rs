//! How much a command may use. A limit that is absent is not enforced.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Resource bounds of one run. Time-outs belong to the call, not to this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// CPU time of any one process.
    pub cpu_time: Option<Duration>,
    /// Memory of any one process (address space), in bytes.
    pub memory_bytes: Option<u64>,
    /// Processes and threads alive at once in the run.
    pub processes: Option<u64>,
    /// Size of any file written, in bytes.
    pub file_size_bytes: Option<u64>,
    /// Open descriptors of any one process.
    pub open_files: Option<u64>,
    /// Size of the session's private `/tmp`, in bytes.
    pub tmp_bytes: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cpu_time: None,
            memory_bytes: None,
            processes: Some(2048),
            file_size_bytes: None,
            open_files: None,
            tmp_bytes: Some(4 << 30),
        }
    }
}
