//! A descriptor opened with `O_PATH` is opened again for writing through `/proc/self/fd`.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "o_path",
    below: "/var/tmp",
    prepare: |fence| fs::write(fence.outside().join("file"), "kept").unwrap(),
    attack: Deed::Probe("o_path_outside"),
    escaped: |fence, done| {
        done.code == 0 || fs::read_to_string(fence.outside().join("file")).unwrap() != "kept"
    },
    twin: Deed::Probe("o_path_inside"),
    worked: |_, done| done.code == 0,
};
