//! How much a run may use. A limit that is absent is not enforced.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Resource bounds of one run: a command and everything it starts. The time-out of a call is not
/// among them; it belongs to the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// CPU time of the run.
    pub cpu_time: Option<Duration>,
    /// Memory of the run, in bytes: by a control group where one can be had, by the address space
    /// of each process otherwise.
    pub memory_bytes: Option<u64>,
    /// Address space of any one process, in bytes.
    pub process_memory_bytes: Option<u64>,
    /// Processes and threads alive at once in the run.
    pub processes: Option<u64>,
    /// Size of any file written, in bytes.
    pub file_size_bytes: Option<u64>,
    /// Open descriptors of any one process.
    pub open_files: Option<u64>,
    /// What the run may write to disks, in bytes.
    pub disk_bytes: Option<u64>,
    /// Size of the session's private `/tmp`, in bytes.
    pub tmp_bytes: Option<u64>,
    /// How long the run may last, with what it left running in the background.
    pub wall_time: Option<Duration>,
    /// Whether control groups are used.
    pub control_groups: ControlGroups,
}

/// Whether control groups hold the limits that they can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ControlGroups {
    /// Where some can be made.
    Auto,
    /// Nowhere.
    Off,
}

/// One kind of limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// [`Limits::cpu_time`]
    CpuTime,
    /// [`Limits::memory_bytes`]
    Memory,
    /// [`Limits::process_memory_bytes`]
    ProcessMemory,
    /// [`Limits::processes`]
    Processes,
    /// [`Limits::file_size_bytes`]
    FileSize,
    /// [`Limits::open_files`]
    OpenFiles,
    /// [`Limits::disk_bytes`]
    Disk,
    /// [`Limits::tmp_bytes`]
    Tmp,
    /// [`Limits::wall_time`], or the time-out of the call.
    WallClock,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cpu_time: None,
            memory_bytes: None,
            process_memory_bytes: None,
            processes: Some(2048),
            file_size_bytes: None,
            open_files: None,
            disk_bytes: None,
            tmp_bytes: Some(4 << 30),
            wall_time: None,
            control_groups: ControlGroups::Auto,
        }
    }
}
