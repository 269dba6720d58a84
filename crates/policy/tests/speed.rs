//! The time for a verdict grows with the text, and not with its square.

use std::{fmt::Write as _, time::Instant};

use ringfence_policy::{
    Ground,
    classify::classify,
    facts::{CommandText, understand},
    shell::ShellKind,
};

fn many(count: usize, part: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for index in 0..count {
        let _ = write!(text, "{}", part(index));
    }
    text
}

/// Texts of a size, each with something that is there many times.
fn texts(size: usize) -> Vec<(&'static str, String)> {
    vec![
        ("letters", format!("ls -{}", "l".repeat(size))),
        ("sum", format!("echo $((x{}))", "+x".repeat(size / 2))),
        (
            "values",
            format!(
                "{}rm{}",
                many(size / 12, |i| format!("x=v{i};")),
                " $x".repeat(8)
            ),
        ),
        (
            "names",
            format!("{}ls", many(size / 12, |i| format!("x{i}=1;"))),
        ),
        ("operands", format!("cat{}", " f".repeat(size / 2))),
        ("options", format!("sort{}", " -k 1".repeat(size / 5))),
        ("splits", format!("sort{}", " ./$x".repeat(size / 5))),
        (
            "commands",
            many(size / 40, |i| format!("echo {i} | grep -n {i} ;")),
        ),
    ]
}

/// The best of several tries: others use the machine too.
fn milliseconds(text: &str) -> u128 {
    let ground = Ground::at("/home/u/work");
    let once = || {
        let start = Instant::now();
        let facts = understand(CommandText::Shell {
            kind: ShellKind::Bash,
            text,
        });
        classify(&facts, &ground);
        start.elapsed().as_millis()
    };
    (0..4).map(|_| once()).min().unwrap_or_default()
}

#[test]
fn twice_the_text_takes_twice_the_time() {
    for ((name, small), (_, large)) in texts(15_000).iter().zip(texts(60_000)) {
        let (small, large) = (milliseconds(small), milliseconds(&large));
        // Four times the text; a square would be sixteen times the time.
        assert!(large <= small.max(30) * 10, "{name}: {small} and {large}");
    }
}
