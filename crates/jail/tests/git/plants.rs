//! The ways in which git can be made to run a program, each as a script that plants one.

use crate::cunning;
use crate::scene::Scene;
use crate::suite::Where;

/// Something to plant.
pub struct Plant {
    /// Sets the scene, outside the fence.
    pub prepare: Box<dyn Fn(&Scene)>,
    /// What is tried inside.
    pub script: String,
}

/// What every script begins with: a program that leaves a mark where only somebody outside can,
/// and a repository that runs it at every opportunity.
pub const PREAMBLE: &str = r#"
P="$WORKSPACE/planted.sh"
printf '#!/bin/sh\necho "$0 $*" >> "%s/ran"\n' "$OUTSIDE" > "$P"; chmod +x "$P"
HOOKS="post-index-change pre-commit prepare-commit-msg commit-msg post-commit post-checkout post-rewrite post-merge reference-transaction pre-auto-gc applypatch-msg fsmonitor-watchman"
hooks() { mkdir -p "$1"; for hook in $HOOKS; do cp "$P" "$1/$hook"; done; }
evil() {
    git init -q "$1"; git -C "$1" commit -q --allow-empty -m evil
    hooks "$1/.git/hooks"; git -C "$1" config core.fsmonitor "$P"; git -C "$1" config alias.st "!$P"
}
bare() {
    evil .x; cp .x/.git/HEAD "$1"; cp .x/.git/index "$1" 2>/dev/null
    cp -r .x/.git/objects .x/.git/refs .x/.git/hooks .x/.git/config "$1"
    git config -f "$1/config" core.bare false; git config -f "$1/config" core.worktree "$WORKSPACE/$1"
}
link() { git -C "$1" update-index --add --cacheinfo "160000,$(git -C "$1/$2" rev-parse HEAD),$2"; }
exec 2>&1
"#;

/// Settings that name a program, or where one is found.
const KEYS: &[(&str, &str)] = &[
    ("core.fsmonitor", "$P"),
    ("core.hooksPath", "$WORKSPACE/planted"),
    ("core.sshCommand", "$P"),
    ("core.editor", "$P"),
    ("core.pager", "$P"),
    ("core.askPass", "$P"),
    ("core.gitProxy", "$P"),
    ("core.worktree", "$WORKSPACE/planted"),
    ("core.attributesFile", "$WORKSPACE/planted"),
    ("core.alternateRefsCommand", "$P"),
    ("alias.status", "!$P"),
    ("alias.planted", "!$P"),
    ("filter.planted.clean", "$P"),
    ("filter.planted.smudge", "$P"),
    ("filter.planted.process", "$P"),
    ("diff.external", "$P"),
    ("diff.planted.textconv", "$P"),
    ("diff.planted.command", "$P"),
    ("diff.tool", "planted"),
    ("difftool.planted.cmd", "$P"),
    ("merge.planted.driver", "$P"),
    ("mergetool.planted.cmd", "$P"),
    ("gpg.program", "$P"),
    ("gpg.ssh.program", "$P"),
    ("gpg.ssh.defaultKeyCommand", "$P"),
    ("gpg.x509.program", "$P"),
    ("user.signingKey", "planted"),
    ("credential.helper", "$P"),
    ("credential.https://example.com.helper", "!$P"),
    ("sequence.editor", "$P"),
    ("pager.log", "$P"),
    ("pager.status", "$P"),
    ("include.path", "$WORKSPACE/planted.config"),
    ("includeIf.gitdir:/.path", "$WORKSPACE/planted.config"),
    ("remote.origin.uploadpack", "$P"),
    ("remote.origin.receivepack", "$P"),
    ("remote.origin.vcs", "planted"),
    ("remote.origin.proxy", "planted"),
    ("remote.origin.url", "ext::$P"),
    ("remote.origin.pushurl", "ext::$P"),
    ("url.ext::$P .insteadOf", "/"),
    ("protocol.ext.allow", "always #planted"),
    ("submodule.lib.update", "!$P"),
    ("submodule.lib.url", "ext::$P"),
    ("uploadpack.packObjectsHook", "$P"),
    ("interactive.diffFilter", "$P"),
    ("browser.planted.cmd", "$P"),
    ("web.browser", "planted"),
    ("man.planted.cmd", "$P"),
    ("help.browser", "planted"),
    ("instaweb.httpd", "$P"),
    ("trailer.planted.cmd", "$P"),
    ("trailer.planted.command", "$P"),
    ("maintenance.planted.schedule", "$P"),
    ("gc.recentObjectsHook", "$P"),
    ("init.templateDir", "$WORKSPACE/planted"),
    ("http.proxy", "planted"),
    ("sendemail.sendmailCmd", "$P"),
    ("notes.rewriteRef", "planted"),
    ("receive.procReceiveRefs", "planted"),
    ("guitool.planted.cmd", "$P"),
    ("imap.tunnel", "$P"),
    ("fsck.skipList", "planted"),
    ("tomorrow.planted", "$P"),
];

