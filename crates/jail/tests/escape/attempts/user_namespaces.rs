//! User namespaces made inside the sandbox, and with them every capability.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "user_namespaces",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Shell(
        r#"unshare -U true || unshare -Ur true || unshare -m true || unshare -n true || nsenter -t 1 -m true"#,
    ),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("threads_and_forks"),
    worked: |_, done| done.code == 0,
};
