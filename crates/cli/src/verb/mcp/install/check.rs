//! Whether an agent's entry works: the server is started as the agent would, and a tool is called.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::client::{Started, WORKSPACE};

/// So long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// What was found.
pub(super) struct Found {
    pub(super) tools: usize,
    /// From the start to the first answer.
    pub(super) first_answer: Duration,
}

/// Starts the server, lists its tools and calls one.
pub(super) fn run(started: &Started) -> Result<Found> {
    let here = std::env::current_dir()?.display().to_string();
    let begun = Instant::now();
    let child = Command::new(&started.program)
        .args(
            started
                .arguments
                .iter()
                .map(|word| word.replace(WORKSPACE, &here)),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let child = child.with_context(|| format!("`{}` cannot be started", started.program))?;
    let mut server = Server::new(child)?;
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "ringfence mcp install --check", "version": env!("CARGO_PKG_VERSION")}});
    server.ask("initialize", &hello)?;
    let first_answer = begun.elapsed();
    let tools = server.ask("tools/list", &json!({}))?;
    let names: Vec<&str> = tools["tools"]
        .as_array()
        .map(|tools| {
            tools
                .iter()
                .filter_map(|tool| tool["name"].as_str())
                .collect()
        })
        .unwrap_or_default();
    let (tool, arguments) = if names.contains(&"bash") {
        ("bash", json!({"command": "true"}))
    } else {
        ("run_code", json!({"source": "export default 1"}))
    };
    let reply = server.ask("tools/call", &json!({"name": tool, "arguments": arguments}))?;
    if reply["isError"] == true {
        let text = reply["content"][0]["text"].as_str().unwrap_or_default();
        bail!("`{tool}` was called and failed: {text}");
    }
    Ok(Found {
        tools: names.len(),
        first_answer,
    })
}

struct Server {
    child: Child,
    lines: Receiver<String>,
    asked: u64,
}

impl Server {
    fn new(mut child: Child) -> Result<Self> {
        let output = child.stdout.take().context("it has no output")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            child,
            lines,
            asked: 0,
        })
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.asked += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        let input = self.child.stdin.as_mut().context("it has no input")?;
        writeln!(input, "{request}").with_context(|| format!("it does not read `{method}`"))?;
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.with_context(|| format!("it does not answer `{method}`"))?;
            let mut answer: Value = serde_json::from_str(&line)
                .with_context(|| format!("it prints something else than the protocol: {line}"))?;
            if answer["id"] != self.asked {
                continue;
            }
            if let Some(error) = answer.get("error") {
                bail!("it answers `{method}` with an error: {}", error["message"]);
            }
            return Ok(answer["result"].take());
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It ends with its input.
        let _ = self.child.wait();
    }
}
