//! What may leave the fence without a question: one literal command, and nothing else.
//!
//! A rule or a remembered approval that leaves the fence was given for what somebody saw. Whatever
//! the shell puts in its place at run time (a variable, a pattern, an alias, what stands beside it)
//! nobody saw, so it is asked about again. Nor did anybody see what a file of the workspace will
//! hold the next time: commands in the fence may write there.

use std::path::Path;

use crate::action::{Action, RunCommand};
use crate::facts::options::{Grammar, Style};
use crate::facts::{Facts, Word};
use crate::ground::Ground;
use crate::session_approvals::understood;

/// Whether a grant that leaves the fence covers a command with these facts.
pub fn covers(facts: &Facts) -> bool {
    facts.one_literal_command().is_some()
}

/// Why a yes to leaving the fence holds for once and is not kept; nothing if it may be.
pub(crate) fn only_once(action: &Action, ground: &Ground) -> Option<&'static str> {
    let Action::RunCommand(command) = action else {
        return None;
    };
    not_kept(&understood(command), ground).or_else(|| {
        found_in_the_workspace(command, ground).then_some(
            "programs or settings are looked for in a folder that commands in the fence may change",
        )
    })
}

/// The same for a command with these facts, wherever its programs are found.
pub(crate) fn not_kept(facts: &Facts, ground: &Ground) -> Option<&'static str> {
    let Some(command) = facts.one_literal_command() else {
        return Some("it is not one literal command");
    };
    let in_a_repository = command.words[0].is("git") || command.words[0].is("gh");
    let mut words = command.words[1..].iter();
    let steady = is_steady(&command.words)
        && !words.any(|word| is_below(word, ground))
        // Only the repository at the top has settings and hooks that the fence protects.
        && (!in_a_repository || ground.cwd == ground.workspace)
        && !ground.home.as_ref().is_some_and(|home| home.starts_with(&ground.workspace));
    (!steady).then_some("what it runs may be changed by commands in the fence")
}

/// Programs, with the words that must follow, which run and write nothing that they find in a
/// folder, and the options with which that stays so. Names of remotes are none of their operands:
/// git takes one that is not set up for a folder, and runs its hooks.
#[rustfmt::skip]
const STEADY: &[(&str, &str)] = &[
    ("uname", "-a -i -m -n -o -p -r -s -v"),
    ("uptime", "-p -s"),
    ("free", "-b -k -m -g -h"),
    ("df", "-h -T -i"),
    ("ps", "-a -e -f -u: -p: -A -x"),
    ("ss", "-t -u -l -n -p -a"),
    ("ping", "-c: -w: -W: -4 -6 -q -n"),
    ("dig", "-4 -6 -x: -t:"),
    ("host", "-a -t: -4 -6"),
    ("whois", ""),
    ("curl", "-s -S -f -L -I -i -v -X: -H: -m: --silent --show-error --fail --location --head --include --request= --header= --max-time="),
    ("systemctl status", "-l --no-pager --full --user"),
    ("systemctl start", "--user --no-block"),
    ("systemctl stop", "--user --no-block"),
    ("systemctl restart", "--user --no-block"),
    ("systemctl reload", "--user --no-block"),
    ("journalctl", "-u: -n: -f -e -x -b -k --no-pager --unit= --lines= --since= --until= --follow"),
    ("docker ps", "-a -q -n: -l -f: --all --filter= --quiet --no-trunc"),
    ("docker images", "-a -q -f: --all --quiet --filter="),
    ("docker logs", "-f -t -n: --follow --tail= --since= --timestamps"),
    ("docker inspect", "-f: --format= --type="),
    ("docker start", ""),
    ("docker stop", "-t: --time="),
    ("docker restart", "-t: --time="),
    ("docker pull", "-q -a --quiet --platform="),
    ("docker info", ""),
    ("docker version", ""),
    ("podman ps", "-a -q --all"),
    ("podman images", "-a -q --all"),
    ("podman logs", "-f -t --follow --tail="),
    ("kubectl get", "-A -n: -w -l: -L: --all-namespaces --namespace= --selector= --watch --show-labels --context="),
    ("kubectl describe", "-A -n: -l: --all-namespaces --namespace= --selector= --context="),
    ("kubectl logs", "-c: -f -n: -p --container= --follow --namespace= --previous --since= --tail= --context="),
    ("kubectl version", "--client"),
    ("git push", "-f -q -v -n --tags --all --force-with-lease --dry-run --porcelain --follow-tags --atomic --prune"),
    ("git fetch", "-q -v -p -t -a -f --all --tags --prune --dry-run --depth= --unshallow"),
    ("gh pr list", "-L: -s: -a: -A: -l: --limit= --state= --author= --label="),
    ("gh pr view", "-c --comments"),
    ("gh pr checks", "--required"),
    ("gh pr status", ""),
    ("gh issue list", "-L: -s: -a: -A: -l: --limit= --state= --author= --label="),
    ("gh issue view", "-c --comments"),
    ("gh run list", "-L: -b: -w: --limit= --branch= --workflow="),
    ("gh run view", "-v --log --log-failed --verbose"),
];

fn is_steady(words: &[Word]) -> bool {
    let literal: Vec<&str> = words.iter().filter_map(Word::literal).collect();
    STEADY.iter().any(|(named, options)| {
        let named: Vec<&str> = named.split(' ').collect();
        let Some(rest) = literal.strip_prefix(named.as_slice()) else {
            return false;
        };
        let grammar = Grammar {
            options,
            style: Style::Gnu,
        };
        let found = grammar.read(&words[named.len()..]);
        let alone = named[0] != "git" || found.operands.is_empty();
        let from_a_file = |word: &&str| {
            let value = word.split_once('=').map_or(*word, |(_, value)| value);
            value.starts_with('@') || word.starts_with("-H@")
        };
        found.unknown.is_empty() && alone && !rest.iter().any(from_a_file)
    })
}

/// Whether a word, or the value in it, is the path of something that commands may change. A word
/// without a slash is a name to the programs above.
fn is_below(word: &Word, ground: &Ground) -> bool {
    let cwd = &ground.cwd;
    let text = word.literal().unwrap_or_default();
    let path = text.rsplit_once('=').map_or(text, |(_, value)| value);
    let names_a_path =
        !path.contains("://") && (path.contains('/') || path.starts_with(['.', '~']));
    let home = ground.home.as_deref().unwrap_or(cwd);
    let place = match path.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => cwd.join(path),
    };
    names_a_path && (path.contains("..") || ground.may_write(&place))
}

/// Variables that say where programs, and the settings of those above, are looked for.
const LEAD: &[&str] = &["PATH", "KUBECONFIG", "DOCKER_CONFIG", "CURL_HOME"];

/// Whether the program of a command, or its settings, would be looked for where commands in the
/// fence may write.
fn found_in_the_workspace(command: &RunCommand, ground: &Ground) -> bool {
    let may_change = |folder: &str| {
        let folder = Path::new(folder);
        !folder.is_absolute() || ground.may_write(folder)
    };
    let named = LEAD
        .iter()
        .filter_map(|name| command.environment.get(*name));
    let mut folders = named.flat_map(|folders| folders.split(':'));
    folders.any(may_change)
}
