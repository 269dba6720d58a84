//! Settings of the kernel that root may write without any capability.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "proc_sys",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Shell(
        r#"for f in /proc/sys/kernel/core_pattern /proc/sys/vm/drop_caches /proc/sysrq-trigger /proc/sys/kernel/pid_max /sys/kernel/uevent_helper /proc/self/oom_score_adj; do (printf 1 > $f) && echo "WROTE $f"; done; mount -o remount,rw /proc && echo WROTE; true"#,
    ),
    escaped: |_, done| done.text.contains("WROTE"),
    twin: Deed::Shell(r#"cat /proc/sys/kernel/ostype"#),
    worked: |_, done| done.text.contains("Linux"),
};
