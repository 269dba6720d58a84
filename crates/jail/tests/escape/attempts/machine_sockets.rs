//! Unix sockets of the machine: docker.sock, the session bus. Those of the workspace and of `/tmp` work.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "machine_sockets",
    below: "/var/tmp",
    prepare: |fence| {
        // A daemon of the user's in an ordinary folder.
        let path = fence.outside().join("daemon.sock");
        std::mem::forget(std::os::unix::net::UnixListener::bind(path).unwrap());
        // A listener where docker keeps its own; an ordinary user cannot make one there.
        let path = format!("/run/ringfence-{}.sock", std::process::id());
        if let Ok(listener) = std::os::unix::net::UnixListener::bind(&path) {
            std::mem::forget(listener);
        }
    },
    attack: Deed::Probe("connect_machine_sockets"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("sockets_of_ones_own"),
    worked: |_, done| done.code == 0,
};
