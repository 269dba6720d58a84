//! Version control. A repository's configuration can name programs, so that many options that look
//! harmless run one.

use crate::classify::{
    Class::{ReadOnly, Safe, Suspicious, Unknown},
    table::{Operands, Tool, folder, mark, output, tool},
};

/// Options of commands that print commits and differences.
const SHOWING: &str = "-p -u -s -w -b -q -v -a -z -n: -S: -G: -L: -O: -U: -M? -C? -B? -D -R -g -i -E -F -P -l: -t -m -c -h -r -X? -W -1 -2 -3 -4 -5 -6 -7 -8 -9 -10 -15 -20 -25 -30 -50 -100 \
    --patch --no-patch --unified= --stat=? --shortstat --numstat --dirstat=? --summary --name-only --name-status --raw --color=? --no-color --word-diff=? --word-diff-regex= --color-words=? --oneline --graph --decorate=? --no-decorate \
    --all --branches=? --tags=? --remotes=? --glob= --exclude= --since= --after= --until= --before= --author= --committer= --grep= --all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp \
    --max-count= --skip= --merges --no-merges --first-parent --reverse --topo-order --date-order --author-date-order --date= --format= --pretty=? --abbrev-commit --abbrev=? --no-abbrev-commit --follow --full-history --left-right --cherry-pick --cherry-mark --cherry \
    --boundary --simplify-by-decoration --ancestry-path=? --diff-filter= --find-renames=? --find-copies=? --find-copies-harder --no-renames --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-space-at-eol --cached --staged --merge-base \
    --exit-code --quiet --check --full-index --binary --submodule=? --src-prefix= --dst-prefix= --no-prefix --relative=? --text --function-context --inter-hunk-context= --diff-algorithm= --minimal --patience --histogram --indent-heuristic --no-index \
    --no-ext-diff --no-textconv --source --show-signature --notes=? --no-notes --parents --children --walk-reflogs --no-walk=? --bisect --mailmap --use-mailmap --log-size --pickaxe-all --pickaxe-regex --compact-summary --patch-with-stat --count --objects --ours --theirs --base \
    --ext-diff --textconv --output= --output-indicator-new= --cc --combined-all-paths --ws-error-highlight= --ita-invisible-in-index --no-pager --line-prefix= --end-of-options";

