//! What the front door for agents costs: from the start of `ringfence mcp` to its first answer, a `shell` call of
//! `true` beside the same fenced spawn, and the calls of 64 clients at once over HTTP beside those of eight.
//!
//! `cargo build --release && cargo bench -p ringfence-bench --bench mcp [-- --check]`. The program is the one beside
//! this benchmark's own folder, or `RINGFENCE_PROGRAM`.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use ringfence_bench::contest::{self, Contender, Times, Trouble};
use ringfence_bench::fenced::Fenced;
use ringfence_bench::program;
use ringfence_bench::target::{Bound, Target};
use ringfence_bench::venue::{self, Venue};
use ringfence_jail::{Input, Io};
use serde_json::{Value, json};

const STARTS: u32 = 40;
const CALLS: u32 = 200;
/// Calls over HTTP in one round, of all clients together.
const TOGETHER: usize = 512;
const ROUNDS: usize = 3;
const TOKEN: &str = "a-token-for-benchmarks";

fn main() -> ExitCode {
    ringfence_jail::serve_if_asked();
    venue::close(run())
}

fn run() -> Result<Vec<Target>, Trouble> {
    let program = program::find()?;
    let venue = Venue::open()?;
    let (home, work) = (venue.folder("home")?, venue.folder("work")?);
    let ours = || {
        let mut command = Command::new(&program);
        command
            .arg("mcp")
            .args(["--tools", "shell"])
            .current_dir(&work);
        command.env("HOME", &home).env_remove(program::VARIABLE);
        command
    };
    let (start, call, spawn) = pipes(&ours, &venue, &work)?;
    let above = (call.median().as_secs_f64() - spawn.median().as_secs_f64()) * 1e3;
    let (eight, many) = http(ours())?;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("\nmilliseconds, medians\n");
    println!(
        "{:<44} {:>7.2}",
        "start to first answer",
        ms(start.median())
    );
    println!("{:<44} {:>7.2}", "fenced spawn of true", ms(spawn.median()));
    println!(
        "{:<44} {:>7.2}",
        "shell call of true, over pipes",
        ms(call.median())
    );
    println!("\ncalls of true a second, over HTTP\n");
    println!("{:<44} {eight:>7.0}", "8 clients");
    println!("{:<44} {many:>7.0}", "64 clients");
    Ok(vec![
        Target {
            what: "start to first answer, ms",
            measured: ms(start.median()),
            bound: Bound::AtMost(60.0),
        },
        Target {
            what: "a call over pipes, ms above the spawn",
            measured: above,
            bound: Bound::AtMost(1.0),
        },
        Target {
            what: "64 clients / 8 clients, calls a second",
            measured: many / eight,
            bound: Bound::AtLeast(0.9),
        },
    ])
}

/// Times of starts, of calls and of fenced spawns.
fn pipes(
    ours: &dyn Fn() -> Command,
    venue: &Venue,
    work: &Path,
) -> Result<(Times, Times, Times), Trouble> {
    let mut starts = [Contender {
        name: "start".into(),
        turn: Box::new(|| {
            let begun = Instant::now();
            let server = Server::start(ours())?;
            let took = begun.elapsed();
            server.end()?;
            Ok(took)
        }),
    }];
    let mut start = [Times::default()];
    contest::hold(&mut starts, &mut start, STARTS)?;
    let [start] = start;
    let mut server = Server::start(ours())?;
    let fenced = {
        let _inside = venue.runtime.enter();
        Fenced::open(work)?
    };
    let spawn = || {
        let run = fenced.time(&["/bin/true"], Io::Pipes(Input::Null));
        venue.runtime.block_on(run)
    };
    let mut both = [
        Contender {
            name: "call".into(),
            turn: Box::new(|| {
                let begun = Instant::now();
                server.call()?;
                Ok(begun.elapsed())
            }),
        },
        Contender {
            name: "spawn".into(),
            turn: Box::new(spawn),
        },
    ];
    let mut warm_up = [Times::default(), Times::default()];
    contest::hold(&mut both, &mut warm_up, 20)?;
    let mut times = [Times::default(), Times::default()];
    contest::hold(&mut both, &mut times, CALLS)?;
    drop(both);
    server.end()?;
    let [call, spawn] = times;
    Ok((start, call, spawn))
}

/// A server over pipes that has shaken hands.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(mut command: Command) -> Result<Self, Trouble> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut server = Self {
            child,
            input,
            output,
        };
        server.ask(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            }}),
        )?;
        Ok(server)
    }

    fn ask(&mut self, request: &Value) -> Result<Value, Trouble> {
        self.input.write_all(format!("{request}\n").as_bytes())?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    fn call(&mut self) -> Result<(), Trouble> {
        let reply = self.ask(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "shell", "arguments": {"command": ["/bin/true"]}}}))?;
        succeeded(&reply)
    }

    fn end(self) -> Result<(), Trouble> {
        let Self {
            mut child,
            input,
            output,
        } = self;
        drop((input, output));
        child.wait()?;
        Ok(())
    }
}

fn succeeded(reply: &Value) -> Result<(), Trouble> {
    if reply["result"]["structuredContent"]["exit_code"] == 0 {
        Ok(())
    } else {
        Err(format!("a call went wrong: {reply}").into())
    }
}

/// Calls a second of eight clients and of sixty-four.
fn http(mut command: Command) -> Result<(f64, f64), Trouble> {
    let mut child = command
        .args(["--http", "127.0.0.1:0"])
        .env("RINGFENCE_MCP_TOKEN", TOKEN)
        .stderr(Stdio::piped())
        .spawn()?;
    let mut said = BufReader::new(child.stderr.take().ok_or("no word of it")?).lines();
    let at = loop {
        let line = said.next().ok_or("it does not say where it is")??;
        if let Some((_, url)) = line.split_once("http://") {
            break url.trim().trim_end_matches("/mcp").to_owned();
        }
    };
    let mut measured = Vec::new();
    crowd(&at, 8)?;
    for _ in 0..ROUNDS {
        measured.push((crowd(&at, 8)?, crowd(&at, 64)?));
    }
    child.kill()?;
    child.wait()?;
    let middle = |mut rates: Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    let (eight, many) = measured.into_iter().unzip();
    Ok((middle(eight), middle(many)))
}

#[allow(clippy::cast_precision_loss, reason = "some hundred calls")]
fn crowd(at: &str, clients: usize) -> Result<f64, Trouble> {
    let begun = Instant::now();
    let threads: Vec<_> = (0..clients)
        .map(|_| {
            let at = at.to_owned();
            std::thread::spawn(move || {
                client(&at, TOGETHER / clients).map_err(|error| error.to_string())
            })
        })
        .collect();
    for thread in threads {
        thread.join().map_err(|_| "a client broke off")??;
    }
    Ok(TOGETHER as f64 / begun.elapsed().as_secs_f64())
}

fn client(at: &str, calls: usize) -> Result<(), Trouble> {
    let mut stream = BufReader::new(TcpStream::connect(at)?);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "shell", "arguments": {"command": ["/bin/true"]}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }}})
    .to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {at}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
         Mcp-Name: shell\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    for _ in 0..calls {
        stream.get_mut().write_all(request.as_bytes())?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
        let mut answer = vec![0; length];
        stream.read_exact(&mut answer)?;
        succeeded(&serde_json::from_slice(&answer)?)?;
    }
    Ok(())
}
