//! Ways that count on git being judged worse than git judges: forms that git reads otherwise than
//! they look, more of something than anybody counts, names that are taken, links.

use crate::plants::Way;

/// What the scripts here begin with.
pub const PREAMBLE: &str = r#"
taken() { for n in "" $(seq -f -%.0f 2 999); do : > "$1.set-aside$n"; done; }
benign() { git init -q "$1"; git -C "$1" commit -q --allow-empty -m benign; }
half() {
    evil .x; mv .x/.git store; git config -f store/config core.repositoryformatversion 1
    git config -f store/config extensions.worktreeConfig true; git config -f store/config --unset core.bare
    printf '[core]\nbare = false\nworktree = %s\n' "$WORKSPACE" > config.worktree
    cp store/HEAD HEAD; echo "$WORKSPACE/store" > commondir
}
hidden() { mkdir -p planted/node_modules; evil planted/node_modules/zz; link . planted/node_modules/zz; }
fillers() { mkdir -p "$1"; (cd "$1" && seq -f filler-%.0f 4000 | xargs touch); }
by_file() {
    mkdir -p planted/node_modules/zz; printf 'gitdir: %s\n' "$1" > planted/node_modules/zz/.git
    git update-index --add --cacheinfo "160000,$(git rev-parse HEAD),planted/node_modules/zz"
}
"#;

