//! What a script's tool call costs above the fenced spawn that it comes to: thirty `exec` calls of `/bin/true`, one
//! after the other and in parallel, beside the same thirty spawns without a script.
//!
//! `cargo bench -p ringfence-bench --bench tool_calls [-- --check]`. All contenders run in turn, and four run at once
//! where things run in parallel, as a script's calls do.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt};
use ringfence::Engine;
use ringfence::approval::Scripted;
use ringfence::config::{Config, ScriptMode};
use ringfence::script::ScriptRequest;
use ringfence::shell::detect_shell;
use ringfence_bench::contest::{self, Contender, Times, Trouble};
use ringfence_bench::fenced::Fenced;
use ringfence_bench::target::{Bound, Target};
use ringfence_bench::venue::{self, Venue};
use ringfence_jail::{Input, Io};
use tokio::runtime::Runtime;

const JOB: &str = "/bin/true";
const CALLS: u32 = 30;
const AT_ONCE: usize = 4;
const ROUNDS: u32 = 12;

const IN_SEQUENCE: &str =
    "for (let i = 0; i < 30; i++) await tools.exec({ command: ['/bin/true'] }); return 30";
const IN_PARALLEL: &str =
    "const all = []; for (let i = 0; i < 30; i++) all.push(tools.exec({ command: ['/bin/true'] }));
    return (await Promise.all(all)).length";

fn main() -> ExitCode {
    ringfence::init();
    venue::close(run())
}

fn run() -> Result<Vec<Target>, Trouble> {
    let venue = Venue::open()?;
    let runtime = &venue.runtime;
    let folder = venue.folder("work")?;
    let fenced = Fenced::open(&folder)?;
    let engine = engine(&folder)?;
    let mut contenders = vec![
        Contender {
            name: "fenced spawns, in sequence".into(),
            turn: Box::new(|| runtime.block_on(spawns(&fenced, 1))),
        },
        Contender {
            name: "script, in sequence".into(),
            turn: Box::new(|| script(runtime, &engine, IN_SEQUENCE)),
        },
        Contender {
            name: "fenced spawns, four at once".into(),
            turn: Box::new(|| runtime.block_on(spawns(&fenced, AT_ONCE))),
        },
        Contender {
            name: "script, in parallel".into(),
            turn: Box::new(|| script(runtime, &engine, IN_PARALLEL)),
        },
    ];
    let mut warm = vec![Times::default(); contenders.len()];
    let mut times = warm.clone();
    contest::hold(&mut contenders, &mut warm, 2)?;
    contest::hold(&mut contenders, &mut times, ROUNDS)?;
    println!("\n{CALLS} calls of {JOB}, {ROUNDS} rounds, milliseconds per call\n");
    for (contender, times) in contenders.iter().zip(&times) {
        println!("{:<30} {:>7.2}", contender.name, each(times));
    }
    let above = |what, script: usize, alone: usize| Target {
        what,
        measured: each(&times[script]) - each(&times[alone]),
        bound: Bound::AtMost(1.0),
    };
    Ok(vec![
        above("a call in sequence, ms above the spawn", 1, 0),
        above("a call in parallel, ms above the spawn", 3, 2),
    ])
}

fn each(times: &Times) -> f64 {
    times.median().as_secs_f64() * 1000.0 / f64::from(CALLS)
}

async fn spawns(fenced: &Fenced, at_once: usize) -> Result<Duration, Trouble> {
    let start = Instant::now();
    let mut all = stream::iter(0..CALLS)
        .map(|_| fenced.time(&[JOB], Io::Pipes(Input::Null)))
        .buffer_unordered(at_once);
    while let Some(took) = all.next().await {
        took?;
    }
    Ok(start.elapsed())
}

fn script(runtime: &Runtime, engine: &Engine, source: &str) -> Result<Duration, Trouble> {
    runtime.block_on(async {
        let start = Instant::now();
        let call = engine.new_call();
        let run = engine.run_script(&call, ScriptRequest::new(source)).await?;
        match (run.output.output_json.as_deref(), run.output.error) {
            (Some("30"), None) => Ok(start.elapsed()),
            (other, error) => Err(format!("the script came to {other:?}: {error:?}").into()),
        }
    })
}

fn engine(workspace: &Path) -> Result<Engine, Trouble> {
    let mut config = Config::default();
    config.script.mode = ScriptMode::Enabled;
    Ok(Engine::builder(workspace)
        .environment([("PATH", "/usr/bin:/bin")])
        .home(std::env::home_dir().unwrap_or_default())
        .config(config)
        .shell(detect_shell(Some(Path::new("/bin/sh")), 0, None)?)
        .approver(Scripted::ApproveAll)
        .open()?)
}
