//! What holds for every command.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;

use proptest::prelude::*;
use ringfence_policy::{
    Ground, ShellKind,
    classify::{Class, classify},
    facts::{CommandText, MAX_STEPS, Obstacle, understand},
    propose::{canonical, propose},
    rule::{Grant, Layer},
    ruleset::RuleSet,
};

const TABLES: &[&str] = &[
    include_str!("commands/reading.txt"),
    include_str!("commands/working.txt"),
    include_str!("commands/refused.txt"),
    include_str!("commands/attacks.txt"),
    include_str!("commands/field.txt"),
];

fn ground() -> Ground {
    Ground::at("/home/u/work").with_home("/home/u")
}

fn class(text: &str) -> Class {
    classify(
        &understand(CommandText::Shell {
            kind: ShellKind::Bash,
            text,
        }),
        &ground(),
    )
    .class
}

/// Commands of the tables that fit into one line and hold no comment or here-document.
fn commands() -> Vec<String> {
    let lines = TABLES.iter().flat_map(|table| table.lines());
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .filter(|line| !line.contains("unclear") && !line.contains("\\n") && !line.contains(" #"))
        .filter(|line| !line.contains("<<") && !line.trim_end().ends_with('&'))
        .filter_map(|line| line.split_once(' '))
        .map(|(_, rest)| {
            rest.split("    #>")
                .next()
                .unwrap_or(rest)
                .trim()
                .to_owned()
        })
        .filter(|command| {
            // Where a quote is left open, there is no second command.
            let facts = understand(CommandText::Shell {
                kind: ShellKind::Bash,
                text: command,
            });
            !facts
                .not_understood
                .iter()
                .any(|part| part.why == Obstacle::Syntax)
        })
        .collect()
}

/// Commands that are nothing but words. A quoted word is no reserved word, so those are left out.
fn plain_commands() -> Vec<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:%+@ ".contains(c);
    let mut all = commands();
    all.retain(|command| {
        let reserved = command
            .split(' ')
            .any(|word| matches!(word, "time" | "coproc" | "!"));
        command.chars().all(plain) && !reserved
    });
    all
}

/// Pieces that shell texts are made of, so that nonsense comes close to sense.
fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        " ", "\n", ";", "&", "&&", "||", "|", "|&", "(", ")", "{", "}", "((", "))", "[[", "]]",
        "$", "$(", "`", "${", "'", "\"", "\\", "<", ">", ">>", "<<", "<<-", "<<<", "<(", ">(",
        "&>", "2>&1", "#", "!", "=", "~", "*", "?", "[", "]", ",", "..", "$((", "\\\n", "\t", "\0",
        "\r", "if", "then", "fi", "for", "in", "do", "done", "while", "case", "esac", "function",
        "time", "coproc", "EOF", "EOF\n", "rm", "-rf", "/", "echo", "sh", "-c", "curl", "eval",
        "bash", "env", "find", "-exec", "{}", "xargs", "sudo", "X=", "$X", "$1", "@P", ":-", "é",
        "\u{a0}", "\u{202e}", "x", "1",
    ])
    .prop_map(str::to_owned);
    prop_oneof![8 => fixed, 1 => "[a-z]{1,6}", 1 => any::<char>().prop_map(String::from)]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..60).prop_map(|pieces| pieces.concat())
}

fn kind() -> impl Strategy<Value = ShellKind> {
    prop::sample::select(vec![
        ShellKind::Bash,
        ShellKind::Zsh,
        ShellKind::Sh,
        ShellKind::PowerShell,
        ShellKind::Cmd,
    ])
}

/// A word, written in one of the ways that mean the same.
fn written(word: &str, style: u8) -> String {
    let escaped: String = word.chars().flat_map(|c| ['\\', c]).collect();
    match style {
        0 => word.to_owned(),
        1 => format!("'{word}'"),
        2 => format!("\"{word}\""),
        3 => escaped,
        4 => format!("{}''{}", &word[..1], &word[1..]),
        5 => format!("'{}'\"{}\"", &word[..1], &word[1..]),
        _ => format!("$'{}'", hex(word)),
    }
}

/// A word as hexadecimal escapes.
fn hex(word: &str) -> String {
    let mut text = String::new();
    for c in word.chars() {
        let _ = write!(text, "\\x{:02x}", u32::from(c));
    }
    text
}