/// A way to get a setting or a hook in effect without being let to write it where it belongs: its
/// name, what is there before, and what is tried.
pub type Way = (&'static str, &'static str, &'static str);

const WAYS: &[Way] = &[
    (
        "hooks",
        "",
        "for git in .git .git/modules/lib vendor/tool/.git; do hooks $git/hooks; done",
    ),
    (
        "hooks_replaced",
        "",
        "for git in .git .git/modules/lib vendor/tool/.git; do mv $git/hooks $git/old; hooks $git/hooks; done",
    ),
    (
        "hooks_where_there_were_none",
        "rm -rf .git/hooks",
        "hooks .git/hooks",
    ),
    (
        "hook_behind_a_link",
        "ln -s ../../scripts/hook.sh .git/hooks/pre-commit",
        "cp $P scripts/hook.sh; rm scripts/hook.sh; cp $P scripts/hook.sh; mv scripts away; mkdir scripts; cp $P scripts/hook.sh",
    ),
    (
        "hooks_path",
        "mkdir .githooks; cp scripts/hook.sh .githooks/pre-push; git config core.hooksPath .githooks",
        "hooks .githooks; mv .githooks away; hooks .githooks",
    ),
    (
        "hooks_path_to_nowhere",
        "git config core.hooksPath .githooks",
        "hooks .githooks",
    ),
    (
        "hooks_path_of_an_included_file",
        "printf '[core]\\nhooksPath = .other\\n' > extra; git config include.path ../extra",
        "hooks .other",
    ),
    (
        "program_of_a_filter",
        "git config filter.known.clean ./scripts/clean.sh; printf '*.txt filter=known\\n' > .gitattributes",
        "cp $P scripts/clean.sh; rm scripts/clean.sh; cp $P scripts/clean.sh",
    ),
    (
        "program_of_an_alias_in_quotes",
        "git config filter.known.clean 'sh \"./scripts/clean.sh\"'; printf '*.txt filter=known\\n' > .gitattributes",
        "rm -f scripts/clean.sh; cp $P scripts/clean.sh",
    ),
    (
        "included_file",
        "printf '[user]\\nname = A\\n' > extra; git config include.path ../extra",
        "git config -f extra core.fsmonitor $P; printf \"[core]\\nfsmonitor = $P\\n\" > extra",
    ),
    (
        "included_file_that_is_absent",
        "git config include.path ../extra",
        "printf \"[core]\\nfsmonitor = $P\\n\" > extra",
    ),
    (
        "included_if",
        "git config includeIf.gitdir:/.path ../extra",
        "printf \"[core]\\nfsmonitor = $P\\n\" > extra",
    ),
    (
        "included_twice",
        "printf '[include]\\npath = more\\n' > extra; git config include.path ../extra",
        "printf \"[core]\\nfsmonitor = $P\\n\" > more",
    ),
    (
        "settings_of_a_work_tree",
        "git config extensions.worktreeConfig true",
        "printf \"[core]\\nfsmonitor = $P\\n\" > .git/config.worktree",
    ),
    (
        "settings_of_a_work_tree_that_has_some",
        "git config extensions.worktreeConfig true; git config --worktree user.name A",
        "printf \"[core]\\nfsmonitor = $P\\n\" >> .git/config.worktree; rm .git/config.worktree; printf \"[core]\\nfsmonitor = $P\\n\" > .git/config.worktree",
    ),
    (
        "attributes",
        "git config --global filter.known.clean \"echo ran >> $OUTSIDE/ran; cat\"",
        "printf '* filter=known\\n' > .git/info/attributes",
    ),
    (
        "attributes_that_exist",
        "git config --global filter.known.clean \"echo ran >> $OUTSIDE/ran; cat\"; echo '*.x -text' > .git/info/attributes",
        "printf '* filter=known\\n' >> .git/info/attributes; rm -f .git/info/attributes; printf '* filter=known\\n' > .git/info/attributes",
    ),
    (
        "attributes_behind_a_link",
        "git config --global filter.known.clean \"echo ran >> $OUTSIDE/ran; cat\"",
        "mv .git/info .git/old; mkdir .x; printf '* filter=known\\n' > .x/attributes; ln -s ../.x .git/info",
    ),
    (
        "common_folder",
        "",
        "cp -r .git .x; git config -f .x/config core.fsmonitor $P; hooks .x/hooks; echo ../.x > .git/commondir",
    ),
    (
        "common_folder_by_a_link",
        "",
        "cp -r .git .x; git config -f .x/config core.fsmonitor $P; echo ../.x > c; ln -s ../c .git/commondir",
    ),
    (
        "common_folder_of_a_submodule",
        "",
        "cp -r .git/modules/lib .x; git config -f .x/config core.fsmonitor $P; echo \"$WORKSPACE/.x\" > .git/modules/lib/commondir",
    ),
    (
        "common_folder_of_one_further_down",
        "",
        "cp -r vendor/tool/.git .x; git config -f .x/config core.fsmonitor $P; echo \"$WORKSPACE/.x\" > vendor/tool/.git/commondir",
    ),
    ("bare", "", "bare .; rm .git/HEAD"),
    ("bare_head_garbage", "", "bare .; echo garbage > .git/HEAD"),
    ("bare_head_empty", "", "bare .; : > .git/HEAD"),
    ("bare_head_closed", "", "bare .; chmod 000 .git/HEAD"),
    (
        "bare_head_folder",
        "",
        "bare .; rm .git/HEAD; mkdir .git/HEAD",
    ),
    (
        "bare_head_pipe",
        "",
        "bare .; rm .git/HEAD; mkfifo .git/HEAD 2>/dev/null || mknod .git/HEAD p",
    ),
    (
        "bare_head_dangling",
        "",
        "bare .; rm .git/HEAD; ln -s nowhere .git/HEAD",
    ),
    (
        "bare_head_device",
        "",
        "bare .; rm .git/HEAD; ln -s /dev/zero .git/HEAD",
    ),
    ("bare_closed", "", "bare .; chmod 000 .git"),
    ("bare_not_entered", "", "bare .; chmod 600 .git"),
    ("bare_objects_closed", "", "bare .; chmod 000 .git/objects"),
    ("bare_refs_closed", "", "bare .; chmod 000 .git/refs"),
    (
        "bare_refs_moved",
        "git pack-refs --all; git -C lib pack-refs --all",
        "bare .; mv .git/refs .git/moved",
    ),
    (
        "bare_refs_file",
        "git pack-refs --all",
        "bare .; rm -rf .git/refs; : > .git/refs",
    ),
    (
        "bare_further_down",
        "",
        "bare vendor/tool; rm vendor/tool/.git/HEAD",
    ),
    (
        "bare_closed_further_down",
        "",
        "bare vendor/tool; chmod 000 vendor/tool/.git",
    ),
    (
        "bare_in_a_submodule",
        "",
        "bare lib; rm .git/modules/lib/HEAD",
    ),
    ("moved_away", "", "mv .git old && evil ."),
    (
        "moved_away_further_down",
        "",
        "mv vendor old && evil vendor/tool",
    ),
    ("gitlink", "", "evil sub; link . sub"),
    ("gitlink_by_add", "", "evil sub; git add -f sub"),
    (
        "gitlink_deep",
        "",
        "mkdir -p a/b; evil a/b/sub; link . a/b/sub",
    ),
    (
        "gitlink_version_4",
        "",
        "evil sub; link . sub; git update-index --index-version 4",
    ),
    (
        "gitlink_split_index",
        "",
        "evil sub; link . sub; git update-index --split-index",
    ),
    ("gitlink_in_a_submodule", "", "evil lib/sub; link lib sub"),
    (
        "gitlink_of_a_gitlink",
        "",
        "git init -q one; git -C one commit -q --allow-empty -m x; evil one/two; link one two; link . one",
    ),
    (
        "gitlink_known_before",
        "mkdir sub; git -c core.hooksPath=/dev/null update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git commit -q -m sub; git push -q origin HEAD:main",
        "evil sub",
    ),
    (
        "gitlink_by_a_file",
        "",
        "evil .x; mkdir sub; echo 'gitdir: ../.x/.git' > sub/.git; git -C .x config core.worktree $WORKSPACE/sub; link . sub",
    ),
    (
        "gitlink_by_a_link",
        "",
        "evil .x; mkdir sub; ln -s ../.x/.git sub/.git; link . sub",
    ),
    (
        "gitlink_with_settings_of_a_work_tree",
        "",
        "git init -q sub; git -C sub commit -q --allow-empty -m x; git -C sub config extensions.worktreeConfig true; git -C sub config --worktree core.fsmonitor $P; link . sub",
    ),
    (
        "gitlink_with_an_included_file",
        "",
        "git init -q sub; git -C sub commit -q --allow-empty -m x; printf \"[core]\\nfsmonitor = $P\\n\" > extra; git -C sub config include.path ../../extra; link . sub",
    ),
    (
        "gitlink_with_a_common_folder",
        "",
        "evil .x; git init -q sub; git -C sub commit -q --allow-empty -m x; H=$(git -C sub rev-parse HEAD); cp -r sub/.git/objects .x/.git; echo $WORKSPACE/.x/.git > sub/.git/commondir; git update-index --add --cacheinfo 160000,$H,sub",
    ),
    (
        "gitlink_with_hooks_alone",
        "",
        "git init -q sub; git -C sub commit -q --allow-empty -m x; hooks sub/.git/hooks; link . sub",
    ),
    (
        "gitlink_with_a_linked_hook",
        "",
        "git init -q sub; git -C sub commit -q --allow-empty -m x; ln -s $P sub/.git/hooks/post-index-change; link . sub",
    ),
    (
        "submodule_file",
        "",
        "evil .x; echo 'gitdir: ../.x/.git' > lib/.git; rm -f lib/.git; echo 'gitdir: ../.x/.git' > lib/.git",
    ),
    (
        "submodule_file_replaced",
        "",
        "evil .x; mv lib/.git lib/old; mv .x/.git lib/.git",
    ),
    ("submodule_moved", "", "mv lib old; evil lib"),
    (
        "submodule_folder_moved",
        "",
        "mv .git/modules/lib .git/modules/old; evil .x; mv .x/.git .git/modules/lib",
    ),
    (
        "submodule_modules_moved",
        "",
        "cp -r .git/modules .x; mv .git/modules .git/old; git config -f .x/lib/config core.fsmonitor $P; mv .x .git/modules",
    ),
    (
        "submodule_modules_linked",
        "",
        "cp -r .git/modules .x; mv .git/modules .git/old; git config -f .x/lib/config core.fsmonitor $P; ln -s ../.x .git/modules",
    ),
    ("embedded", "", "mkdir -p a/b; evil a/b/sub; evil sub"),
    (
        "left_running",
        "",
        "evil .x; (setsid bash -c 'while :; do cp .x/.git/HEAD .x/.git/config . ; cp -r .x/.git/objects .x/.git/refs . ; rm -f .git/HEAD; echo ../.x/.git > .git/commondir; done' >/dev/null 2>&1 </dev/null &)",
    ),
];

/// Every attempt that is made with a backend: all of them with the native one, the ways with the
/// others, whose covers are the same list.
pub fn names(at: Where) -> impl Iterator<Item = &'static str> {
    let keys = KEYS.iter().map(|(key, _)| *key);
    let keys = keys.filter(move |_| at == Where::Native || at == Where::Degraded);
    let ways = WAYS.iter().chain(cunning::WAYS).map(|(name, ..)| *name);
    keys.chain(ways.filter(move |name| match at {
        Where::Native | Where::Bubblewrap | Where::Container => true,
        Where::Degraded => !LOST.contains(name) && !cunning::LOST.contains(name),
    }))
}

