//! What the fence costs: `/bin/true` started plainly, inside the fence, and through bubblewrap.
//!
//! `cargo bench -p ringfence-bench --bench spawn [-- --check]`. All contenders run in turn. Half
//! of the rounds are run while this process holds 1 GB of memory, which makes a fork of it slow:
//! the fence must not notice. With `--check` a target that is clearly missed is a failure.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use ringfence_bench::contest::{self, Contender, Times, Trouble, ratio};
use ringfence_bench::fenced::{Fenced, TERMINAL};
use ringfence_bench::target::{Bound, Target};
use ringfence_bench::venue::{self, Venue};
use ringfence_bench::{bubblewrap, plain};
use ringfence_jail::{Input, Io};
use tokio::runtime::Runtime;

const JOB: &str = "/bin/true";
const BLOCKS: u32 = 5;
const ROUNDS_PER_BLOCK: u32 = 60;
const RUNS: u32 = BLOCKS * ROUNDS_PER_BLOCK;
const HELD_BYTES: usize = 1 << 30;

const PLAIN: &str = "plain spawn";
const FENCED: &str = "fenced, workspace is a repository";
const FENCED_PLAIN_FOLDER: &str = "fenced, workspace is a plain folder";
const FENCED_TERMINAL: &str = "fenced, on a terminal";
const BUBBLEWRAP: &str = "bwrap, same namespaces";

fn main() -> ExitCode {
    ringfence_jail::serve_if_asked();
    venue::close(run())
}

fn run() -> Result<Vec<Target>, Trouble> {
    let venue = Venue::open()?;
    let runtime = &venue.runtime;
    let repository = repository(venue.path())?;
    let folder = venue.folder("folder")?;
    let in_repository = Fenced::open(&repository)?;
    let in_folder = Fenced::open(&folder)?;

    let mut contenders = vec![
        Contender {
            name: PLAIN.into(),
            turn: Box::new(|| plain::time(&mut Command::new(JOB))),
        },
        fenced(FENCED, runtime, &in_repository, on_pipes),
        fenced(FENCED_PLAIN_FOLDER, runtime, &in_folder, on_pipes),
        fenced(FENCED_TERMINAL, runtime, &in_repository, on_a_terminal),
    ];
    if has_bubblewrap() {
        let workspace = repository.clone();
        let turn = Box::new(move || plain::time(&mut bubblewrap::command(&workspace, JOB)));
        contenders.push(Contender {
            name: BUBBLEWRAP.into(),
            turn,
        });
    } else {
        println!("bwrap is not installed: that comparison is left out");
    }
    let both = measure(&mut contenders)?;
    let mut targets = report(&contenders, &both);
    drop(contenders);
    targets.push(without_rest(runtime, &in_repository)?);
    Ok(targets)
}

/// Times of every contender, while this process is small and while it is large.
struct Both {
    small: Vec<Times>,
    large: Vec<Times>,
}

fn measure(contenders: &mut [Contender<'_>]) -> Result<Both, Trouble> {
    let empty = || vec![Times::default(); contenders.len()];
    let (mut warm, mut both) = (
        empty(),
        Both {
            small: empty(),
            large: empty(),
        },
    );
    contest::hold(contenders, &mut warm, 10)?;
    for _ in 0..BLOCKS {
        contest::hold(contenders, &mut both.small, ROUNDS_PER_BLOCK)?;
        // Written, so that it is there; odd numbers, so that no page is like another.
        let held: Vec<u32> = (0..).take(HELD_BYTES / 4).collect();
        contest::hold(contenders, &mut both.large, ROUNDS_PER_BLOCK)?;
        std::hint::black_box(&held);
    }
    Ok(both)
}

fn report(contenders: &[Contender<'_>], both: &Both) -> Vec<Target> {
    let at = |name: &str| {
        contenders
            .iter()
            .position(|contender| contender.name == name)
    };
    let plain = both.small[0].median();
    println!(
        "\n{JOB}, {RUNS} runs each, milliseconds\n\n{:<38} {:>7} {:>7} {:>8} {:>12}",
        "", "median", "p90", "× plain", "holding 1 GB"
    );
    for (index, contender) in contenders.iter().enumerate() {
        let (small, large) = (&both.small[index], &both.large[index]);
        println!(
            "{:<38} {:>7.2} {:>7.2} {:>8.2} {:>12.2}",
            contender.name,
            millis(small.median()),
            millis(small.quantile(0.9)),
            ratio(small.median(), plain),
            millis(large.median()),
        );
    }
    let mut targets = Vec::new();
    if let Some(fenced) = at(FENCED) {
        let (small, large) = (both.small[fenced].median(), both.large[fenced].median());
        targets.push(Target {
            what: "fenced / plain",
            measured: ratio(small, plain),
            bound: Bound::AtMost(1.5),
        });
        if let Some(bubblewrap) = at(BUBBLEWRAP) {
            targets.push(Target {
                what: "fenced / bwrap",
                measured: ratio(small, both.small[bubblewrap].median()),
                bound: Bound::AtMost(0.25),
            });
        }
        targets.push(Target {
            what: "fenced holding 1 GB / fenced",
            measured: ratio(large, small),
            bound: Bound::AtMost(1.05),
        });
    }
    targets
}

/// Runs that follow each other at once: here the preparation of the next run and the tidying up
/// after the last one count too.
fn without_rest(runtime: &Runtime, fenced: &Fenced) -> Result<Target, Trouble> {
    let mut totals = [Duration::ZERO; 2];
    for _ in 0..BLOCKS {
        let start = Instant::now();
        for _ in 0..ROUNDS_PER_BLOCK {
            plain::time(&mut Command::new(JOB))?;
        }
        totals[0] += start.elapsed();
        let start = Instant::now();
        for _ in 0..ROUNDS_PER_BLOCK {
            runtime.block_on(fenced.time(&[JOB], on_pipes()))?;
        }
        totals[1] += start.elapsed();
    }
    let each = |total: Duration| millis(total) / f64::from(RUNS);
    println!(
        "\nwithout a pause between runs, the mean of each: plain {:.2}, fenced {:.2}",
        each(totals[0]),
        each(totals[1])
    );
    Ok(Target {
        what: "fenced / plain, back to back",
        measured: each(totals[1]) / each(totals[0]),
        bound: Bound::AtMost(2.5),
    })
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn fenced<'a>(
    name: &str,
    runtime: &'a Runtime,
    fenced: &'a Fenced,
    io: fn() -> Io,
) -> Contender<'a> {
    Contender {
        name: name.into(),
        turn: Box::new(move || runtime.block_on(fenced.time(&[JOB], io()))),
    }
}

fn on_pipes() -> Io {
    Io::Pipes(Input::Null)
}

fn on_a_terminal() -> Io {
    Io::Terminal(TERMINAL)
}

fn has_bubblewrap() -> bool {
    Command::new("bwrap")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// A workspace as most of them are: a git repository.
fn repository(below: &Path) -> Result<PathBuf, Trouble> {
    let path = below.join("repository");
    std::fs::create_dir_all(path.join(".git/hooks"))?;
    std::fs::create_dir_all(path.join(".git/objects"))?;
    std::fs::create_dir_all(path.join(".git/refs"))?;
    std::fs::write(path.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    std::fs::write(
        path.join(".git/config"),
        "[core]\n\trepositoryformatversion = 0\n",
    )?;
    Ok(path)
}
