//! Descriptors that the harness holds open, without close-on-exec, to files that are denied.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "inherited_descriptors",
    below: "/var/tmp",
    prepare: |fence| {
        use std::os::fd::IntoRawFd;
        fs::write(fence.home().join(".netrc"), "SECRET").unwrap();
        let file = fs::File::open(fence.home().join(".netrc"))
            .unwrap()
            .into_raw_fd();
        for number in [3, 10, 77] {
            // SAFETY: plain numbers; nothing in this test owns these descriptors.
            unsafe { libc::dup2(file, number + 200) };
        }
    },
    attack: Deed::Probe("read_high_descriptors"),
    escaped: |_, done| done.text.contains("SECRET"),
    twin: Deed::Shell(r#"printf out && printf err >&2"#),
    worked: |_, done| done.text == "outerr",
};
