//! Version control. A repository's configuration can name programs, so that many options that look
//! harmless run one.

use crate::classify::{
    Class::{ReadOnly, Safe, Suspicious, Unknown},
    table::{Operands, Tool, folder, mark, mode, output, tool},
};

/// Options of commands that print differences, and these.
macro_rules! showing {
    ($more:literal) => {
        concat!(
            "-p -u -s -w -b -q -v -a -z -n: -S: -G: -O: -U? -M? -C? -B? -D -R -g -i -E -F -P -l: -t -m -c -h -r -X? -W -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 \
    --patch --no-patch --unified=? --stat=? --shortstat --numstat --dirstat=? --summary --name-only --name-status --raw --color=? --no-color --word-diff=? --word-diff-regex= --color-words=? --oneline --graph --decorate=? --no-decorate \
    --all --branches=? --tags=? --remotes=? --glob= --exclude= --since= --after= --until= --before= --author= --committer= --grep= --all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp \
    --max-count= --skip= --merges --no-merges --first-parent --reverse --topo-order --date-order --author-date-order --date= --format=! --pretty=? --abbrev-commit --abbrev=? --no-abbrev-commit --follow --full-history --left-right --cherry-pick --cherry-mark --cherry \
    --boundary --simplify-by-decoration --ancestry-path=? --diff-filter= --find-renames=? --find-copies=? --find-copies-harder --no-renames --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-space-at-eol --cached --staged --merge-base \
    --exit-code --quiet --check --full-index --binary --submodule=? --src-prefix= --dst-prefix= --no-prefix --relative=? --text --function-context --inter-hunk-context= --diff-algorithm= --minimal --patience --histogram --indent-heuristic --no-index \
    --no-ext-diff --no-textconv --source --show-signature --notes=? --no-notes --parents --children --walk-reflogs --no-walk=? --bisect --mailmap --use-mailmap --log-size --pickaxe-all --pickaxe-regex --compact-summary --patch-with-stat --count --objects --ours --theirs --base \
    --ext-diff --textconv --output= --output-indicator-new= --cc --combined-all-paths --ws-error-highlight= --ita-invisible-in-index --no-pager --line-prefix= --end-of-options \
    --disk-usage=? --no-object-names --objects-edge --unpacked --timestamp --header --do-walk --left-only --right-only --min-parents=! --max-parents=! --since-as-filter= --exclude-first-parent-only --show-linear-break=? --root --ignore-submodules=? --expand-tabs=? --encoding= --clear-decorations --numbered --email",
            $more
        )
    };
}

/// Options of commands that print differences.
const SHOWING: &str = showing!("");

/// Options of commands that print commits. To the others these take no value.
const LOGGING: &str = showing!(" -L: --decorate-refs= --decorate-refs-exclude=");

/// What is said about work that is gone.
const LOST: &str = "it throws work away that nothing brings back";

const SHOWING_MARKS: &[crate::classify::table::Mark] = &[
    output("--output"),
    mark(
        Suspicious,
        "--ext-diff --textconv",
        "it runs programs that the repository's configuration names",
    ),
    mark(
        Unknown,
        "--show-signature",
        "it checks signatures with another program",
    ),
];