pub const WAYS: &[Way] = &[
    // Names and modes that are in the way of whoever mends.
    (
        "names_taken",
        "",
        "cp -r .git .x; git config -f .x/config core.fsmonitor $P; hooks .x/hooks; taken .git/commondir; echo ../.x > .git/commondir",
    ),
    (
        "names_taken_where_bare",
        "",
        "taken HEAD; bare .; rm .git/HEAD; taken .git/HEAD",
    ),
    ("top_closed", "", "bare .; rm .git/HEAD; chmod 555 ."),
    (
        "gitlink_closed",
        "",
        "evil sub; link . sub; chmod 555 sub/.git sub/.git/hooks",
    ),
    (
        "gitlink_barely_open",
        "",
        "evil sub; link . sub; chmod 111 sub/.git/hooks; chmod 511 sub/.git sub",
    ),
    // A repository in halves.
    ("half", "", "half; rm .git/HEAD"),
    (
        "half_head_linked",
        "",
        "half; rm .git/HEAD; ln -s refs .git/HEAD",
    ),
    (
        "half_head_far_out",
        "",
        "half; printf 'ref:%300srefs/heads/main\\n' '' > .git/HEAD",
    ),
    (
        "half_head_form_feed",
        "",
        "half; printf 'ref:\\f refs/heads/main\\n' > .git/HEAD",
    ),
    (
        "half_refs_dangling",
        "git pack-refs --all",
        "half; mv .git/refs .git/moved; ln -s nowhere .git/refs",
    ),
    (
        "half_further_down",
        "",
        "half; mv HEAD commondir config.worktree vendor/tool; git config -f vendor/tool/config.worktree core.worktree $WORKSPACE/vendor/tool; printf x > vendor/tool/.git/HEAD",
    ),
    // Repositories that the index names so that it is not seen.
    ("gitlink_hidden", "", "hidden"),
    (
        "gitlink_index_linked",
        "",
        "hidden; mv .git/index .git/i; ln -s i .git/index",
    ),
    (
        "gitlink_among_many",
        "",
        "for n in $(seq 300); do printf \"160000 $(git rev-parse HEAD) 0\\ta$n\\n\"; done > planted.list; git update-index --index-info < planted.list; hidden",
    ),
    (
        "gitlink_among_thousands",
        "",
        "H=$(git rev-parse HEAD); awk -v h=$H 'BEGIN{for(n=0;n<3000;n++) printf \"160000 %s 0\\ta%d\\n\",h,n}' > planted.list; git update-index --index-info < planted.list; hidden",
    ),
    (
        "gitlink_of_another_mode",
        "",
        "hidden; LC_ALL=C sed -i 's/\\x00\\x00\\xe0\\x00/\\x00\\x00\\xe1\\xed/g' .git/index",
    ),
    (
        "gitlink_behind_padding",
        "",
        "hidden; { head -c -20 .git/index; printf 'PADD\\010\\020\\000\\000'; head -c 135266304 /dev/zero; head -c 20 /dev/zero; } > .git/i; mv .git/i .git/index",
    ),
    (
        "gitlink_after_a_blank",
        "",
        "evil .x; mkdir planted; mv .x/.git 'planted/store '; benign .y; mv .y/.git planted/store; by_file '../../store '",
    ),
    (
        "gitlink_around_a_corner",
        "",
        "mkdir -p planted/deep/er; ln -s deep/er planted/L; evil .x; mv .x/.git planted/deep/store; benign .y; mv .y/.git planted/store; by_file '../../L/../store'",
    ),
    (
        "gitlink_with_many_hooks",
        "",
        "benign sub; link . sub; fillers sub/.git/hooks; hooks sub/.git/hooks",
    ),
    (
        "hooks_path_to_nowhere_with_many",
        "git config core.hooksPath planted-hooks",
        "fillers planted-hooks; hooks planted-hooks",
    ),
    // What exists, behind links, and what is named and not there.
    (
        "hook_behind_two_links",
        "ln -s hook.sh scripts/second; ln -s ../../scripts/second .git/hooks/pre-commit",
        "cat $P > scripts/hook.sh; ln -sf ../planted.sh scripts/second; rm -f scripts/second; cp $P scripts/second",
    ),
    (
        "hook_that_dangles",
        "ln -s ../../build/hook .git/hooks/pre-commit",
        "mkdir build; cp $P build/hook",
    ),
    (
        "hooks_path_behind_a_link",
        "mkdir -p tools/hooks; cp scripts/hook.sh tools/hooks/pre-push; ln -s tools/hooks .githooks; git config core.hooksPath .githooks",
        "hooks tools/hooks; rm -f .githooks; hooks .githooks",
    ),
    (
        "hooks_path_led_elsewhere",
        "mkdir -p tools/hooks; cp scripts/hook.sh tools/hooks/pre-push; ln -s tools/hooks .githooks; git config core.hooksPath .githooks",
        "hooks planted-hooks; ln -sfn planted-hooks .githooks",
    ),
    (
        "included_file_behind_a_link",
        "printf '[user]\\nname = A\\n' > extra; ln -s extra linked; git config include.path ../linked",
        "printf \"[core]\\nfsmonitor = $P\\n\" > extra; printf \"[core]\\nfsmonitor = $P\\n\" > planted.config; ln -sf planted.config linked",
    ),
    (
        "program_in_a_linked_folder",
        "mkdir real; cp scripts/clean.sh real/h; ln -s real linked; git config filter.known.clean ./linked/h; printf '*.txt filter=known\\n' > .gitattributes",
        "cat $P > real/h; mv real away; rm -f linked; mkdir linked; cp $P linked/h",
    ),
    (
        "program_in_a_folder_led_elsewhere",
        "mkdir real; cp scripts/clean.sh real/h; ln -s real linked; git config filter.known.clean ./linked/h; printf '*.txt filter=known\\n' > .gitattributes",
        "mkdir planted; cp $P planted/h; ln -sfn planted linked",
    ),
    (
        "program_that_is_absent",
        "git config core.fsmonitor ./build/fsm",
        "mkdir build; cp $P build/fsm",
    ),
    (
        "program_that_is_absent_by_a_link",
        "git config core.fsmonitor ./build/fsm",
        "mkdir planted; cp $P planted/fsm; ln -s planted build",
    ),
];

/// Of these, what is lost with the covers on a machine without namespaces.
pub const LOST: &[&str] = &[
    "hook_behind_two_links",
    "program_in_a_linked_folder",
    "program_in_a_folder_led_elsewhere",
];
