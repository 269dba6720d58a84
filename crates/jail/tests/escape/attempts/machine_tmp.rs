//! Files in the machine's own `/tmp`.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "machine_tmp",
    below: "/var/tmp",
    prepare: |_| {
        let mark = format!("ringfence-{}", std::process::id());
        fs::write(std::path::Path::new("/tmp").join(&mark), "SECRET").unwrap();
        // SAFETY: this process has a single thread.
        unsafe { std::env::set_var("TEST_MARK", mark) };
    },
    attack: Deed::Shell(r#"cat "/tmp/$TEST_MARK"; printf x > "/tmp/$TEST_MARK-planted""#),
    escaped: |_, done| {
        let mark = std::env::var("TEST_MARK").unwrap();
        let planted = std::path::Path::new("/tmp")
            .join(format!("{mark}-planted"))
            .exists();
        fs::remove_file(std::path::Path::new("/tmp").join(mark)).unwrap();
        planted || done.text.contains("SECRET")
    },
    twin: Deed::Shell(r#"printf x > /tmp/mine && cat /tmp/mine && test -d $TMPDIR/."#),
    worked: |_, done| done.code == 0 && done.text.starts_with('x'),
};
