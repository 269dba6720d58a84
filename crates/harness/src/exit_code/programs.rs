//! What exit codes mean to the programs that give them: one table, and who can have given a code.

use ringfence_policy::facts::{Deciders, Word};

/// Programs, an argument that they must have been given (any if it is empty), their code, and what it means.
type Row = (&'static str, &'static str, i32, &'static str);

/// The most exact row comes first.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("git", "diff", 1, "git diff: there are differences"),
    ("git", "diff", 2, "git diff: --check found whitespace errors or leftover conflict markers"),
    ("git", "grep", 1, "git grep: no match"),
    ("git", "merge", 1, "git merge: not merged, for conflicts mostly"),
    ("git", "pull", 1, "git pull: not merged, or nothing was fetched"),
    ("git", "rebase", 1, "git rebase: stopped, for conflicts mostly"),
    ("git", "cherry-pick", 1, "git cherry-pick: stopped, for conflicts mostly"),
    ("git", "revert", 1, "git revert: stopped, for conflicts mostly"),
    ("git", "push", 1, "git push: not everything was pushed; the other side or a hook refused it"),
    ("git", "commit", 1, "git commit: nothing was committed; there was nothing to commit, or a hook refused it"),
    ("git", "check-ignore", 1, "git check-ignore: none of them is ignored"),
    ("git", "merge-base", 1, "git merge-base: no common ancestor, or not an ancestor"),
    ("git", "config", 1, "git config: no such setting"),
    ("git", "show-ref", 1, "git show-ref: no such reference"),
    ("git", "", 128, "git: a fatal error, which its last lines tell"),
    ("git", "", 129, "git: options or arguments that it does not take"),
    ("grep egrep fgrep zgrep rg", "", 1, "no match"),
    ("grep egrep fgrep zgrep rg", "", 2, "an error: a pattern that is none, or a file that could not be read"),
    ("diff cmp", "", 1, "there are differences"),
    ("diff cmp", "", 2, "an error: a file that could not be read, or wrong options"),
    ("make gmake", "-q", 1, "make: a target is not up to date"),
    ("make gmake", "", 2, "make: a command of a target failed, or there is no rule for it; its last lines tell which"),
    ("ls dir", "", 1, "something in a folder could not be read"),
    ("ls dir", "", 2, "a file or folder that was named could not be read"),
    ("test [", "", 1, "the condition does not hold"),
    ("test [", "", 2, "the condition is none that can be tested"),
    ("which", "", 1, "there is no such program"),
    ("pgrep pkill", "", 1, "no process matches"),
    ("sort", "", 2, "sort: an error, such as a file that could not be read"),
    ("awk gawk mawk", "", 2, "awk: an error in the program, or a file that could not be read"),
    ("tar", "", 1, "tar: some files changed or differ"),
    ("tar", "", 2, "tar: an error, which its last lines tell"),
    ("xargs", "", 123, "xargs: a command that it ran failed"),
    ("xargs", "", 124, "xargs: a command that it ran ended with 255"),
    ("jq", "", 2, "jq: wrong options, or a file that could not be read"),
    ("jq", "", 3, "jq: the filter is none that it can read"),
    ("jq", "", 4, "jq: no output"),
    ("jq", "", 5, "jq: an error in the filter or in what it read"),
    ("timeout", "", 124, "timeout: the time that the command was given is over"),
    ("timeout", "", 125, "timeout: it failed itself, as with options that it does not take"),
    ("curl", "", 3, "curl: the address is none"),
    ("curl", "", 5, "curl: the proxy's name was not found"),
    ("curl", "", 6, "curl: the host's name was not found"),
    ("curl", "", 7, "curl: no connection to the host"),
    ("curl", "", 18, "curl: only a part was transferred"),
    ("curl", "", 22, "curl: the server answered with an error (400 or above)"),
    ("curl", "", 23, "curl: what came could not be written"),
    ("curl", "", 26, "curl: what was to be sent could not be read"),
    ("curl", "", 28, "curl: it took too long"),
    ("curl", "", 35, "curl: no TLS connection was made"),
    ("curl", "", 47, "curl: too many redirects"),
    ("curl", "", 52, "curl: the server answered nothing"),
    ("curl", "", 55, "curl: sending failed"),
    ("curl", "", 56, "curl: receiving failed, or a proxy refused"),
    ("curl", "", 60, "curl: the server's certificate is not trusted"),
    ("curl", "", 77, "curl: the file with trusted certificates could not be read"),
    ("wget", "", 2, "wget: wrong options or settings"),
    ("wget", "", 3, "wget: a file could not be written"),
    ("wget", "", 4, "wget: no connection, or the host's name was not found"),
    ("wget", "", 5, "wget: the server's certificate is not trusted"),
    ("wget", "", 6, "wget: user or password was not taken"),
    ("wget", "", 7, "wget: the other side does not keep to the protocol"),
    ("wget", "", 8, "wget: the server answered with an error"),
    ("ssh scp sftp", "", 255, "no connection to the other machine, or it was lost"),
    ("rsync", "", 1, "rsync: options that it does not take"),
    ("rsync", "", 2, "rsync: the two sides do not understand one another"),
    ("rsync", "", 3, "rsync: files or folders could not be chosen"),
    ("rsync", "", 5, "rsync: the other side refused to start"),
    ("rsync", "", 10, "rsync: no connection"),
    ("rsync", "", 11, "rsync: a file could not be read or written"),
    ("rsync", "", 12, "rsync: the connection broke"),
    ("rsync", "", 23, "rsync: some files were not transferred"),
    ("rsync", "", 24, "rsync: some files vanished before they were transferred"),
    ("rsync", "", 30, "rsync: it took too long"),
    ("rsync", "", 35, "rsync: the other side did not answer in time"),
    ("rsync", "", 255, "rsync: ssh made no connection"),
    ("pytest py.test", "", 1, "pytest: tests failed"),
    ("pytest py.test", "", 2, "pytest: interrupted, or tests could not be collected"),
    ("pytest py.test", "", 3, "pytest: an error of its own"),
    ("pytest py.test", "", 4, "pytest: options that it does not take, or files that are not there"),
    ("pytest py.test", "", 5, "pytest: no tests were found"),
    ("cargo", "", 101, "cargo: it did not compile, tests failed, or the program panicked"),
    ("docker podman", "", 125, "the container was not started"),
    ("systemctl", "status", 3, "systemctl: it is not active"),
    ("systemctl", "is-active", 3, "systemctl: it is not active"),
    ("systemctl", "status", 4, "systemctl: there is no such unit"),
];

