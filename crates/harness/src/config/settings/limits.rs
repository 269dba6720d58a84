//! `[limits]`: how much a run may use.

use std::time::Duration;

use ringfence_policy::permissions::{ControlGroups, Limits};

use crate::config::declare::{settings, words};

settings! {
    impl Limits in "limits" {
        /// CPU time of a run, all its processes together.
        cpu_time["cpu_seconds"]: Option<Duration> = limit_seconds(1, None), Higher;
        /// Memory of a run; where no control group can be had, the address space of each process.
        memory_bytes: Option<u64> = limit(1 << 20, None), Higher;
        /// Address space of any one process.
        process_memory_bytes: Option<u64> = limit(1 << 20, None), Higher;
        /// Processes and threads alive at once in a run.
        processes: Option<u64> = limit(1, Some(2048)), Higher;
        /// Size of any file that is written.
        file_size_bytes: Option<u64> = limit(0, None), Higher;
        /// Open descriptors of any one process.
        open_files: Option<u64> = limit(16, None), Higher;
        /// What a run may write to disks, all its processes together.
        disk_bytes: Option<u64> = limit(0, None), Higher;
        /// Size of the session's own `/tmp`.
        tmp_bytes: Option<u64> = limit(1 << 20, Some(4 << 30)), Higher;
        /// How long a run may last, with what it left running; a call's time-out holds besides.
        wall_time["wall_seconds"]: Option<Duration> = limit_seconds(1, None), Higher;
        /// Whether control groups hold limits, where some can be made.
        control_groups: ControlGroups = word("auto"), Later;
    }
}

words! { ControlGroups { Auto = "auto", Off = "off", } }
