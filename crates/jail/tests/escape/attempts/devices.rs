//! Disks and other devices of the machine.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "devices",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Shell(
        r#"for d in vda sda nvme0n1 mem kmsg port kvm fuse net/tun vsock loop0; do test -e /dev/$d && echo SAW $d; done; mknod d b 254 0 && echo SAW; head -c 1 d && echo SAW; true"#,
    ),
    escaped: |_, done| done.text.contains("SAW"),
    twin: Deed::Shell(
        r#"head -c 4 /dev/urandom > /dev/null && : > /dev/null && test -c /dev/zero -a -c /dev/tty"#,
    ),
    worked: |_, done| done.code == 0,
};
