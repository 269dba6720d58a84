//! A day's ordinary work with git inside the fence: nothing of it is harmed, and all of it is there
//! afterwards.

use crate::fence::Fence;
use crate::scene::Scene;
use crate::suite::Where;

/// What the user has: an alias, a hook, a program that is to be built, and a sparse checkout.
const BEFORE: &str = "set -e; git config alias.own '!true'; cp scripts/hook.sh .git/hooks/post-rewrite
    git config core.excludesFile .ignored; git config blame.ignoreRevsFile .revs; ln -s ../scripts/hook.sh .git/hooks/pre-push
    git init -q sparse; cd sparse; mkdir a b; echo x > a/in; echo x > b/out; git add .; git commit -q -m one; git sparse-checkout set a; echo sparse >> ../.git/info/exclude";

/// What is done inside, one run after the other.
const INSIDE: &[&str] = &[
    "echo two >> file.txt; git add -A; git commit -q -m two",
    "git checkout -q -b topic; echo three >> file.txt; git commit -q -a -m three; git branch -a",
    "git checkout -q main; echo other > other.txt; git add other.txt; git commit -q -m other",
    "git merge -q --no-edit topic; git tag -a -m first v1",
    "git checkout -q -b rebased HEAD~2; echo r > r.txt; git add r.txt; git commit -q -m r; git rebase -q main",
    "echo stashed >> file.txt; git stash -q; git stash list; git stash pop -q; git checkout -q -- file.txt",
    "git worktree list; git gc -q; git fsck; git reflog",
    "cd lib; git checkout -q -b inside; echo sub >> file.txt; git commit -q -a -m sub; cd ..; git add lib; git commit -q -m bump",
    "git checkout -q --detach; git checkout -q rebased; git status; git diff HEAD~1",
    "git init -q made; cd made; git config user.name B; echo x > y; git add y; git commit -q -m y",
    "mkdir -p plain/refs plain/objects config.d; echo x > plain/HEAD; echo x > config; rm config",
    "git worktree add -q -b tree tree; cd tree; echo t > t.txt; git add t.txt; git commit -q -m t",
    "git submodule status; git pack-refs --all; git update-index --split-index; echo s > s.txt; git add s.txt lib; git commit -q -m s; git update-index --no-split-index",
    "git update-index --index-version 4; git checkout -q --detach; git commit -q --allow-empty -m d; git checkout -q rebased",
    "git init -q --ref-format=reftable table; cd table; echo x > y; git add y; git commit -q -m y; git checkout -q -b z",
    "cd sparse; echo in >> a/in; git commit -q -a -m in; git sparse-checkout add b; git checkout -q -b more; git status",
    "git init -q long; cd long; git checkout -q -b $(printf 'n%.0s' $(seq 200)); git commit -q --allow-empty -m l; git status",
    "mkdir -p plain/sub; echo x > plain/commondir; echo x > plain/sub/HEAD; echo x > HEAD; ln -s plain linked; touch $(seq -f plain/%.0f 300)",
    "rm HEAD linked; printf 'notes\\n' >> .git/info/exclude; printf '*.bin -text\\n' > .git/info/attributes",
];

/// What must be true outside afterwards.
const AFTERWARDS: &[&str] = &[
    "git log --oneline rebased | grep -q other",
    "git log --oneline rebased | grep -q ' r$'",
    "git rev-parse -q --verify v1",
    "git log --oneline rebased | grep -q bump",
    "test \"$(git rev-parse --abbrev-ref HEAD)\" = rebased",
    "git -C lib log --oneline -1 | grep -q sub",
    "git -C made log --oneline -1 | grep -q y",
    "grep -q notes .git/info/exclude; grep -q bin .git/info/attributes",
    "git -C tree log --oneline -1 | grep -q ' t$'; git -C tree status; git status",
    "git -C table log --oneline -1 z | grep -q y; git -C long status",
    "git -C sparse log --oneline -1 more | grep -q in; test -e sparse/b/out",
    "git fsck",
    // A setting of the user's own, made while nothing runs, stays.
    "git config alias.mine '!true' && git mine",
    "test -z \"$(find . -name '*.set-aside*')\"",
];

pub async fn try_here(scene: Scene, at: Where) -> Option<String> {
    if let Err(error) = scene.outside_in(&scene.workspace(), BEFORE) {
        return Some(format!("before: {error}"));
    }
    scene.give_away();
    let fence = Fence::around(&scene, at);
    for line in INSIDE {
        let done = fence.run(&format!("set -e\n{line}")).await;
        if !done.starts_with("0:") {
            return Some(format!("`{line}` failed inside: {done}"));
        }
    }
    for line in AFTERWARDS {
        if let Err(error) = scene.outside_in(&scene.workspace(), line) {
            return Some(format!("`{line}` outside: {error}"));
        }
    }
    let done = fence.run("set -e\ngit mine; git status").await;
    if !done.starts_with("0:") {
        return Some(format!("after a setting of the user's: {done}"));
    }
    drop(fence);
    let kept = scene.outside_in(&scene.workspace(), "git mine");
    kept.err()
        .map(|error| format!("the user's setting is gone: {error}"))
}
