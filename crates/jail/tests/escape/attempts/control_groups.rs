//! Leaving the control group, or raising its limits.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "control_groups",
    below: "/var/tmp",
    prepare: |fence| {
        fence.limits.memory_bytes = Some(1 << 30);
        fence.limits.processes = Some(100);
    },
    attack: Deed::Shell(
        r#"for f in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs /sys/fs/cgroup/*/tasks; do (echo $$ > $f) && echo "LEFT by $f"; done
        for f in $(find /sys/fs/cgroup -name pids.max -o -name memory.max -o -name memory.limit_in_bytes); do (echo 100000000000 > $f) && echo "LEFT by $f"; done
        for d in /sys/fs/cgroup /sys/fs/cgroup/*; do mkdir $d/own-$$ && echo "LEFT by $d"; done; true"#,
    ),
    escaped: |_, done| done.text.contains("LEFT"),
    twin: Deed::Shell(
        r#"cat /proc/self/cgroup > /dev/null && for i in 1 2 3; do true & done; wait"#,
    ),
    worked: |_, done| done.code == 0,
};
