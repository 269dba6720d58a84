//! How fast output is streamed: a fenced command prints to a pipe or to a terminal, and what it
//! prints is kept, handed on piece by piece, or drawn on a screen. Each beside a plain `read` loop.
//!
//! `cargo bench -p ringfence-bench --bench stream [-- --check]`. With `--check` a target that is
//! clearly missed is a failure.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use ringfence::jail::{Output, Terminal};
use ringfence::output::{
    DeltaLimits, Deltas, HeadTail, Screen, Stream, Transcript, TranscriptLimits,
};
use ringfence_bench::contest::{self, Contender, Times, Trouble, Turn, ratio};
use ringfence_bench::fenced::{Fenced, TERMINAL};
use ringfence_bench::target::{Bound, Target};
use ringfence_bench::venue::{self, Venue};
use ringfence_bench::{follow, plain};

const PIPE_MIB: u32 = 128;
/// A terminal passes on 4 KiB at a time, which is slow in all contenders.
const TERMINAL_MIB: u32 = 16;
const ROUNDS: u32 = 7;
const BUFFER_BYTES: usize = 1 << 20;

/// As large as in a call. Their number is not bounded here: all of the output is streamed.
const DELTAS: DeltaLimits = DeltaLimits {
    piece_bytes: 8 * 1024,
    pieces: usize::MAX,
};

const PLAIN_PIPE: &str = "plain read loop on a pipe";
const PIPE: &str = "fenced, pipe";
const PIPE_DELTAS: &str = "fenced, pipe, deltas";
const PLAIN_TERMINAL: &str = "plain read loop on a terminal";
const TTY: &str = "fenced, terminal";
const TTY_DELTAS: &str = "fenced, terminal, deltas";
const TTY_SCREEN: &str = "fenced, terminal, screen";

fn main() -> ExitCode {
    ringfence::init();
    venue::close(run())
}

fn run() -> Result<Vec<Target>, Trouble> {
    let venue = Venue::open()?;
    let fenced = Fenced::open(&venue.folder("workspace")?)?;
    let on_pipe = |deltas| -> Turn<'_> {
        let (venue, fenced) = (&venue, &fenced);
        Box::new(move || venue.runtime.block_on(pipe(fenced, deltas)))
    };
    let on_terminal = |with| -> Turn<'_> {
        let (venue, fenced) = (&venue, &fenced);
        Box::new(move || venue.runtime.block_on(terminal(fenced, with)))
    };
    let turns: [(&str, Turn<'_>); 7] = [
        (PLAIN_PIPE, Box::new(|| plain::on_a_pipe(bytes(PIPE_MIB)))),
        (PIPE, on_pipe(None)),
        (PIPE_DELTAS, on_pipe(Some(DELTAS))),
        (
            PLAIN_TERMINAL,
            Box::new(|| plain::on_a_terminal(bytes(TERMINAL_MIB))),
        ),
        (TTY, on_terminal(With::Nothing)),
        (TTY_DELTAS, on_terminal(With::Deltas)),
        (TTY_SCREEN, on_terminal(With::Screen)),
    ];
    let mut contenders = turns.map(|(name, turn)| Contender {
        name: name.into(),
        turn,
    });
    let mut times = vec![Times::default(); contenders.len()];
    contest::hold(&mut contenders, &mut times, ROUNDS)?;
    report(&contenders, &times)
}

