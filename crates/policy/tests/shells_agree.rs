//! What is judged read-only, against the shells themselves: run on a writable copy in a throwaway
//! namespace, it changes no file, and starts no program but those that only look.

use std::{collections::BTreeSet, path::PathBuf};

use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use ringfence_policy::classify::Class;

mod namespace;
mod verdicts;

use namespace::{Fixture, Watch, can_run, shell_kind};
use verdicts::class;

/// Programs that may be started by something that only looks: those that the text names, and the
/// ones that they are made of (`zgrep` is a script, `man` a chain of formatters).
const MAY_START: &[&str] = &[
    "awk",
    "base64",
    "basename",
    "bash",
    "bc",
    "bzcat",
    "bzip2",
    "cat",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cut",
    "dash",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "env",
    "expr",
    "file",
    "find",
    "fold",
    "free",
    "git",
    "grep",
    "gzip",
    "head",
    "hexdump",
    "hostname",
    "id",
    "join",
    "jq",
    "ls",
    "man",
    "mawk",
    "md5sum",
    "more",
    "less",
    "nice",
    "nl",
    "nm",
    "nproc",
    "od",
    "paste",
    "pip",
    "pip3",
    "printenv",
    "ps",
    "pwd",
    "python3",
    "readlink",
    "realpath",
    "rev",
    "sed",
    "seq",
    "sh",
    "sha256sum",
    "sleep",
    "sort",
    "stat",
    "strings",
    "tac",
    "tail",
    "timeout",
    "tr",
    "true",
    "false",
    "tty",
    "uname",
    "uniq",
    "uptime",
    "wc",
    "which",
    "pgrep",
    "yq",
    "ringfence",
    "sdiff",
    "tree",
    "whoami",
    "xargs",
    "xxd",
    "xz",
    "xzcat",
    "zcat",
    "zgrep",
    "zsh",
    "zstd",
    "zstdcat",
    "zegrep",
    "zfgrep",
    "egrep",
    "fgrep",
    "dpkg-query",
    "dpkg",
    "apt",
    "apt-cache",
    "readelf",
    "objdump",
    "size",
    "test",
    "[",
    "echo",
    "printf",
    "tsort",
    "shuf",
    "stdbuf",
    "ionice",
    "setsid",
    "lsblk",
    "findmnt",
    "getent",
    "locale",
    "getconf",
    "arch",
    "logname",
    "users",
    "groups",
    "factor",
    "numfmt",
    "pr",
    "fmt",
    "expand",
    "iconv",
    "cal",
    "whereis",
    "mandb",
    "nroff",
    "groff",
    "troff",
    "preconv",
    "tbl",
    "grotty",
    "lsof",
    "systemctl",
    "tee",
    "journalctl",
    "col",
    "flock",
    "dmesg",
    "ip",
    "pager",
    "unxz",
    "ss",
];

/// Files that programs refresh as they look: caches of what is on the disk anyway.
const CACHES: &[&str] = &["work/.git/index", ".cache"];

fn texts() -> impl Strategy<Value = String> {
    let rows: Vec<String> = [
        include_str!("commands/reading.txt"),
        include_str!("commands/attacks.txt"),
        include_str!("commands/field.txt"),
    ]
    .iter()
    .flat_map(|table| table.lines())
    .filter_map(|line| line.strip_prefix("read-only "))
    .map(|row| row.split("    #>").next().unwrap_or(row).trim().to_owned())
    .map(|row| row.replace("\\n", "\n"))
    .collect();
    let word = prop::sample::select(vec![
        "f",
        "names",
        "data.json",
        "src",
        "src/main.rs",
        ".",
        "*",
        "*.txt",
        "f.gz",
        "p1",
        "keep",
        "-n",
        "-l",
        "-a",
        "-c",
        "-o",
        "-r",
        "-f",
        "-i",
        "-e",
        "-x",
        "-s",
        "-v",
        "--all",
        "--help",
        "--output=../m",
        "-oout",
        "3",
        "x",
        "$x",
        "\"$x\"",
        "${A[x]}",
        "$((x))",
        "$(cat p1)",
        "@args",
        "-C",
        "nested",
        "> ../m",
        "2>/dev/null",
        "< f",
        "| wc -l",
        "; ls",
        "&& git status",
        "s/a/b/",
        "'1p'",
        "{print}",
        "-- f",
        "HEAD",
        "--",
        "'$(touch ../m)'",
        "y=$x",
        "evil",
        "./evil",
        "-delete",
        "-exec cat {} +",
        "-name f",
    ]);
    let program = prop::sample::select(vec![
        "ls",
        "cat",
        "head",
        "tail",
        "wc",
        "sort",
        "uniq",
        "grep",
        "sed",
        "awk",
        "find",
        "stat",
        "file",
        "du",
        "git status",
        "git log",
        "git diff",
        "git show",
        "git branch",
        "git tag",
        "git config",
        "git ls-files",
        "git rev-parse",
        "git clean",
        "git stash",
        "git apply",
        "git grep",
        "git cat-file",
        "git describe",
        "jq",
        "date",
        "env",
        "xargs",
        "diff",
        "cut",
        "tr",
        "zcat",
        "zgrep",
        "zstdcat",
        "pip list",
        "pip show",
        "apt list",
        "nm",
        "strings",
        "xxd",
        "od",
        "test",
        "[",
        "[[",
        "echo",
        "printf",
        "read",
        "declare",
        "export",
        "let",
        "mapfile",
        "set",
        "unset",
        "jobs",
        "type",
        "cd src;",
        "cd nested;",
        "x=$(cat p1);",
        "x=3;",
        "declare -i",
        "declare -n",
        "for x in 1 2; do",
        "time",
        "command",
        "flock",
        "script",
        "nohup",
        "timeout 2",
        "base64",
        "iconv",
        "dd",
        "tee",
        "less",
        "man ls",
        "true",
        "functions[ls]=x",
        "NULLCMD=sh",
        "LANG=C ls",
        "GREP=./evil zgrep",
        "tar -tf t.tar",
        "dpkg -l",
        "ps",
        "id",
        "hostname",
        "seq",
        "column",
        "cksum",
        "cmp",
        "comm",
        "nl",
    ]);
    let built = (program, prop::collection::vec(word, 0..4))
        .prop_map(|(program, words)| format!("{program} {}", words.join(" ")));
    let row = prop::sample::select(rows);
    let one = prop_oneof![3 => built, 2 => row];
    let joint = prop::sample::select(vec!["; ", " && ", " | ", "\n", " || "]);
    prop_oneof![
        3 => one.clone(),
        1 => (one.clone(), joint, one).prop_map(|(a, joint, b)| format!("{a}{joint}{b}")),
    ]
}

