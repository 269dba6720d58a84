//! A socket in the machine's `/tmp`, where commands have that.

use super::{Attempt, Deed};
use crate::daemon;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "socket_in_the_machine_tmp",
    below: "/var/tmp",
    prepare: |fence| {
        fence.sandbox.tmp = ringfence_policy::permissions::TmpPolicy::Host;
        let path = format!("/tmp/ringfence-escape-{}.sock", std::process::id());
        daemon::listen(&path);
        // SAFETY: this process has a single thread.
        unsafe { std::env::set_var("TEST_SOCKET", path) };
    },
    attack: Deed::Probe("connect_in_tmp"),
    escaped: |_, done| {
        let _ = std::fs::remove_file(std::env::var("TEST_SOCKET").unwrap());
        done.code == 0 || daemon::was_reached()
    },
    twin: Deed::Probe("listen_in_tmp"),
    worked: |_, done| done.code == 0,
};
