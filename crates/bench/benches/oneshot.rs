//! What one command costs from the command line: `ringfence run -- true` beside `bwrap`, in an
//! empty folder and in one with three thousand others in it.
//!
//! `cargo build --release && cargo bench -p ringfence-bench --bench oneshot [-- --check]`. The
//! program is the one beside this benchmark's own folder, or `RINGFENCE_PROGRAM`.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use ringfence_bench::contest::{self, Contender, Times, Trouble, ratio};
use ringfence_bench::plain;
use ringfence_bench::program;
use ringfence_bench::target::{Bound, Target};
use ringfence_bench::venue::{self, Venue};

const ROUNDS: u32 = 60;
const FOLDERS: u32 = 3000;

fn main() -> ExitCode {
    venue::close(run())
}

fn run() -> Result<Vec<Target>, Trouble> {
    let program = program::find()?;
    let venue = Venue::open()?;
    let home = venue.folder("home")?;
    let (empty, large) = (venue.folder("empty")?, venue.folder("large")?);
    for number in 0..FOLDERS {
        std::fs::create_dir_all(large.join(format!("{}/{number}", number % 50)))?;
    }
    let ours = |folder: &Path| {
        let mut command = Command::new(&program);
        command.args(["run", "--", "true"]).current_dir(folder);
        command.env("HOME", &home).env_remove(program::VARIABLE);
        command
    };
    let names = [
        "ringfence run, empty folder",
        "ringfence run, 3,000 folders",
        "ringfence --version",
        "bwrap, same namespaces",
    ];
    let mut version = Command::new(&program);
    version.arg("--version").env_remove(program::VARIABLE);
    let commands = [ours(&empty), ours(&large), version, bubblewrap(&empty)];
    let mut contenders: Vec<Contender<'_>> = names
        .into_iter()
        .zip(commands)
        .map(|(name, mut command)| Contender {
            name: name.into(),
            turn: Box::new(move || plain::time(&mut command)),
        })
        .collect();
    let empty_times = || vec![Times::default(); names.len()];
    contest::hold(&mut contenders, &mut empty_times(), 5)?;
    let mut times = empty_times();
    contest::hold(&mut contenders, &mut times, ROUNDS)?;
    println!(
        "\none command, {ROUNDS} runs each, milliseconds\n\n{:<34} {:>7} {:>7}",
        "", "median", "p90"
    );
    for (name, times) in names.iter().zip(&times) {
        let [median, p90] =
            [times.median(), times.quantile(0.9)].map(|time| time.as_secs_f64() * 1e3);
        println!("{name:<34} {median:>7.2} {p90:>7.2}");
    }
    let medians: Vec<Duration> = times.iter().map(Times::median).collect();
    Ok(vec![
        Target {
            what: "run in an empty folder / bwrap",
            measured: ratio(medians[0], medians[3]),
            bound: Bound::AtMost(1.5),
        },
        Target {
            what: "run in a large folder / in an empty one",
            measured: ratio(medians[1], medians[0]),
            bound: Bound::AtMost(1.05),
        },
    ])
}

fn bubblewrap(workspace: &Path) -> Command {
    ringfence_bench::bubblewrap::command(workspace, "true")
}