/// Texts that only look but wait, or take long.
fn waits(text: &str) -> bool {
    [
        "until ", "while ", "tail -f", "watch", "sleep", "-f log", "select ",
    ]
    .iter()
    .any(|part| text.contains(part))
        || text.starts_with("tail") && text.contains("-f")
}

/// Texts that are judged read-only, each for one shell.
fn read_only_texts() -> Vec<(&'static str, String)> {
    // By hand, with as many others as `RINGFENCE_TEXTS` says.
    let many = std::env::var("RINGFENCE_TEXTS").ok();
    let many: Option<usize> = many.and_then(|many| many.parse().ok());
    let enough = many.unwrap_or(ENOUGH);
    let mut runner = match many {
        Some(_) => TestRunner::default(),
        None => TestRunner::deterministic(),
    };
    let (strategy, mut found) = (texts(), BTreeSet::new());
    for round in 0..ROUNDS {
        let tree = strategy.new_tree(&mut runner);
        let text = tree.unwrap_or_else(|error| panic!("{error}")).current();
        let shell = ["bash", "sh", "zsh"][round % 3];
        if class(&text, shell_kind(shell)) == Class::ReadOnly && !waits(&text) {
            found.insert((shell, text));
        }
        if found.len() >= enough {
            return found.into_iter().collect();
        }
    }
    panic!("only {} were read-only", found.len());
}

/// What these texts do although they only look.
fn wrong_of(fixture: &Fixture, texts: &[(&str, String)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (shell, text) in texts {
        let run = fixture.run(shell, text, Watch::Programs);
        let cached = |path: &&PathBuf| CACHES.iter().any(|cache| path.starts_with(cache));
        for path in run.changed().into_iter().filter(|path| !cached(path)) {
            wrong.push(format!("{shell}: {text:?} changed {}", path.display()));
        }
        for program in &run.started {
            let name = program.rsplit('/').next().unwrap_or(program);
            let known = MAY_START.contains(&name) || name.starts_with("python3");
            if !known || program.starts_with("/home") {
                wrong.push(format!("{shell}: {text:?} started {program}"));
            }
        }
    }
    wrong
}

#[test]
fn what_is_read_only_changes_nothing_and_starts_nothing_else() {
    if !can_run() {
        return;
    }
    let fixture = Fixture::new();
    let texts = read_only_texts();
    let (first, second) = texts.split_at(texts.len() / 2);
    let wrong = std::thread::scope(|scope| {
        let other = scope.spawn(|| wrong_of(&fixture, first));
        let mut wrong = wrong_of(&fixture, second);
        wrong.extend(other.join().unwrap_or_else(|_| panic!("the other half")));
        wrong
    });
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        texts.len(),
        wrong.join("\n")
    );
    // The twin: something that is not read-only is seen to change and to start something.
    let run = fixture.run("bash", "./evil; touch x", Watch::Programs);
    assert!(run.changed().len() >= 2, "{:?}", run.changed());
    assert!(
        run.started.iter().any(|program| program.ends_with("evil")),
        "{:?}",
        run.started
    );
}

const ROUNDS: usize = 60_000;
const ENOUGH: usize = 200;
