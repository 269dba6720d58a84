//! Any text, in any shell: the analyser neither panics nor works without bound, and what it does
//! not understand is never better than suspicious.
//!
//! `cargo +nightly fuzz run understand -- -max_total_time=60`

#![no_main]

use libfuzzer_sys::fuzz_target;
use ringfence_policy::{
    Ground, ShellKind,
    classify::{Class, classify},
    facts::{CommandText, MAX_STEPS, SimpleCommand, understand},
    propose::{canonical, propose},
    rule::Grant,
};

fuzz_target!(|input: (u8, &str)| {
    let (choice, text) = input;
    let kind = match choice % 5 {
        0 => ShellKind::Bash,
        1 => ShellKind::Zsh,
        2 => ShellKind::Sh,
        3 => ShellKind::PowerShell,
        _ => ShellKind::Cmd,
    };
    let ground = Ground::at("/home/u/work").with_home("/home/u");
    let facts = understand(CommandText::Shell { kind, text });
    assert!(facts.steps <= MAX_STEPS);
    let found = classify(&facts, &ground);
    assert!(facts.not_understood.is_empty() || found.class >= Class::Suspicious);
    assert!(facts.doubtful.is_empty() || found.class >= Class::Unknown);

    // What may leave the fence is the same command when it is written out again, word by word.
    if let Some(command) = facts.one_literal_command() {
        let quoted = command.words.iter().filter_map(|word| word.literal());
        let quoted = quoted.map(|word| format!("'{}'", word.replace('\'', r"'\''")));
        let written = quoted.collect::<Vec<_>>().join(" ");
        let again = understand(CommandText::Shell {
            kind: ShellKind::Bash,
            text: &written,
        });
        let words = |command: &SimpleCommand| -> Vec<Option<String>> {
            command.words.iter().map(|word| word.literal.clone()).collect()
        };
        if kind == ShellKind::Bash {
            let again = again.commands.first().map(words);
            assert_eq!(again, Some(words(command)));
        }
    }
    canonical(&facts);
    propose(&facts, &ground, &Grant::default());

    // A vector with a shell in it is read like the text, unless the shell takes it for an option.
    if kind == ShellKind::Bash && !text.contains('\0') && !text.starts_with(['-', '+']) {
        let argv = ["bash".to_owned(), "-c".to_owned(), text.to_owned()];
        let facts = understand(CommandText::Argv(&argv));
        let vector = classify(&facts, &ground);
        // The shell is one level more: what lies too deep for that is not understood any more.
        let least = if facts.not_understood.is_empty() {
            found.class
        } else {
            found.class.min(Class::Suspicious)
        };
        assert!(vector.class >= least);
    }
});
