//! Signals to processes outside.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "signals_outward",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Shell(r#"kill -9 $HARNESS_PID && echo KILLED; kill -9 -1; true"#),
    escaped: |_, done| done.text.contains("KILLED"),
    twin: Deed::Shell(r#"sleep 30 & kill -9 $! && ! wait $!"#),
    worked: |_, done| done.code == 0,
};