const SHOWING_MARKS: &[crate::classify::table::Mark] = &[
    output("--output"),
    mark(
        Suspicious,
        "--ext-diff --textconv",
        "it runs programs that the repository's configuration names",
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
    tool(ReadOnly, "log shortlog whatchanged", "it shows commits").only(SHOWING).marks(SHOWING_MARKS),
    tool(ReadOnly, "diff show diff-tree diff-index diff-files range-diff", "it shows differences").only(SHOWING).marks(SHOWING_MARKS),
    tool(ReadOnly, "blame annotate", "it shows who wrote what").only("-L: -l -t -s -e -w -M? -C? -p -c -n -f -b --root --show-stats --incremental --porcelain --line-porcelain --show-name --show-number --show-email --date= --since= --ignore-rev= --ignore-revs-file= --abbrev= --first-parent --reverse --score-debug --color-lines --color-by-age"),
    tool(ReadOnly, "rev-parse rev-list merge-base describe name-rev cat-file ls-files ls-tree show-ref show-branch for-each-ref count-objects check-ignore check-attr cherry var version help diff-pairs verify-commit verify-tag", "it prints facts about the repository").marks(&[
        mark(Suspicious, "--textconv --filters --batch-all-objects", "it runs programs that the repository's configuration names"),
        mark(Unknown, "--use-bitmap-index --parseopt -i --info -m --man -w --web", "it may run another program"),
    ]),
    tool(ReadOnly, "grep", "it searches the repository").only("-a -i -I -w -v -h -H -E -G -F -P -n -l -L -z -o -c -p -e: -f: -A: -B: -C: -m: -W -q -r -O? --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --fixed-strings --perl-regexp --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color=? --no-color --break --heading --show-function --context= --after-context= --before-context= --max-depth= --max-count= --and --or --all-match --quiet --cached --untracked --no-index --no-exclude-standard --exclude-standard --recurse-submodules --recursive --open-files-in-pager=? --ext-grep --textconv --threads=").marks(&[
        mark(Suspicious, "-O --open-files-in-pager", "it runs a pager"),
        mark(Suspicious, "--textconv --ext-grep", "it runs programs that the repository's configuration names"),
    ]),
    tool(Safe, "branch", "it lists or changes branches").only("-a -r -v -vv -l -d -D -m -M -c -C -f -t -u: -q -i --all --remotes --list --verbose --contains=? --no-contains=? --merged=? --no-merged=? --points-at= --sort= --format= --column=? --no-column --color=? --no-color --show-current --ignore-case --abbrev= --omit-empty --delete --move --copy --force --track=? --no-track --set-upstream-to= --unset-upstream --edit-description --create-reflog --quiet").operands(Operands::Ignored).alone(ReadOnly).marks(&[
        mark(Unknown, "-D -d --delete -f --force -M -C", "it may lose commits"),
        mark(Unknown, "--edit-description", "it runs an editor"),
    ]),
    tool(Safe, "tag", "it lists or makes tags").only("-l -n? -a -m: -F: -d -f -i --list --sort= --format= --contains=? --no-contains=? --merged=? --no-merged=? --points-at= --column=? --color=? --annotate --message= --file= --delete --force --ignore-case -s -u: -v --sign --local-user= --verify -e --edit").operands(Operands::Ignored).alone(ReadOnly).marks(&[
        mark(Unknown, "-d --delete -f --force", "it changes tags"),
        mark(Unknown, "-s -u -v --sign --local-user --verify -e --edit", "it runs another program"),
    ]),
    tool(Unknown, "remote", "it changes where the repository points").first("-v --verbose").alone(ReadOnly).subcommands(&[
        tool(ReadOnly, "get-url", "it prints where the repository points").operands(Operands::Ignored),
        tool(Unknown, "show update prune", "it talks to another machine").operands(Operands::Ignored),
        tool(Suspicious, "add set-url rename remove rm set-head set-branches", "it changes where the repository points").operands(Operands::Ignored),
    ]),
    tool(Safe, "reflog", "it shows where branches were").alone(ReadOnly).first(SHOWING).subcommands(&[
        tool(ReadOnly, "show exists list", "it shows where branches were").operands(Operands::Ignored).only(SHOWING).marks(SHOWING_MARKS),
        tool(Suspicious, "expire delete drop", "it loses the way back to commits").operands(Operands::Ignored),
    ]),
    tool(Unknown, "stash", "it puts changes aside").alone(Safe).subcommands(&[
        tool(ReadOnly, "list show", "it shows changes that were put aside").operands(Operands::Ignored).only(SHOWING).marks(SHOWING_MARKS),
        tool(Safe, "push save apply pop branch create store", "it puts changes aside").operands(Operands::Ignored),
        tool(Unknown, "drop clear", "it loses changes").operands(Operands::Ignored),
    ]),
    tool(Unknown, "config", "it reads or changes settings, which can name programs").first("--get --get-all --get-regexp --list -l --show-origin --show-scope --name-only --global --local --system --worktree --null -z --type= --includes --bool --int --path --default= --get-urlmatch --get-color -f: --file= --blob= --add --unset --unset-all --replace-all --rename-section --remove-section --edit -e").operands(Operands::Setting).marks(&[
        mark(Suspicious, "--add --unset --unset-all --replace-all --rename-section --remove-section --edit -e -f --file --blob", "it changes settings, which can name programs"),
        mark(Suspicious, "--global --system", "it uses settings outside the repository"),
    ]),
    tool(ReadOnly, "worktree submodule", "it handles other folders of the repository").operands(Operands::Ignored).subcommands(&[
        tool(ReadOnly, "list status summary", "it shows other folders of the repository").operands(Operands::Ignored),
        tool(Unknown, "add update init sync move remove prune lock unlock repair deinit set-branch set-url absorbgitdirs", "it changes other folders of the repository").operands(Operands::Ignored),
        tool(Suspicious, "foreach", "it runs a program in every submodule").operands(Operands::Ignored),
    ]),
    tool(Unknown, "ls-remote fetch pull clone remote-update", "it talks to another machine").operands(Operands::Ignored).marks(&[
        mark(Suspicious, "--upload-pack --exec -u --config -c --template --server-option", "it runs another program, or sets one"),
    ]),
    // Working.
    tool(Safe, "add stage", "it stages changes").marks(&[mark(Unknown, "-i -p -e --interactive --patch --edit", "it asks, or runs an editor")]),
    tool(Safe, "commit", "it records changes").operands(Operands::Ignored).marks(&[
        mark(Unknown, "--amend --fixup", "it changes a commit"),
        mark(Unknown, "-S --gpg-sign -p --patch --interactive -e --edit", "it runs another program"),
        mark(Suspicious, "-n --no-verify", "it skips the project's checks"),
    ]),
    tool(Safe, "switch", "it changes branches").operands(Operands::Ignored).marks(&[mark(Unknown, "-f --force --discard-changes -C --force-create", "it may lose changes")]),
    tool(Unknown, "checkout restore reset clean rm mv revert notes replace gc prune repack update-ref update-index symbolic-ref read-tree write-tree commit-tree hash-object mktree mktag fast-import sparse-checkout rerere init maintenance", "it changes the repository or loses changes").operands(Operands::Ignored),
    tool(Unknown, "merge rebase cherry-pick am apply bisect format-patch archive bundle", "it changes the repository or loses changes").operands(Operands::Ignored).marks(&[
        mark(Suspicious, "--exec -x", "it runs a program at every commit"),
        mark(Suspicious, "--strategy -s --upload-pack --remote --unsafe-paths", "it runs another program, or writes elsewhere"),
        output("--output -o"),
    ]),
    tool(Suspicious, "push send-pack", "it sends commits to another machine").operands(Operands::Ignored),
    tool(Suspicious, "filter-branch filter-repo credential credential-cache credential-store daemon http-backend shell instaweb send-email request-pull difftool mergetool web--browse citool gui p4 svn cvsserver hook upload-pack receive-pack upload-archive", "it runs other programs, rewrites history or handles credentials").operands(Operands::Ignored),
];
