//! A folder for keys or for our own rules that does not exist yet, in a home that is the workspace.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "missing_keys",
    below: "/var/tmp",
    prepare: |fence| {
        fence.sandbox.writable_roots.push(fence.scratch.home());
        fence
            .sandbox
            .denied_reads
            .push(fence.scratch.home().join(".config/ringfence"));
    },
    attack: Deed::Shell(
        r#"mkdir -p ~/.ssh; printf key > ~/.ssh/authorized_keys; printf x > ~/.netrc
        mkdir -p ~/.config/ringfence; printf 'x' > ~/.config/ringfence/rules.toml
        mkdir made; printf key > made/authorized_keys; mv -T made ~/.ssh"#,
    ),
    escaped: |fence, _| {
        [".ssh/authorized_keys", ".config/ringfence/rules.toml"]
            .iter()
            .any(|name| fence.home().join(name).exists())
            || fence.home().join(".netrc").is_file()
    },
    twin: Deed::Shell(r#"mkdir -p ~/.notes; printf x > ~/.notes/file; cat ~/.notes/file"#),
    worked: |fence, done| done.code == 0 && fence.home().join(".notes/file").exists(),
};
