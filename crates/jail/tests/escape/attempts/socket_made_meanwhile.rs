//! A socket of the machine's that comes into being while the command runs.

use super::{Attempt, Deed};
use crate::daemon;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "socket_made_meanwhile",
    below: "/var/tmp",
    prepare: |fence| {
        for name in ["go", "made"] {
            rustix::fs::mknodat(
                rustix::fs::CWD,
                fence.workspace().join(name),
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::from_raw_mode(0o600),
                0,
            )
            .unwrap();
        }
        let (workspace, outside) = (fence.workspace(), fence.outside());
        std::thread::spawn(move || {
            std::fs::read(workspace.join("go")).unwrap();
            daemon::listen(outside.join("late.sock"));
            std::fs::write(workspace.join("made"), "x").unwrap();
        });
    },
    attack: Deed::Probe("connect_when_it_is_there"),
    escaped: |_, done| done.code == 0 || daemon::was_reached(),
    twin: Deed::Probe("sockets_of_ones_own"),
    worked: |_, done| done.code == 0,
};
