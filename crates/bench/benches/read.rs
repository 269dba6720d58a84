//! How fast output is taken in: a fenced command prints 1 GB, and the harness keeps its head, its
//! tail and a file of it, against a plain `read` loop on an equal pipe.
//!
//! `cargo bench -p ringfence-bench --bench read [-- --check]`. With `--check` a target that is
//! clearly missed is a failure.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ringfence::output::{Outputs, Retention, SpillOptions, Transcript, TranscriptLimits};
use ringfence_bench::contest::{self, Contender, Times, Trouble, ratio};
use ringfence_bench::fenced::Fenced;
use ringfence_bench::target::{Bound, Target};
use ringfence_bench::venue::{self, Venue};
use ringfence_bench::{follow, plain};

const BYTES: u64 = 1 << 30;
const ROUNDS: u32 = 7;
/// What the harness may hold while 1 GB goes through.
const MOST_MEMORY: f64 = 64.0;

fn main() -> ExitCode {
    ringfence::init();
    venue::close(run())
}

fn run() -> Result<Vec<Target>, Trouble> {
    let venue = Venue::open()?;
    let fenced = Fenced::open(&venue.folder("workspace")?)?;
    let mut contenders = [
        Contender {
            name: "plain read loop".into(),
            turn: Box::new(|| plain::on_a_pipe(BYTES)),
        },
        Contender {
            name: "fenced, through the harness".into(),
            turn: Box::new(|| {
                venue
                    .runtime
                    .block_on(through_the_harness(&fenced, venue.path()))
            }),
        },
    ];
    let mut times = [Times::default(), Times::default()];
    contest::hold(&mut contenders, &mut times, ROUNDS)?;
    println!(
        "\n1 GB of output, {ROUNDS} runs each\n\n{:<32} {:>10} {:>8}",
        "", "median ms", "GB/s"
    );
    for (contender, times) in contenders.iter().zip(&times) {
        let median = times.median();
        let rate = 1.0 / median.as_secs_f64();
        println!(
            "{:<32} {:>10.0} {:>8.2}",
            contender.name,
            median.as_secs_f64() * 1e3,
            rate
        );
    }
    Ok(vec![
        Target {
            what: "rate of the harness / rate of a plain loop",
            measured: ratio(times[0].median(), times[1].median()),
            bound: Bound::AtLeast(0.7),
        },
        Target {
            what: "largest memory of this process, MiB",
            measured: largest_memory()?,
            bound: Bound::AtMost(MOST_MEMORY),
        },
    ])
}

async fn through_the_harness(fenced: &Fenced, scratch: &Path) -> Result<Duration, Trouble> {
    let job = plain::printer(BYTES);
    let start = Instant::now();
    let process = fenced.start(&job).await?;
    let limits = TranscriptLimits {
        buffer_bytes: 1 << 20,
        spill_after: 30_000,
        spill: Some(SpillOptions {
            outputs: Arc::new(Outputs::new(
                scratch.join("outputs").join("own"),
                scratch.join("register"),
                Retention {
                    age: Duration::from_hours(1),
                    bytes: 1 << 30,
                },
            )),
            cap: 64 << 20,
        }),
    };
    let transcript = Transcript::new("output", limits);
    let execution = follow::to_its_end(process, transcript, |_, _| {}).await?;
    let took = start.elapsed();
    plain::whole(execution.output.both.total(), BYTES)?;
    Ok(took)
}

/// The largest resident set that this process ever had, in MiB.
fn largest_memory() -> Result<f64, Trouble> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: f64 = line
        .and_then(|rest| rest.split_whitespace().next())
        .ok_or("no VmHWM in /proc/self/status")?
        .parse()?;
    Ok(kib / 1024.0)
}
