//! The reader against the shell itself: what we take for literal, Bash takes for the same words,
//! and what we understand, Bash can read.
//!
//! Nothing is executed but `printf` of words, and `bash -n`, which only reads.

use std::{
    fmt::Write as _,
    process::{Command, Stdio},
};

use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use ringfence_policy::{
    ShellKind,
    facts::{CommandText, understand},
};

fn bash() -> Option<&'static str> {
    let found = ["/bin/bash", "/usr/bin/bash"]
        .into_iter()
        .find(|path| std::path::Path::new(path).exists());
    if found.is_none() {
        assert!(
            std::env::var_os("RINGFENCE_REQUIRE").is_none(),
            "bash is required and missing"
        );
        #[allow(clippy::print_stderr, reason = "a test that cannot run says so")]
        {
            eprintln!("SKIPPED: there is no bash here");
        }
    }
    found
}

/// A word in the ways people and attackers write words.
fn word() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[a-z0-9/._=+-]{1,4}",
        "[a-z $`\"\\\\!*?;|&<>(){}#~]{0,5}".prop_map(|text| format!("'{text}'")),
        "[a-z ';|&<>(){}#~*?]{0,5}".prop_map(|text| format!("\"{text}\"")),
        "[ a-z$`\"'*?;|&<>(){}#~]".prop_map(|c| format!("\\{c}")),
        prop::sample::select(vec![
            "\\\\",
            "\"\\\"\"",
            "\"\\$x\"",
            "\"\\`\"",
            "\"\\a\"",
            "\"a\\\\b\"",
            "$'a\\tb'",
            "$'\\x41\\'\\101'",
            "$'\\e\\\\'",
            "''",
            "\"\"",
            "a#b",
            "{a}",
            "{}",
            "a=b",
            "\"$\"",
            "$\"x\"",
            "[a",
            "%",
            "^",
            "@",
            ":",
            ",",
            "\\\n x",
            "a{b"
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(part, 1..5).prop_map(|parts| parts.concat())
}

#[test]
fn literal_words_have_the_value_that_bash_gives_them() {
    let Some(bash) = bash() else { return };
    let mut runner = TestRunner::deterministic();
    let mut compared = 0;
    for _ in 0..40 {
        // One shell for many words.
        let lists: Vec<Vec<String>> = (0..40)
            .map(|_| {
                prop::collection::vec(word(), 1..4)
                    .new_tree(&mut runner)
                    .unwrap()
                    .current()
            })
            .collect();
        let mut script = String::from("set -f\n");
        let mut expected = Vec::new();
        for words in &lists {
            let text = format!("printf %s {}", words.join(" "));
            let facts = understand(CommandText::Shell {
                kind: ShellKind::Bash,
                text: &text,
            });
            let [command] = facts.commands.as_slice() else {
                continue;
            };
            let literal: Option<Vec<&str>> =
                command.words[2..].iter().map(|w| w.literal()).collect();
            let (Some(literal), true) = (literal, facts.not_understood.is_empty()) else {
                continue;
            };
            if !facts.redirections.is_empty() {
                continue;
            }
            let words = words.join(" ");
            let _ = writeln!(script, "printf '%s\\1' {words}; printf '\\2'");
            expected.push((
                text,
                literal.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>(),
            ));
        }
        let output = Command::new(bash)
            .arg("-c")
            .arg(&script)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        let found: Vec<&str> = output.split('\u{2}').collect();
        assert_eq!(found.len(), expected.len() + 1, "{script}");
        for ((text, literal), found) in expected.iter().zip(found) {
            let found: Vec<&str> = found
                .strip_suffix('\u{1}')
                .unwrap_or(found)
                .split('\u{1}')
                .collect();
            assert_eq!(
                literal.iter().map(String::as_str).collect::<Vec<_>>(),
                found,
                "{text}"
            );
            compared += 1;
        }
    }
    assert!(compared > 500, "only {compared} were literal");
}

/// Whatever we understand is valid for Bash: we never see commands where it sees something else.
#[test]
fn what_is_understood_is_valid() {
    let Some(bash) = bash() else { return };
    let pieces = prop::sample::select(vec![
        " ",
        " ",
        "\n",
        "; ",
        " && ",
        " | ",
        " & ",
        "( ",
        " )",
        "{ ",
        "; }",
        "$(",
        ")",
        "`",
        "'",
        "\"",
        "${x",
        "}",
        " > f",
        " < f",
        " <<E\n",
        "\nE\n",
        " <<< ",
        "<(",
        "# ",
        "if ",
        "; then ",
        "; fi",
        "for i in ",
        "; do ",
        "; done",
        "while ",
        "case x in ",
        "a) ",
        ";; ",
        "esac",
        "f() ",
        "[[ ",
        " ]]",
        "((",
        "))",
        "! ",
        "a",
        "b=c ",
        "echo ",
        "$x",
        "*",
        "$((1+1))",
        "\\\n",
        "\\",
        "function g ",
        "time ",
        "coproc ",
        "=",
        "{a,b}",
        "#",
        "x=",
        "a[",
        "]",
        "~",
        "&> f",
        "2>&1",
        "|& ",
        " || ",
        "+=",
        "(a b)",
        "select i in ",
        "until ",
        "; else ",
        "$'a'",
        "!(",
        ":",
        "-",
        "[",
    ]);
    let texts = prop::collection::vec(pieces, 1..14).prop_map(|pieces| pieces.concat());
    let mut runner = TestRunner::deterministic();
    let mut understood = Vec::new();
    for _ in 0..30_000 {
        let text = texts.new_tree(&mut runner).unwrap().current();
        let facts = understand(CommandText::Shell {
            kind: ShellKind::Bash,
            text: &text,
        });
        if facts.not_understood.is_empty() && !facts.commands.is_empty() {
            understood.push(text);
        }
    }
    understood.sort();
    understood.dedup();
    assert!(
        understood.len() > 200,
        "only {} understood",
        understood.len()
    );
    let mut wrong = Vec::new();
    for text in understood.iter().step_by(1 + understood.len() / 500) {
        let mut shell = Command::new(bash);
        shell
            .args(["-n", "-c", "--", text])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if !shell.status().unwrap().success() {
            wrong.push(text);
        }
    }
    assert!(wrong.is_empty(), "understood, but not valid: {wrong:#?}");
}

/// Every program that Bash really tries to run is among the facts of a text that is understood.
/// The texts name no program that exists, and run in an empty folder.
#[test]
fn bash_runs_nothing_that_the_facts_do_not_name() {
    let Some(bash) = bash() else { return };
    let folder = tempfile::tempdir().unwrap();
    let name = prop::sample::select(vec![
        "p1", "p2", "p3", "'p4'", "p\\5", "\"p6\"", "p''7", "$'p8'",
    ]);
    let glue = prop::sample::select(vec![
        " ",
        " ",
        " ",
        "\n",
        "; ",
        " && ",
        " || ",
        " | ",
        " & ",
        "( ",
        " )",
        "{ ",
        "; }",
        "$(",
        ")",
        "\"$(",
        ")\"",
        "`",
        "\"",
        "'",
        " > f",
        " 2>&1 ",
        " <<E\n",
        "\nE\n",
        " <<'E'\n",
        " <<< ",
        " <(",
        " # ",
        "#",
        "if ",
        "; then ",
        "; else ",
        "; fi",
        "for i in x y",
        "; do ",
        "; done",
        "case x in ",
        "x) ",
        ";; ",
        " esac",
        "f() { ",
        "; f ",
        "[[ ",
        " ]]",
        "! ",
        "b=c ",
        "x=",
        "x=(",
        "a[1]=",
        "${x:-",
        "}",
        "eval ",
        "$((1+",
        "))",
        "\\\n",
        "\\",
        "bash -c '",
        "trap '",
        "' EXIT",
        "echo ",
        "{p9,",
        "}",
        "builtin ",
        "command ",
        "x+=",
        "=",
        "~",
        "&> f ",
        "|& ",
        "$x",
        "((",
        " :",
        "\t",
    ]);
    let piece = prop_oneof![2 => name.prop_map(str::to_owned), 3 => glue.prop_map(str::to_owned)];
    let texts = prop::collection::vec(piece, 2..12).prop_map(|pieces| pieces.concat());
    let mut runner = TestRunner::deterministic();
    let mut ran = 0;
    let prelude = "command_not_found_handle() { printf 'RAN:%s\\2' \"$1\" >&9; return 1; }; export -f command_not_found_handle; exec 9>&1 >/dev/null 2>&1; eval \"$1\"";
    for _ in 0..ROUNDS {
        let text = texts.new_tree(&mut runner).unwrap().current();
        let facts = understand(CommandText::Shell {
            kind: ShellKind::Bash,
            text: &text,
        });
        if !facts.not_understood.is_empty() || facts.commands.is_empty() || text.contains("until") {
            continue;
        }
        let output = Command::new("/usr/bin/timeout")
            .args(["2", bash, "-c", prelude, "_", &text])
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", "/nonexistent")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        for name in output
            .split('\u{2}')
            .filter_map(|line| line.strip_prefix("RAN:"))
        {
            ran += 1;
            let known = facts
                .commands
                .iter()
                .any(|command| command.program() == Some(name));
            assert!(
                known,
                "bash ran {name}, which the facts of {text:?} do not name: {:#?}",
                facts.commands
            );
        }
    }
    assert!(ran > 100, "bash ran only {ran}");
}

const ROUNDS: usize = 3000;