#[rustfmt::skip]
pub(super) const TABLE: &[Tool] = &[
    tool(Unknown, "git", "a subcommand of git that is not known, or an alias").alone(ReadOnly)
        .first("-C: -c: -p -P --paginate --no-pager --git-dir= --work-tree= --namespace= --bare --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks --no-lazy-fetch --exec-path=? --html-path --man-path --info-path --config-env= --super-prefix= --version --help -v -h")
        .marks(&[
            mark(Suspicious, "-c --config-env", "a setting can make git run a program"),
            mark(Suspicious, "--exec-path", "it runs git's programs from elsewhere"),
            mark(Suspicious, "--git-dir --work-tree", "it uses the configuration of another repository"),
            mark(Unknown, "-p --paginate", "it runs a pager"),
            folder("-C"),
        ])
        .subcommands(SUBCOMMANDS),
    tool(Unknown, "gh", "it talks to GitHub").operands(Operands::Ignored).subcommands(&[
        tool(Unknown, "pr issue run workflow release repo search label ruleset cache gist project", "it talks to GitHub").operands(Operands::Ignored).subcommands(&[
            tool(Unknown, "list view status diff checks watch", "it reads from GitHub").operands(Operands::Ignored),
            tool(Suspicious, "create edit close merge delete comment review reopen transfer lock ready rerun cancel upload fork archive rename sync clone develop", "it changes something on GitHub").operands(Operands::Ignored),
        ]),
        tool(Suspicious, "api auth secret variable ssh-key gpg-key extension alias codespace config", "it changes something on GitHub, or reads credentials").operands(Operands::Ignored),
    ]),
    tool(Unknown, "hg svn jj fossil bzr", "another version control").operands(Operands::Ignored),
];