fn report(contenders: &[Contender<'_>], times: &[Times]) -> Result<Vec<Target>, Trouble> {
    let of = |name: &str| {
        let at = contenders.iter().position(|one| one.name == name);
        at.map(|at| times[at].median()).ok_or("no such contender")
    };
    println!(
        "\n{PIPE_MIB} MiB of output on pipes and {TERMINAL_MIB} MiB on terminals, {ROUNDS} runs each\n\n\
         {:<32} {:>10} {:>8} {:>14}",
        "", "median ms", "MiB/s", "× plain's rate"
    );
    for (contender, times) in contenders.iter().zip(times) {
        let (plain, mib) = if contender.name.contains("terminal") {
            (PLAIN_TERMINAL, TERMINAL_MIB)
        } else {
            (PLAIN_PIPE, PIPE_MIB)
        };
        let seconds = times.median().as_secs_f64();
        println!(
            "{:<32} {:>10.0} {:>8.0} {:>14.2}",
            contender.name,
            seconds * 1e3,
            f64::from(mib) / seconds,
            ratio(of(plain)?, times.median()),
        );
    }
    Ok(vec![
        Target {
            what: "pipe with deltas / plain loop, rate",
            measured: ratio(of(PLAIN_PIPE)?, of(PIPE_DELTAS)?),
            bound: Bound::AtLeast(0.6),
        },
        Target {
            what: "deltas on / deltas off, rate",
            measured: ratio(of(PIPE)?, of(PIPE_DELTAS)?),
            bound: Bound::AtLeast(0.8),
        },
        Target {
            what: "terminal / plain loop on one, rate",
            measured: ratio(of(PLAIN_TERMINAL)?, of(TTY)?),
            bound: Bound::AtLeast(0.7),
        },
    ])
}

fn bytes(mib: u32) -> u64 {
    u64::from(mib) << 20
}

/// Output through pipes, driven by the harness.
async fn pipe(fenced: &Fenced, limits: Option<DeltaLimits>) -> Result<Duration, Trouble> {
    let job = plain::printer(bytes(PIPE_MIB));
    let start = Instant::now();
    let process = fenced.start(&job).await?;
    let transcript = Transcript::new(
        "output",
        TranscriptLimits {
            buffer_bytes: BUFFER_BYTES,
            spill_after: usize::MAX,
            spill: None,
        },
    );
    let mut deltas = limits.map(Deltas::new);
    let mut listener = Listener::default();
    let execution = follow::to_its_end(process, transcript, |stream, bytes| {
        if let Some(deltas) = &mut deltas {
            deltas.push(stream, bytes, |delta| listener.take(&delta));
        }
    })
    .await?;
    let took = start.elapsed();
    plain::whole(execution.output.both.total(), bytes(PIPE_MIB))?;
    if deltas.is_some() {
        plain::whole(listener.bytes, bytes(PIPE_MIB))?;
    }
    Ok(took)
}

/// What is done with a terminal's output besides keeping it.
#[derive(Clone, Copy)]
enum With {
    Nothing,
    Deltas,
    Screen,
}

/// Output through a terminal.
async fn terminal(fenced: &Fenced, with: With) -> Result<Duration, Trouble> {
    let job = plain::printer(bytes(TERMINAL_MIB));
    let start = Instant::now();
    let mut process = fenced.start_on_terminal(&job).await?;
    let Some(Output::Terminal(terminal)) = process.output.take() else {
        return Err("no terminal".into());
    };
    let total = match with {
        With::Nothing => keep(&terminal, |_| {}).await?,
        With::Deltas => {
            let mut deltas = Deltas::new(DELTAS);
            let mut listener = Listener::default();
            keep(&terminal, |bytes| {
                deltas.push(Stream::Stdout, bytes, |delta| listener.take(&delta));
            })
            .await?;
            listener.bytes
        }
        With::Screen => {
            let mut screen = Screen::new(TERMINAL);
            keep(&terminal, |bytes| drop(screen.feed(bytes))).await?
        }
    };
    process.exited().await?;
    let took = start.elapsed();
    plain::whole(total, bytes(TERMINAL_MIB))?;
    Ok(took)
}

/// Reads to the end, into a buffer and into something else.
async fn keep(terminal: &Terminal, mut also: impl FnMut(&[u8])) -> Result<u64, Trouble> {
    let mut kept = HeadTail::new(BUFFER_BYTES);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match terminal.read(&mut buffer).await? {
            0 => return Ok(kept.total()),
            count => {
                kept.push(&buffer[..count]);
                also(&buffer[..count]);
            }
        }
    }
}

/// Somebody who takes pieces and looks at each once.
#[derive(Default)]
struct Listener {
    bytes: u64,
}

impl Listener {
    fn take(&mut self, delta: &ringfence::output::Delta<'_>) {
        if let ringfence::output::Delta::Text { text, .. } = std::hint::black_box(delta) {
            self.bytes += text.len() as u64;
        }
    }
}
