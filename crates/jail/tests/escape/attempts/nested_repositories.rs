//! Hooks and settings of repositories further down, and of submodules.

use std::fs;

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "nested_repositories",
    below: "/var/tmp",
    prepare: |fence| {
        for folder in ["lib/.git/hooks", ".git/modules/lib/two/hooks"] {
            fs::create_dir_all(fence.workspace().join(folder)).unwrap();
        }
        for git in ["lib/.git", ".git/modules/lib/two"] {
            let git = fence.workspace().join(git);
            fs::write(git.join("HEAD"), "ref: refs/heads/main").unwrap();
            fs::write(git.join("config"), "[core]\n").unwrap();
        }
    },
    attack: Deed::Shell(
        r#"for git in lib/.git .git/modules/lib/two; do
            printf evil > $git/hooks/pre-commit; printf evil >> $git/config
            mv $git/config $git/old; mv $git aside; mkdir -p $git/hooks; printf evil > $git/hooks/pre-commit
        done
        mv lib away; mkdir -p lib/.git/hooks; printf evil > lib/.git/hooks/pre-commit"#,
    ),
    escaped: |fence, _| {
        ["lib/.git", ".git/modules/lib/two"].iter().any(|git| {
            let git = fence.workspace().join(git);
            git.join("hooks/pre-commit").exists()
                || fs::read_to_string(git.join("config")).unwrap() != "[core]\n"
        })
    },
    twin: Deed::Shell(
        r#"printf x > lib/file && printf x > lib/.git/index && printf x > .git/modules/lib/two/index
        mkdir -p made/.git/hooks && printf x > made/.git/hooks/pre-commit"#,
    ),
    worked: |_, done| done.code == 0,
};