#[rustfmt::skip]
const SUBCOMMANDS: &[Tool] = &[
    // Looking.
    tool(ReadOnly, "status", "it shows what changed").only("-s -b -u? -z -v --short --branch --show-stash --porcelain=? --long --verbose --untracked-files=? --ignored=? --ignore-submodules=? --column=? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames=?"),
    tool(ReadOnly, "shortlog", "it shows commits").only("-c -e -n -s --all --author= --committer --email --format=! --group= --no-merges --numbered --since= --summary --until="),
    tool(ReadOnly, "log whatchanged show", "it shows commits").only(LOGGING).marks(SHOWING_MARKS),
    tool(ReadOnly, "diff diff-tree diff-index diff-files range-diff", "it shows differences").only(SHOWING).marks(SHOWING_MARKS),
    tool(ReadOnly, "blame annotate", "it shows who wrote what").only("-L: -l -t -s -e -w -M? -C? -p -c -n -f -b --root --show-stats --incremental --porcelain --line-porcelain --show-name --show-number --show-email --date= --since= --ignore-rev= --ignore-revs-file= --abbrev= --first-parent --reverse --score-debug --color-lines --color-by-age"),
    tool(ReadOnly, "rev-list", "it prints facts about the repository").only(SHOWING).marks(SHOWING_MARKS),
    tool(ReadOnly, "rev-parse", "it prints facts about the repository").only("-q --quiet --abbrev-ref=? --verify --short=? --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --symbolic --symbolic-full-name --all --branches=? --tags=? --remotes=? --default= --revs-only --no-revs --flags --no-flags --sq --not --git-path= --show-superproject-working-tree --show-object-format=? --path-format= --shared-index-path --local-env-vars --end-of-options --since= --until= --after= --before= --disambiguate= --exclude= --glob="),
    tool(ReadOnly, "merge-base describe name-rev cherry show-branch var version", "it prints facts about the repository").only("-a -l -r -v --abbrev=? --all --always --branches --broken=? --build-options --candidates= --contains --current --date-order --debug --dirty=? --exact-match --exclude= --first-parent --fork-point --independent --is-ancestor --list --long --match= --merge-base --name-only --no-name --no-undefined --octopus --reflog=? --refs= --remotes --sha1-name --tags --topics --topo-order"),
    tool(ReadOnly, "cat-file", "it prints facts about the repository").only("-p -t -s -e -z --batch=? --batch-check=? --buffer --follow-symlinks --unordered --path= --allow-unknown-type --textconv --filters --batch-all-objects").marks(&[
        mark(Suspicious, "--textconv --filters", "it runs programs that the repository's configuration names"),
    ]),
    tool(ReadOnly, "ls-files ls-tree", "it lists files of the repository").only("-c -d -f -i -k -l -m -o -r -s -t -u -v -x: -X: -z --abbrev=? --cached --debug --deduplicate --deleted --directory --empty-directory --eol --error-unmatch --exclude= --exclude-from= --exclude-per-directory= --exclude-standard --format= --full-name --full-tree --ignored --killed --long --modified --name-only --name-status --no-empty-directory --object-only --others --recurse-submodules --resolve-undo --sparse --stage --unmerged --with-tree="),
    tool(ReadOnly, "show-ref for-each-ref", "it lists references").only("-d -q -s --abbrev=? --branches --color=? --contains=? --count= --dereference --exclude= --exists --format= --hash=? --head --heads --ignore-case --merged=? --no-contains=? --no-merged=? --omit-empty --perl --points-at= --python --quiet --shell --sort= --stdin --tags --tcl --verify"),
    tool(ReadOnly, "count-objects check-ignore check-attr check-ref-format check-mailmap", "it prints facts about the repository").operands(Operands::Ignored).only("-a -H -n -q -v -z --all --branch --cached --human-readable --no-index --non-matching --normalize --quiet --source= --stdin --verbose"),
    tool(ReadOnly, "fsck", "it checks the repository").operands(Operands::Ignored).only("-v --cache --connectivity-only --dangling --full --name-objects --no-dangling --no-full --no-progress --no-reflogs --progress --root --strict --tags --unreachable --verbose"),
    tool(ReadOnly, "grep", "it searches the repository").only("-a -i -I -w -v -h -H -E -G -F -P -n -l -L -z -o -c -p -e: -f: -A: -B: -C: -m: -W -q -r -O? --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --fixed-strings --perl-regexp --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color=? --no-color --break --heading --show-function --context= --after-context= --before-context= --max-depth= --max-count= --and --or --all-match --quiet --cached --untracked --no-index --no-exclude-standard --exclude-standard --recurse-submodules --recursive --open-files-in-pager=? --ext-grep --textconv --threads=").marks(&[
        mark(Suspicious, "-O --open-files-in-pager", "it runs a pager"),
        mark(Suspicious, "--textconv --ext-grep", "it runs programs that the repository's configuration names"),
    ]),
    tool(Safe, "branch", "it lists or changes branches").only("-a -r -v -vv -l -d -D -m -M -c -C -f -t -u: -q -i --all --remotes --list --verbose --contains=? --no-contains=? --merged=? --no-merged=? --points-at= --sort= --format= --column=? --no-column --color=? --no-color --show-current --ignore-case --abbrev= --omit-empty --delete --move --copy --force --track=? --no-track --set-upstream-to= --unset-upstream --edit-description --create-reflog --quiet").operands(Operands::Ignored).alone(ReadOnly).marks(&[
        mark(Suspicious, "-D -f --force -M -C", LOST),
        mark(Unknown, "-d --delete", "it may lose commits"),
        mark(Unknown, "--edit-description", "it runs an editor"),
    ]),
    tool(Safe, "tag", "it lists or makes tags").only("-l -n? -a -m: -F: -d -f -i --list --sort= --format= --contains=? --no-contains=? --merged=? --no-merged=? --points-at= --column=? --color=? --annotate --message= --file= --delete --force --ignore-case -s -u: -v --sign --local-user= --verify -e --edit").operands(Operands::Ignored).alone(ReadOnly).marks(&[
        mark(Unknown, "-d --delete -f --force", "it changes tags"),
        mark(Unknown, "-s -u -v --sign --local-user --verify -e --edit", "it runs another program"),
    ]),
    tool(Unknown, "remote", "it changes where the repository points").first("-v --verbose").alone(ReadOnly).subcommands(&[
        tool(ReadOnly, "get-url", "it prints where the repository points").operands(Operands::Ignored).only("--push --all"),
        tool(Unknown, "show update prune", "it talks to another machine").operands(Operands::Ignored),
        tool(Suspicious, "add set-url rename remove rm set-head set-branches", "it changes where the repository points").operands(Operands::Ignored),
    ]),
    tool(Safe, "reflog", "it shows where branches were").alone(ReadOnly).first(SHOWING).subcommands(&[
        tool(ReadOnly, "show exists list", "it shows where branches were").operands(Operands::Ignored).only(LOGGING).marks(SHOWING_MARKS),
        tool(Suspicious, "expire delete drop", "it loses the way back to commits").operands(Operands::Ignored),
    ]),
    tool(Unknown, "stash", "it puts changes aside").alone(Safe).first("-a -k -q -S -u --all --include-untracked --keep-index --quiet --staged").subcommands(&[
        tool(ReadOnly, "list show", "it shows changes that were put aside").operands(Operands::Ignored).only(SHOWING).marks(SHOWING_MARKS),
        tool(Safe, "push save apply pop branch create store", "it puts changes aside").operands(Operands::Ignored),
        tool(Suspicious, "drop clear", LOST).operands(Operands::Ignored),
    ]),
    tool(Unknown, "config", "it reads or changes settings, which can name programs").only("--all --append --fixed-value --regexp --show-names --url= --value= --comment= --get --get-all --get-regexp --list -l --show-origin --show-scope --name-only --global --local --system --worktree --null -z --type= --includes --no-includes --bool --int --path --default= --get-urlmatch --get-color -f: --file= --blob= --add --unset --unset-all --replace-all --rename-section --remove-section --edit -e").operands(Operands::Setting).marks(&[
        mark(Suspicious, "--add --append --unset --unset-all --replace-all --rename-section --remove-section --edit -e -f --file --blob", "it changes settings, which can name programs"),
    ]),
    tool(Unknown, "worktree submodule", "it handles other folders of the repository").operands(Operands::Ignored).first("-q --quiet").subcommands(&[
        tool(ReadOnly, "list status summary", "it shows other folders of the repository").operands(Operands::Ignored).only("-v -z --porcelain --verbose --cached --recursive --quiet"),
        tool(Unknown, "remove deinit update", "it changes other folders of the repository").operands(Operands::Ignored).marks(&[mark(Suspicious, "-f --force", LOST)]),
        tool(Unknown, "add init sync move prune lock unlock repair set-branch set-url absorbgitdirs", "it changes other folders of the repository").operands(Operands::Ignored),
        tool(Suspicious, "foreach", "it runs a program in every submodule").operands(Operands::Ignored),
    ]),
    tool(Unknown, "ls-remote fetch pull clone remote-update", "it talks to another machine").operands(Operands::Ignored).marks(&[
        mark(Suspicious, "--upload-pack --exec -u --config -c --template --server-option", "it runs another program, or sets one"),
    ]),
    // Working.
    tool(Safe, "add stage", "it stages changes").marks(&[mark(Unknown, "-i -p -e --interactive --patch --edit", "it asks, or runs an editor")]),
    tool(Safe, "commit", "it records changes").operands(Operands::Ignored).only("-a -m: -F: -s -v -q -u? -C: -c: -t: -i -o -z --all --message= --file= --author= --date= --signoff --no-signoff --quiet --verbose --allow-empty --allow-empty-message --no-edit --reuse-message= --reedit-message= --cleanup= --only --include --template= --trailer= --status --no-status --branch --short --porcelain --long --dry-run --no-post-rewrite --amend --fixup= --squash= --reset-author -S? --gpg-sign=? --no-gpg-sign -p --patch --interactive -e --edit -n --no-verify --pathspec-from-file= --untracked-files=?").marks(&[
        mark(Unknown, "--amend --fixup", "it changes a commit"),
        mark(Unknown, "-S --gpg-sign -p --patch --interactive -e --edit -c --reedit-message", "it runs another program"),
        mark(Suspicious, "-n --no-verify", "it skips the project's checks"),
    ]),
    tool(Safe, "switch", "it changes branches").operands(Operands::Ignored).only("-c: -C: -d -f -m -q -t --create= --force-create= --detach --discard-changes --force --guess --no-guess --ignore-other-worktrees --merge --orphan= --progress --no-progress --quiet --track=? --no-track").marks(&[
        mark(Suspicious, "-f --force --discard-changes", LOST),
        mark(Unknown, "-C --force-create -m --merge", "it may lose changes"),
    ]),
    // Throwing away.
    tool(Unknown, "checkout", "it changes branches, or throws changes away").only("-b: -B: -d -f -l -m -p -q -t --conflict= --detach --force --guess --ignore-other-worktrees --merge --no-guess --no-overlay --no-progress --no-track --orphan= --ours --overlay --patch --pathspec-from-file= --progress --quiet --theirs --track=?").operands(Operands::CheckedOut)
        .modes(&[mode(Safe, "-b", "-b: -q -t --quiet --track=? --no-track", "it makes a branch")])
        .marks(&[mark(Suspicious, "-f --force --pathspec-from-file --ours --theirs", LOST)]),
    tool(Suspicious, "restore", LOST).only("-p -q -s: -S -W -m --conflict= --ignore-unmerged --merge --no-overlay --ours --overlay --patch --pathspec-from-file= --progress --quiet --source= --staged --theirs --worktree")
        .modes(&[mode(Safe, "-S --staged", "-S -q -s: --staged --source= --quiet", "it takes changes back from the next commit")]),
    tool(Unknown, "reset", "it moves the branch").operands(Operands::Ignored).only("-q -p -N --soft --mixed --hard --merge --keep --quiet --patch --intent-to-add --no-refresh --refresh --pathspec-from-file=").marks(&[
        mark(Suspicious, "--hard --merge --keep", LOST),
    ]),
    tool(Unknown, "clean", "it deletes files that git does not know").operands(Operands::Ignored).only("-d -e: -f -i -n -q -x -X --dry-run --exclude= --force --interactive --quiet")
        .modes(&[mode(ReadOnly, "-n --dry-run", "-d -e: -f -n -q -x -X --dry-run --exclude= --force --quiet", "it lists what it would delete")])
        .marks(&[mark(Suspicious, "-f --force", LOST)]),
    tool(Unknown, "rm", "it deletes files and forgets them").operands(Operands::Ignored).only("-f -n -q -r --cached --dry-run --force --ignore-unmatch --quiet --sparse").marks(&[mark(Suspicious, "-f --force", LOST)]),
    tool(Suspicious, "checkout-index prune", LOST).operands(Operands::Ignored),
    tool(Unknown, "read-tree update-ref gc", "it changes the repository or loses changes").operands(Operands::Ignored).marks(&[mark(Suspicious, "--reset -u -d --stdin --prune", LOST)]),
    tool(Unknown, "mv revert notes replace repack update-index symbolic-ref write-tree commit-tree hash-object mktree mktag fast-import sparse-checkout rerere init maintenance help", "it changes the repository or loses changes").operands(Operands::Ignored),
    tool(Unknown, "apply", "it changes files as a patch says").operands(Operands::Ignored)
        .modes(&[mode(ReadOnly, "--check --stat --numstat --summary", "-p: -q -R -v -C: --cached --check --directory= --exclude= --inaccurate-eof --include= --index --numstat --quiet --recount --reverse --stat --summary --unidiff-zero --verbose --whitespace=", "it checks a patch")])
        .marks(&[mark(Suspicious, "--unsafe-paths", "it may write elsewhere")]),
    tool(Unknown, "merge rebase cherry-pick am bisect format-patch archive bundle", "it changes the repository or loses changes").operands(Operands::Ignored).marks(&[
        mark(Suspicious, "--exec -x", "it runs a program at every commit"),
        mark(Suspicious, "--strategy -s --upload-pack --remote --unsafe-paths", "it runs another program, or writes elsewhere"),
        output("--output -o"),
    ]),
    tool(Suspicious, "push send-pack", "it sends commits to another machine").operands(Operands::Ignored),
    tool(Suspicious, "filter-branch filter-repo credential credential-cache credential-store daemon http-backend shell instaweb send-email request-pull difftool mergetool web--browse citool gui p4 svn cvsserver hook upload-pack receive-pack upload-archive", "it runs other programs, rewrites history or handles credentials").operands(Operands::Ignored),
];
