//! Truncating a read-only file, or changing it by any call that is not a write.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "truncate_read_only",
    below: "/var/tmp",
    prepare: |fence| {
        use std::os::unix::fs::PermissionsExt;
        let path = fence.outside().join("file");
        fs::write(&path, "kept").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    },
    attack: Deed::Shell(
        r#": > "$OUTSIDE/file"; truncate -s 0 "$OUTSIDE/file"; cp /dev/null "$OUTSIDE/file"; rm -f "$OUTSIDE/file"; mv "$OUTSIDE/file" "$OUTSIDE/g"; chmod 777 "$OUTSIDE/file"; touch -d 2001-01-01 "$OUTSIDE/file"; dd if=/dev/zero of="$OUTSIDE/file" bs=1 count=1"#,
    ),
    escaped: |fence, _| {
        use std::os::unix::fs::PermissionsExt;
        let path = fence.outside().join("file");
        fs::read_to_string(&path).unwrap() != "kept"
            || path.metadata().unwrap().permissions().mode() & 0o777 != 0o644
    },
    twin: Deed::Shell(r#"printf long > f && truncate -s 0 f && test ! -s f && rm f"#),
    worked: |_, done| done.code == 0,
};
