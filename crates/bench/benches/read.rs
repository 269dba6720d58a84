//! How fast output is taken in: a fenced command prints 1 GB, and the harness keeps its head, its
//! tail and a file of it, against a plain `read` loop on an equal pipe.
//!
//! `cargo bench -p ringfence-bench --bench read [-- --check]`. With `--check` a target that is
//! clearly missed is a failure.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use ringfence::output::{SpillPlace, Transcript, TranscriptLimits};
use ringfence::{Cancel, Timing, drive};
use ringfence_bench::contest::{self, Contender, Times, Trouble, ratio};
use ringfence_bench::fenced::Fenced;
use ringfence_bench::target::{Bound, Target};

const BYTES: u64 = 1 << 30;
/// Prints in large blocks, so that it is the reader who is measured and not the printer.
const JOB: [&str; 5] = ["dd", "if=/dev/zero", "bs=128K", "count=8192", "status=none"];
const ROUNDS: u32 = 7;
/// As large as the pipes of fenced commands, and read with as large a buffer.
const PIPE_BYTES: usize = 1 << 20;
const CHUNK: usize = 256 * 1024;
/// What the harness may hold while 1 GB goes through.
const MOST_MEMORY: f64 = 64.0;

fn main() -> ExitCode {
    ringfence::init();
    match run() {
        Ok(targets) => {
            let check = std::env::args().any(|argument| argument == "--check");
            let missed = targets.iter().any(Target::is_clearly_missed);
            ExitCode::from(u8::from(check && missed))
        }
        Err(trouble) => {
            println!("the benchmark could not run: {trouble}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<Vec<Target>, Trouble> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let scratch = tempfile::Builder::new()
        .prefix("ringfence-bench-")
        .tempdir_in("/var/tmp")?;
    let workspace = scratch.path().join("workspace");
    std::fs::create_dir(&workspace)?;
    let fenced = Fenced::open(&workspace)?;
    let mut contenders = [
        Contender {
            name: "plain read loop".into(),
            turn: Box::new(plain),
        },
        Contender {
            name: "fenced, through the harness".into(),
            turn: Box::new(|| runtime.block_on(through_the_harness(&fenced, scratch.path()))),
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
    let targets = vec![
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
    ];
    println!();
    for target in &targets {
        println!("{target}");
    }
    Ok(targets)
}

/// The least that anybody can do who wants to see all the output.
fn plain() -> Result<Duration, Trouble> {
    let start = Instant::now();
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    // An ordinary user has a budget for this, in both contenders.
    let _ = rustix::pipe::fcntl_setpipe_size(&reader, PIPE_BYTES);
    let mut child = Command::new(JOB[0])
        .args(&JOB[1..])
        .stdin(Stdio::null())
        .stdout(writer)
        .spawn()?;
    let mut reader = File::from(reader);
    let mut buffer = vec![0; CHUNK];
    let mut total = 0;
    loop {
        match reader.read(&mut buffer)? {
            0 => break,
            count => total += count as u64,
        }
    }
    child.wait()?;
    whole(total)?;
    Ok(start.elapsed())
}

async fn through_the_harness(fenced: &Fenced, scratch: &Path) -> Result<Duration, Trouble> {
    let start = Instant::now();
    let process = fenced.start(&JOB).await?;
    let limits = TranscriptLimits {
        buffer_bytes: 1 << 20,
        spill_after: 30_000,
        spill: Some(SpillPlace {
            folder: scratch.join("output"),
            cap: 64 << 20,
        }),
    };
    let timing = Timing {
        timeout: None,
        drain: Duration::from_secs(2),
    };
    let transcript = Transcript::new("output", limits);
    let execution = drive(process, timing, &Cancel::new(), transcript, |_, _| {}).await?;
    let took = start.elapsed();
    whole(execution.output.both.total())?;
    Ok(took)
}

fn whole(total: u64) -> Result<(), Trouble> {
    if total == BYTES {
        Ok(())
    } else {
        Err(format!("{total} bytes came").into())
    }
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
