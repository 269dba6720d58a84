//! A terminal's other end that leaks: to the command, or in the harness after the run.

use std::fs;

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "terminal_descriptors",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::ProbeOnTerminal("other_descriptors"),
    escaped: |_, done| {
        let left = fs::read_dir("/proc/self/fd")
            .unwrap()
            .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok())
            .any(|target| target.to_string_lossy().contains("ptmx"));
        done.code == 0 || left
    },
    twin: Deed::ProbeOnTerminal("terminal_works"),
    worked: |_, done| done.text.contains("TERMINAL"),
};
