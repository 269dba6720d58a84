//! Programs with the set-user-id bit.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "set_user_id",
    below: "/var/tmp",
    prepare: |fence| {
        use std::os::unix::fs::PermissionsExt;
        let path = fence.outside().join("id");
        fs::copy("/usr/bin/id", &path).unwrap();
        // As root this one belongs to somebody else, who would be gained.
        let _ = std::os::unix::fs::chown(&path, Some(65534), None);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
    },
    attack: Deed::Shell(
        r#"for p in "$OUTSIDE/id" /usr/bin/su /usr/bin/passwd; do test -u $p && "$OUTSIDE/id" -u; done; "$OUTSIDE/id" -u"#,
    ),
    escaped: |fence, done| {
        let _ = fs::remove_file(fence.outside().join("id"));
        let own = fence.jail.uid();
        done.text
            .lines()
            .any(|line| line.trim().parse().is_ok_and(|uid: u32| uid != own))
    },
    twin: Deed::Shell(r#"id -u"#),
    worked: |fence, done| done.text.trim() == fence.jail.uid().to_string(),
};