/// Programs that stand before others, and the only codes that they fail with.
#[rustfmt::skip]
const FAIL_WITH: &[(&str, &[i32])] = &[
    ("cd pushd popd mkdir touch echo printf pwd export cp mv rm ln chmod cat tee sleep true false", &[1]),
    ("test [", &[1, 2]),
    ("timeout", &[124, 125]),
    ("env nice nohup stdbuf", &[125]),
    ("command builtin exec time setsid busybox", &[]),
];

/// What the code means to the one of them that can have given it; nothing if that may be several, or one that is not known.
pub(super) fn meaning(deciders: &Deciders, code: i32) -> Option<&'static str> {
    // A shell that cannot open a file or a folder says 1; some that are called `sh` say 2.
    let by_sh = deciders.plain_sh && code == 2 && deciders.commands.len() > 1;
    let by_redirect = deciders.redirects && (code == 1 || deciders.plain_sh && code == 2);
    if by_sh || by_redirect {
        return None;
    }
    // Nobody gives this one by chance.
    let mut commands = deciders.commands.iter();
    if let Some(timeout) = commands.find(|words| code == 124 && program(words).0 == "timeout") {
        return of_command(timeout, code);
    }
    let may_have_given = |words: &&Vec<Word>| {
        let name = program(words).0;
        let known = FAIL_WITH.iter().find(|(names, _)| is_one_of(names, name));
        known.is_none_or(|(_, codes)| codes.contains(&code))
    };
    let mut candidates = deciders.commands.iter().filter(may_have_given);
    let first = of_command(candidates.next()?, code)?;
    candidates
        .all(|words| of_command(words, code) == Some(first))
        .then_some(first)
}

