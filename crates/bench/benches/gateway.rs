//! What the gateway adds to a streamed answer: until its first byte, and for each event. The same answer of a fake model
//! is read directly and through the gateway, turn about.
//!
//! `cargo bench -p ringfence-bench --bench gateway [-- --check]`.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use ringfence::Engine;
use ringfence::config::{Config, ScriptMode};
use ringfence::shell::detect_shell;
use ringfence_bench::contest::{self, Contender, Times, Trouble};
use ringfence_bench::target::{Bound, Target};
use ringfence_bench::venue::{self, Venue};
use ringfence_gateway::{Gateway, Limits, Upstream, Upstreams};
use ringfence_model::{Client, Endpoint, Options};
use ringfence_testkit::model::{Answer, FakeModel, Part, Script};

/// Events of text in one answer; a few more begin and end it.
const EVENTS: u32 = 300;
const ROUNDS: u32 = 80;

/// When the clock stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    FirstByte,
    End,
}

fn main() -> ExitCode {
    ringfence::init();
    venue::close(run())
}

fn run() -> Result<Vec<Target>, Trouble> {
    let venue = Venue::open()?;
    let model = FakeModel::start(Script {
        otherwise: Some(Answer {
            piece: Some(4),
            ..Answer::of([Part::text("word".repeat(EVENTS as usize))])
        }),
        ..Script::default()
    })?;
    let gateway = serve(&venue.folder("work")?, &model.url())?;
    let direct = model.url();
    let mut contenders = Vec::new();
    for (name, until) in [
        ("first byte", Until::FirstByte),
        ("whole stream", Until::End),
    ] {
        for (place, url) in [("directly", &direct), ("by the gateway", &gateway)] {
            contenders.push(Contender {
                name: format!("{name}, {place}"),
                turn: Box::new(move || Ok(ask(url, until)?)),
            });
        }
    }
    let mut warm = vec![Times::default(); contenders.len()];
    let mut times = warm.clone();
    contest::hold(&mut contenders, &mut warm, 5)?;
    contest::hold(&mut contenders, &mut times, ROUNDS)?;
    println!("\n{EVENTS} events, {ROUNDS} rounds, milliseconds\n");
    let median = |times: &Times| times.median().as_secs_f64() * 1000.0;
    for (contender, times) in contenders.iter().zip(&times) {
        println!("{:<30} {:>7.3}", contender.name, median(times));
    }
    let added = |from: usize| median(&times[from + 1]) - median(&times[from]);
    Ok(vec![
        Target {
            what: "ms that the gateway adds to the first byte",
            measured: added(0),
            bound: Bound::AtMost(2.0),
        },
        Target {
            what: "ms that it adds for each event",
            measured: (added(2) - added(0)).max(0.0) / f64::from(EVENTS),
            bound: Bound::AtMost(0.1),
        },
    ])
}

/// A gateway on a thread of its own, with one thread as the program has it; says where it is.
fn serve(work: &Path, upstream: &str) -> Result<String, Trouble> {
    let mut config = Config::default();
    config.script.mode = ScriptMode::Enabled;
    config.audit.enabled = false;
    let engine = Engine::builder(work)
        .config(config)
        .shell(detect_shell(Some(Path::new("/bin/sh")), 0, None)?)
        .environment(std::env::vars())
        .open()?;
    let endpoint = Endpoint::new(upstream)?;
    let reached = Upstream::with_key_of_clients(Client::new(endpoint, Options::default()));
    let upstreams = Upstreams {
        openai: reached.clone(),
        anthropic: reached,
    };
    let gateway = Gateway::new(Arc::new(engine), upstreams, None, Limits::default())?;
    let gateway = Arc::new(gateway);
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let Ok(listener) = gateway.listen("127.0.0.1:0").await else {
                return;
            };
            if let Ok(address) = listener.local_addr() {
                let _ = tell.send(format!("http://{address}"));
            }
            let _ = gateway.serve(listener).await;
        });
    });
    Ok(told.recv()?)
}

/// Asks for an answer, on a connection of its own.
fn ask(url: &str, until: Until) -> std::io::Result<Duration> {
    let address = url.trim_start_matches("http://");
    let body =
        r#"{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}"#;
    let start = Instant::now();
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let request = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes())?;
    let mut seen = Vec::new();
    let mut piece = vec![0; 1 << 16];
    let mut first = None;
    loop {
        let many = stream.read(&mut piece)?;
        if many == 0 {
            return Err(std::io::Error::other("the answer ended too early"));
        }
        seen.extend_from_slice(&piece[..many]);
        if first.is_none() && contains(&seen, b"message_start") {
            first = Some(start.elapsed());
        }
        // Read to the end in any case, so that the next one finds nothing under way.
        if contains(&seen[seen.len().saturating_sub(200)..], b"message_stop\"}") {
            let whole = start.elapsed();
            return Ok(match until {
                Until::FirstByte => first.unwrap_or(whole),
                Until::End => whole,
            });
        }
    }
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}
