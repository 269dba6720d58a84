//! A symlink made inside the writable root that points out of it.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "symlink_out",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Shell(
        r#"ln -s "$OUTSIDE" link && printf x > link/planted; ln -s "$OUTSIDE/planted" direct && printf x > direct"#,
    ),
    escaped: |fence, _| fence.outside().join("planted").exists(),
    twin: Deed::Shell(
        r#"mkdir inner && ln -s inner good && printf x > good/file && test -f inner/file"#,
    ),
    worked: |_, done| done.code == 0,
};