fn of_command(words: &[Word], code: i32) -> Option<&'static str> {
    let (name, arguments) = program(words);
    let row = ROWS.iter().find(|(names, argument, known, _)| {
        *known == code && is_one_of(names, name) && is_given(name, arguments, argument)
    });
    row.map(|(.., meaning)| *meaning)
}

/// Whether the arguments are of that kind: git's and systemctl's first operand, or an option anywhere.
fn is_given(program: &str, arguments: &[Word], argument: &str) -> bool {
    if argument.is_empty() {
        return true;
    }
    if argument.starts_with('-') {
        return arguments.iter().any(|word| word.is(argument));
    }
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.literal() {
            Some("-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace") if program == "git" => {
                words.next();
            }
            Some(option) if option.starts_with('-') => {}
            operand => return operand == Some(argument),
        }
    }
    false
}

/// The name of the program and its arguments; `python -m name` is a program by that name.
fn program(words: &[Word]) -> (&str, &[Word]) {
    let literal = |at: usize| words.get(at).and_then(Word::literal).unwrap_or_default();
    let name = literal(0).rsplit('/').next().unwrap_or_default();
    if name.starts_with("python") && literal(1) == "-m" {
        return (literal(2), words.get(3..).unwrap_or_default());
    }
    (name, words.get(1..).unwrap_or_default())
}

fn is_one_of(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use ringfence_policy::ShellKind;
    use ringfence_policy::facts::{CommandText, deciding};

    use super::*;

    fn told(text: &str, code: i32) -> &'static str {
        let kind = ShellKind::Bash;
        let deciders = deciding(CommandText::Shell { kind, text });
        deciders
            .and_then(|it| meaning(&it, code))
            .unwrap_or("not told")
    }

    #[test]
    fn a_code_is_explained_as_the_programs() {
        for (text, code, expected) in [
            ("git push", 128, "git: a fatal error"),
            ("/usr/bin/git push", 128, "git: a fatal error"),
            ("cd x && git push", 128, "git: a fatal error"),
            ("git -C x --no-pager diff --exit-code", 1, "git diff: there"),
            ("git diff --bad", 129, "git: options"),
            ("make -j4 all", 2, "make: a command"),
            ("cd x && make > log 2>&1", 2, "make: a command"),
            ("make && make test", 2, "make: a command"),
            ("make -q", 1, "make: a target is not up to date"),
            ("ps aux | grep x", 1, "no match"),
            ("diff a b", 1, "there are differences"),
            ("timeout 5 curl -s x", 124, "timeout: the time"),
            ("timeout 5 curl -s x", 6, "curl: the host's name"),
            ("bash -lc 'cd x && curl -f y'", 22, "curl: the server"),
            ("python3 -m pytest -q", 5, "pytest: no tests"),
            ("ssh host ls", 255, "no connection to the other"),
        ] {
            assert!(told(text, code).starts_with(expected), "{text}: {code}");
        }
    }

    #[test]
    fn codes_that_may_be_somebody_elses_are_not() {
        for (text, code) in [
            ("echo git; frobnicate", 128),
            ("frobnicate && git push", 128),
            ("git push && frobnicate", 128),
            ("git push; frobnicate make", 2),
            ("cd x && grep y z", 1),
            ("grep y z > OUT/found", 1),
            ("make | tee log", 2),
            ("sh -c 'cd x && make'", 2),
            ("sh -c 'make > OUT/log'", 2),
            ("set -e; make; echo made", 2),
            ("make; exit 2", 2),
            ("git status; exit 128", 128),
            ("git log diff", 1),
            ("ssh host make", 2),
            ("frobnicate", 1),
            ("make", 1),
            ("my-git push", 128),
            ("xargs git push", 128),
        ] {
            assert_eq!(told(text, code), "not told", "{text}: {code}");
        }
    }
}
