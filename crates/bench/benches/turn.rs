//! What a turn of a model costs above the calls in it: four calls of `true`, side by side, in a loop with a journal and a
//! model that answers at once, beside the same four calls alone.
//!
//! `cargo bench -p ringfence-bench --bench turn [-- --check]`.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use ringfence::agent::{
    Agent, AgentEvent, AgentOptions, Ended, Journal, ModelAnswer, ModelClient, ModelRequest,
    SendError,
};
use ringfence::approval::Scripted;
use ringfence::dialect::provider::{Provider, ToolTable};
use ringfence::shell::detect_shell;
use ringfence::{Cancel, Engine};
use ringfence_bench::contest::{self, Contender, Times, Trouble};
use ringfence_bench::target::{Bound, Target};
use ringfence_bench::venue::{self, Venue};
use serde_json::json;

const CALLS: usize = 4;
const ROUNDS: u32 = 60;

fn main() -> ExitCode {
    ringfence::init();
    venue::close(run())
}

fn run() -> Result<Vec<Target>, Trouble> {
    let venue = Venue::open()?;
    let runtime = &venue.runtime;
    let (work, kept) = (venue.folder("work")?, venue.folder("kept")?);
    let engine = engine(&work)?;
    let tools = engine.tool_table(Provider::AnthropicMessages, |name| name == "bash", []);
    let mut contenders = vec![
        Contender {
            name: "four calls alone".into(),
            turn: Box::new(|| runtime.block_on(alone(&engine))),
        },
        Contender {
            name: "a turn of four calls".into(),
            turn: Box::new(|| runtime.block_on(in_a_turn(&engine, &tools, &kept))),
        },
    ];
    let mut warm = vec![Times::default(); contenders.len()];
    let mut times = warm.clone();
    contest::hold(&mut contenders, &mut warm, 5)?;
    contest::hold(&mut contenders, &mut times, ROUNDS)?;
    println!("\n{CALLS} calls of true, {ROUNDS} rounds, milliseconds\n");
    let median = |times: &Times| times.median().as_secs_f64() * 1000.0;
    for (contender, times) in contenders.iter().zip(&times) {
        println!("{:<30} {:>7.2}", contender.name, median(times));
    }
    Ok(vec![Target {
        what: "a turn of four calls, ms above the calls",
        measured: median(&times[1]) - median(&times[0]),
        bound: Bound::AtMost(1.0),
    }])
}

async fn alone(engine: &Engine) -> Result<Duration, Trouble> {
    let start = Instant::now();
    let calls = (0..CALLS).map(|_| engine.call("bash", json!({ "command": "true" })));
    try_join_all(calls).await?;
    Ok(start.elapsed())
}

async fn in_a_turn(engine: &Engine, tools: &ToolTable, kept: &Path) -> Result<Duration, Trouble> {
    let start = Instant::now();
    let path = kept.join(ringfence::identifier::random("conversation"));
    let journal = Journal::create(&path, Provider::AnthropicMessages)?;
    let options = AgentOptions {
        tools: tools.clone(),
        ..AgentOptions::default()
    };
    let mut agent = Agent::new(
        engine,
        Prompt,
        options,
        journal,
        Arc::new(|_: &AgentEvent<'_>| {}),
    );
    let report = agent.run(Some("Go."), &Cancel::new()).await?;
    if report.ended != Ended::Done || report.steps as usize != CALLS || report.failed_steps > 0 {
        return Err(format!("the turn came to {report:?}").into());
    }
    Ok(start.elapsed())
}

/// A model that answers at once.
struct Prompt;

impl ModelClient for Prompt {
    async fn send(&self, request: ModelRequest) -> Result<ModelAnswer, SendError> {
        let calls = (0..CALLS).map(|number| {
            json!({ "type": "tool_use", "id": format!("call_{number}"), "name": "bash", "input": { "command": "true" } })
        });
        let content = if request.body.contains("tool_result") {
            json!([{ "type": "text", "text": "Done." }])
        } else {
            calls.collect()
        };
        let body = json!({ "id": "m", "role": "assistant", "content": content, "stop_reason": "end_turn" });
        Ok(ModelAnswer::Whole(body.to_string().into_bytes()))
    }
}

fn engine(workspace: &Path) -> Result<Engine, Trouble> {
    Ok(Engine::builder(workspace)
        .environment([("PATH", "/usr/bin:/bin")])
        .home(std::env::home_dir().unwrap_or_default())
        .shell(detect_shell(Some(Path::new("/bin/sh")), 0, None)?)
        .approver(Scripted::ApproveAll)
        .open()?)
}
