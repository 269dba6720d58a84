//! Shared memory of the machine.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "dev_shm",
    below: "/var/tmp",
    prepare: |_| {
        let _ = fs::write(
            format!("/dev/shm/ringfence-escape-{}", std::process::id()),
            "SECRET",
        );
    },
    attack: Deed::Shell(
        r#"ls /dev/shm; cat /dev/shm/ringfence-escape-*; printf x > /dev/shm/ringfence-planted"#,
    ),
    escaped: |_, done| {
        let _ = fs::remove_file(format!("/dev/shm/ringfence-escape-{}", std::process::id()));
        done.text.contains("SECRET")
            || done.text.starts_with("ringfence-escape")
            || std::path::Path::new("/dev/shm/ringfence-planted").exists()
    },
    twin: Deed::Shell(r#"printf x > /dev/shm/mine && cat /dev/shm/mine"#),
    worked: |_, done| done.code == 0,
};
