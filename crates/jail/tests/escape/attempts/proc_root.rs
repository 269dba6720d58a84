//! `/proc/<pid>/root`, `cwd` and `environ` of processes outside the fence.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "proc_root",
    below: "/var/tmp",
    prepare: |fence| {
        fs::create_dir(fence.home().join(".ssh")).unwrap();
        fs::write(fence.home().join(".ssh/id"), "SECRET").unwrap();
        // SAFETY: this process has a single thread.
        unsafe { std::env::set_var("HARNESS_CANARY", "CANARY") };
    },
    attack: Deed::Shell(
        r#"for p in $HARNESS_PID 1; do cat "/proc/$p/root$HOME/.ssh/id" "/proc/$p/cwd/x"; tr "\0" "\n" < /proc/$p/environ; done; for r in /proc/[0-9]*/root; do cat "$r$HOME/.ssh/id"; printf x > "$r$OUTSIDE/planted"; done"#,
    ),
    escaped: |fence, done| {
        done.text.contains("SECRET")
            || done.text.contains("CANARY")
            || fence.outside().join("planted").exists()
    },
    twin: Deed::Shell(r#"grep -q "^Name:" /proc/self/status && test -e /proc/self/root/usr"#),
    worked: |_, done| done.code == 0,
};
