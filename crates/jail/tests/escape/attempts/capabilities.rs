//! A capability retained inside, or privileges that can be gained.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "capabilities",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Shell(
        r#"grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb):" /proc/self/status | grep -vE "0000000000000000$"; grep -E "^NoNewPrivs:" /proc/self/status | grep -v 1; grep -E "^Seccomp:" /proc/self/status | grep -v 2; chown 12345 f; chroot / true && echo GAINED; true"#,
    ),
    escaped: |_, done| {
        done.text.contains("Cap")
            || done.text.contains("NoNewPrivs")
            || done.text.contains("Seccomp:")
            || done.text.contains("GAINED")
    },
    twin: Deed::Shell(r#"printf x > f && chmod 600 f && test -O f"#),
    worked: |_, done| done.code == 0,
};