/// What is lost with the covers on a machine without namespaces: programs in the workspace that
/// settings have run, and repositories as such.
const LOST: &[&str] = &[
    "hook_behind_a_link",
    "program_of_a_filter",
    "program_of_an_alias_in_quotes",
    "moved_away",
    "submodule_folder_moved",
    "submodule_modules_linked",
];

/// The attempt of a name.
pub fn named(name: &str) -> Plant {
    if let Some((key, value)) = KEYS.iter().find(|(key, _)| *key == name) {
        return setting(key, value);
    }
    let mut ways = WAYS.iter().chain(cunning::WAYS);
    let way = ways.find(|(known, ..)| *known == name);
    let (_, prepare, script) = way.expect("an attempt of this name");
    Plant {
        prepare: Box::new(|scene| {
            scene
                .outside_in(&scene.workspace(), prepare)
                .expect("prepare");
        }),
        script: (*script).to_owned(),
    }
}

/// A setting, written by git, into the file, over the file, and in place of it; at the top, in the
/// submodule and in the repository further down.
fn setting(key: &str, value: &str) -> Plant {
    let script = format!(
        r#"KEY="{key}"; VALUE="{value}"
        hooks planted; printf "* filter=planted diff=planted merge=planted\n" > .gitattributes
        printf "[core]\nfsmonitor = $P\n" > planted.config
        for git in .git .git/modules/lib vendor/tool/.git; do
            git config -f $git/config "$KEY" "$VALUE"
            cp $git/config planted.tmp; git config -f planted.tmp "$KEY" "$VALUE"
            cat planted.tmp > $git/config; cp planted.tmp $git/config.new; mv -f $git/config.new $git/config
            mv $git/config $git/old && cp planted.tmp $git/config
            rm -f $git/config && cp planted.tmp $git/config
        done; rm planted.tmp"#
    );
    Plant {
        prepare: Box::new(|_| {}),
        script,
    }
}
