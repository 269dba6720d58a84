//! `nohup` (which is to ignore a signal), `setsid` and double forks that survive the end of the run.

use std::fs;

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "daemons",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Shell(
        r#"exec > /dev/null 2>&1
        for n in 1 2 3; do mkfifo ready$n; done
        sh -c 'trap "" HUP; echo > ready1; exec sleep '$HARNESS_PID'1001' &
        setsid sh -c 'echo > ready2; exec sleep '$HARNESS_PID'1002' &
        (setsid sh -c '(setsid sh -c "trap : HUP TERM INT; echo > ready3; exec sleep '$HARNESS_PID'1003" &) &' &)
        for n in 1 2 3; do read line < ready$n; done"#,
    ),
    escaped: |_, _| {
        let mark = format!("{}100", std::process::id());
        fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            fs::read(entry.path().join("cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&mark))
        })
    },
    twin: Deed::Shell(
        r#"mkfifo fifo; (setsid sh -c 'echo alive > fifo' &); read line < fifo; test $line = alive"#,
    ),
    worked: |_, done| done.code == 0,
};
