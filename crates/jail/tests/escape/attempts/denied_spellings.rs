//! A deny entry with a trailing slash, and every other spelling of the path; a neighbour of a similar name stays readable.

use super::{Attempt, Deed};
use std::fs;

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "denied_spellings",
    below: "/var/tmp",
    prepare: |fence| {
        for (folder, text) in [(".ssh", "SECRET"), (".sshfoo", "PUBLIC")] {
            fs::create_dir(fence.home().join(folder)).unwrap();
            fs::write(fence.home().join(folder).join("id"), text).unwrap();
        }
        fs::write(fence.home().join(".netrc"), "SECRET").unwrap();
    },
    attack: Deed::Shell(
        r#"cd "$HOME"; cat .ssh/id .ssh//id ./.ssh/../.ssh/id .sshfoo/../.ssh/id .netrc ./.netrc; cd .ssh && cat id; cat < "$HOME/.ssh/id"; cp -r "$HOME/.ssh" "$WORKSPACE/copy"; tar cf - "$HOME/.ssh"; find "$HOME" -name id -exec cat {} +"#,
    ),
    escaped: |_, done| done.text.contains("SECRET"),
    twin: Deed::Shell(r#"cat "$HOME/.sshfoo/id""#),
    worked: |_, done| done.text.contains("PUBLIC"),
};
