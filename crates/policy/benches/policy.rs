//! What a verdict costs: understanding, classifying and asking 1,000 rules, for commands of several
//! sizes. Prints a table of medians.

#![allow(clippy::expect_used, reason = "a benchmark may panic")]
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use ringfence_policy::{
    Ground, ShellKind,
    classify::classify,
    facts::{CommandText, understand},
    rule::Layer,
    ruleset::RuleSet,
};

const COMMANDS: &[(&str, &str)] = &[
    ("one command", "git status --short"),
    (
        "5-command pipeline",
        "cat src/main.rs | grep -n 'fn ' | sort -u | head -20 | wc -l",
    ),
    (
        "5-command pipeline, unknown",
        "foo --x a | bar 'b c' | baz -q | qux --long=1 | quux > out.txt",
    ),
    (
        "compound with substitutions",
        "cd src && for f in $(git ls-files '*.rs'); do wc -l \"$f\"; done | sort -n | tail -1",
    ),
    (
        "shell in a shell",
        "bash -lc 'cargo build 2>&1 | tee build.log && echo done'",
    ),
];

fn rules() -> RuleSet {
    let mut text = String::new();
    for index in 0..1000 {
        let rule = match index % 10 {
            0 => format!("[[rule]]\nprefix = [\"git\", \"sub{index}\"]\ndecision = \"allow\"\n"),
            1 => format!("[[rule]]\nglob = \"npm run script{index} *\"\ndecision = \"allow\"\n"),
            2 => format!("[[rule]]\nhost = \"h{index}.example.com\"\ndecision = \"allow\"\n"),
            3 => format!(
                "[[rule]]\npath = \"/srv/p{index}\"\naccess = \"write\"\ndecision = \"allow\"\n"
            ),
            4 => format!("[[rule]]\ntool = \"mcp.server{index}.*\"\ndecision = \"ask\"\n"),
            _ => format!(
                "[[rule]]\nprefix = [\"tool{index}\", [\"a\", \"b\"]]\ndecision = \"allow\"\n"
            ),
        };
        text.push_str(&rule);
    }
    text.push_str("[[rule]]\nregex = \"curl.*\\\\|.*bash\"\ndecision = \"deny\"\n");
    RuleSet::parse(Layer::User, "bench.toml", &text).expect("the rules are valid")
}

fn main() {
    let ground = Ground::at("/home/u/work").with_home("/home/u");
    let rules = rules();
    println!(
        "{:<30} {:>12} {:>12} {:>12} {:>12}",
        "verdict with 1,001 rules", "facts", "class", "rules", "all"
    );
    for (name, text) in COMMANDS {
        let median = |work: &dyn Fn()| {
            for _ in 0..200 {
                work();
            }
            let mut times: Vec<u128> = (0..2001)
                .map(|_| {
                    let start = Instant::now();
                    work();
                    start.elapsed().as_nanos()
                })
                .collect();
            times.sort_unstable();
            times[times.len() / 2]
        };
        let command = CommandText::Shell {
            kind: ShellKind::Bash,
            text,
        };
        let facts = understand(command);
        let reading = median(&|| _ = black_box(understand(black_box(command))));
        let sorting = median(&|| _ = black_box(classify(black_box(&facts), &ground)));
        let asking = median(&|| _ = black_box(rules.decide(black_box(&facts), &ground, "bash")));
        let all = median(&|| {
            let facts = understand(black_box(command));
            black_box(classify(&facts, &ground));
            black_box(rules.decide(&facts, &ground, "bash"));
        });
        let micros = |nanos: u128| format!("{}.{:02} µs", nanos / 1000, nanos % 1000 / 10);
        println!(
            "{name:<30} {:>12} {:>12} {:>12} {:>12}",
            micros(reading),
            micros(sorting),
            micros(asking),
            micros(all)
        );
    }
    println!(
        "\n{:<30} {:>12} {:>12} {:>12}",
        "64 KiB of", "steps", "facts", "facts+class"
    );
    for unit in WORST {
        let text = unit.repeat(64 * 1024 / unit.len());
        let command = CommandText::Shell {
            kind: ShellKind::Bash,
            text: &text,
        };
        let start = Instant::now();
        let facts = understand(command);
        let reading = start.elapsed();
        black_box(classify(&facts, &ground));
        black_box(rules.decide(&facts, &ground, "bash"));
        let all = start.elapsed();
        let name = unit.escape_debug().to_string();
        println!(
            "{name:<30} {:>12} {reading:>12.2?} {all:>12.2?}",
            facts.steps
        );
    }
    growth(&ground);
}

/// What four times the text costs: four times as much, and not sixteen.
fn growth(ground: &Ground) {
    println!(
        "\n{:<30} {:>12} {:>12} {:>12}",
        "many", "15 KB", "60 KB", "ratio"
    );
    for ((name, small), (_, large)) in many(15_000).iter().zip(many(60_000)) {
        let (small, large) = (best_of_four(small, ground), best_of_four(&large, ground));
        let ratio = large.as_secs_f64() / small.as_secs_f64();
        println!("{name:<30} {small:>12.2?} {large:>12.2?} {ratio:>12.1}");
    }
}

fn best_of_four(text: &str, ground: &Ground) -> Duration {
    let once = || {
        let kind = ShellKind::Bash;
        let start = Instant::now();
        black_box(classify(
            &understand(CommandText::Shell { kind, text }),
            ground,
        ));
        start.elapsed()
    };
    (0..4).map(|_| once()).min().unwrap_or_default()
}

/// Texts of a size, each with something that is there many times.
fn many(size: usize) -> Vec<(&'static str, String)> {
    let numbered = |count: usize, part: fn(usize) -> String| (0..count).map(part).collect();
    let values: String = numbered(size / 12, |i| format!("x=v{i};"));
    let names: String = numbered(size / 12, |i| format!("x{i}=1;"));
    vec![
        ("letters", format!("ls -{}", "l".repeat(size))),
        ("sum", format!("echo $((x{}))", "+x".repeat(size / 2))),
        ("values", format!("{values}rm{}", " $x".repeat(8))),
        ("names", format!("{names}ls")),
        ("operands", format!("cat{}", " f".repeat(size / 2))),
        ("options", format!("sort{}", " -k 1".repeat(size / 5))),
        ("splits", format!("sort{}", " ./$x".repeat(size / 5))),
        (
            "commands",
            numbered(size / 40, |i| format!("echo {i} | grep -n {i} ;")),
        ),
    ]
}

/// Texts that are made to cost much.
const WORST: &[&str] = &[
    "a",
    "a ",
    "a;",
    "a|",
    "{",
    "{a,b}",
    "$(",
    "((",
    "`",
    "${x:-",
    "cd ..;",
    "$x",
    "sh|",
    "curl|sh|",
    "rm -rf $x;x=$x/; ",
    "x=$x$(a) ",
    "find . -exec ",
    "a=b;c $a;",
    "f(){ f|f& };",
    "echo x|sh;",
    "env ",
    "eval ",
    "echo $x;x=a;",
    "ls -la /a/b;",
];