fn rules() -> RuleSet {
    let text = "[[rule]]\nprefix = [\"git\"]\ndecision = \"allow\"\n[[rule]]\nregex = \"rm.*x\"\ndecision = \"deny\"\n\
        [[rule]]\npath = \"~/secret\"\ndecision = \"deny\"\n[[rule]]\nglob = \"echo *\"\ndecision = \"allow\"\n";
    RuleSet::parse(Layer::User, "rules.toml", text).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn no_text_makes_the_analyser_panic_or_work_without_bound(text in text(), kind in kind()) {
        let facts = understand(CommandText::Shell { kind, text: &text });
        prop_assert!(facts.steps <= MAX_STEPS);
        prop_assert!(facts.commands.len() <= 1000);
        let found = classify(&facts, &ground());
        prop_assert!(!found.reasons.is_empty());
        if !facts.not_understood.is_empty() {
            prop_assert!(found.class >= Class::Suspicious);
        }
        rules().decide(&facts, &ground(), "bash");
        propose(&facts, &ground(), &Grant::default());
        canonical(&facts);
    }

    #[test]
    fn no_vector_makes_the_analyser_panic(argv in prop::collection::vec(piece(), 0..12)) {
        let facts = understand(CommandText::Argv(&argv));
        prop_assert!(facts.steps <= MAX_STEPS);
        classify(&facts, &ground());
        rules().decide(&facts, &ground(), "shell");
        propose(&facts, &ground(), &Grant::default());
    }

    #[test]
    fn quoting_a_word_differently_does_not_change_the_class(
        command in prop::sample::select(plain_commands()),
        styles in prop::collection::vec(0u8..7, 16),
    ) {
        let other: Vec<String> = command
            .split_whitespace()
            .zip(styles.iter().cycle())
            .map(|(word, style)| written(word, *style))
            .collect();
        prop_assert_eq!(class(&command), class(&other.join("  ")), "{} / {}", command, other.join(" "));
    }

    #[test]
    fn adding_a_command_never_improves_the_class(
        one in prop::sample::select(commands()),
        two in prop::sample::select(commands()),
        joint in prop::sample::select(vec![" && ", " || ", "; ", " | ", "\n", " & "]),
    ) {
        prop_assume!(!(joint == " | " && two.starts_with("! ")));
        let both = class(&format!("{one}{joint}{two}"));
        prop_assert!(both >= class(&one).max(class(&two)), "{one}{joint}{two} is {both}");
    }

    #[test]
    fn a_command_inside_another_never_improves(
        inner in prop::sample::select(commands()),
        frame in prop::sample::select(vec![
            "( @ )", "{ @; }", "echo $( @ )", "if true; then @; fi", "for i in 1; do @; done", "f() { @; }; f", "cat <( @ )",
            "while @; do :; done", "x=$( @ )", "case x in x) @;; esac", "! @", "time @", "cat <<EOF\n$( @ )\nEOF\n", "until @; do @; done",
        ]),
    ) {
        // A comment would swallow the rest of the frame.
        prop_assume!(!inner.contains('#'));
        let framed = frame.replace('@', &inner);
        prop_assert!(class(&framed) >= class(&inner), "{framed} is {}", class(&framed));
    }

    #[test]
    fn a_shell_in_a_shell_never_improves(
        inner in prop::sample::select(commands()),
        frame in prop::sample::select(vec!["bash -c @", "sh -ec @", "env bash -lc @", "eval @", "timeout 5 bash -c @", "trap @ EXIT", "su -c @"]),
    ) {
        let quoted = format!("'{}'", inner.replace('\'', "'\\''"));
        let framed = frame.replace('@', &quoted);
        prop_assert!(class(&framed) >= class(&inner), "{framed} is {}", class(&framed));
    }
}

/// What nobody expands costs nothing to read, up to the bound of the whole; what is expanded does.
#[test]
fn a_long_literal_here_document_is_understood() {
    let body = "one line of it; rm -rf /\n".repeat(20_000);
    for (text, expected) in [
        (format!("cat <<'EOF'\n{body}EOF\n"), "read-only"),
        (format!("cat <<\\EOF | wc -c\n{body}EOF\n"), "read-only"),
        (format!("cat <<EOF\n{body}EOF\n"), "suspicious"),
        (format!("bash <<'EOF'\n{body}EOF\n"), "suspicious"),
        (
            format!("cat <<'EOF'; {}\n{body}EOF\n", "a;".repeat(40_000)),
            "suspicious",
        ),
        // Read as arithmetic first, and then again.
        (
            "((((($#rrr\n<<\t''\t\u{1}<\t''\tl\nl\n\n<\t\tc`".to_owned(),
            "suspicious",
        ),
    ] {
        assert_eq!(class(&text).to_string(), expected, "{}", &text[..20]);
    }
}

/// Texts that are made to cost much.
#[test]
fn the_worst_texts_stay_within_the_budget() {
    let full = 64 * 1024;
    for unit in [
        "a",
        "a ",
        "{",
        "{a,",
        "$(",
        "$((",
        "((",
        "(",
        "`",
        "${x:-",
        "\"$(",
        "a;",
        "a|",
        "a=b;",
        "x=$x$(a) ",
        "[[ ",
        "<<E ",
        "cd ..;",
        "\\",
        "'",
        "a&",
        "$x",
        "{a,b}",
        "f(){ ",
        "if a;then ",
        "case a in ",
        "~",
        "[",
        "!",
        "sh|",
        "curl|sh|",
        "env ",
        "sudo env nice ",
        "find . -exec ",
        "bash -c ",
        "eval ",
        "xargs ",
        "rm -rf $x;x=$x/; ",
    ] {
        let text = unit.repeat(full / unit.len());
        let facts = understand(CommandText::Shell {
            kind: ShellKind::Bash,
            text: &text,
        });
        assert!(facts.steps <= MAX_STEPS, "{unit}");
        assert!(facts.commands.len() <= 1000, "{unit}");
        classify(&facts, &ground());
    }
    let long = "a".repeat(full + 1);
    assert_eq!(class(&long), Class::Suspicious);
    assert_eq!(class(&format!("rm -rf / {long}")), Class::Suspicious);
}
