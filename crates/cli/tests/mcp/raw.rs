//! A client over pipes that says whatever a test wants.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::Place;

/// A server, and whoever talks to it.
pub(crate) struct Raw {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl Raw {
    pub(crate) fn start(place: &Place, flags: &[&str]) -> Self {
        let mut child = place
            .ringfence(&["mcp"])
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap();
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self {
            child,
            input,
            lines,
        }
    }

    /// One that has shaken hands, with these capabilities.
    pub(crate) fn greeted(place: &Place, flags: &[&str], capabilities: &Value) -> Self {
        let mut raw = Self::start(place, flags);
        raw.say(
            &json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": capabilities,
                "clientInfo": {"name": "test", "version": "1"},
            }}),
        );
        assert_eq!(
            raw.answer("hello")["result"]["protocolVersion"],
            "2025-06-18"
        );
        raw.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        raw
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn say(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    pub(crate) fn call(&mut self, id: &str, command: &str) {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "bash", "arguments": {"command": command}}}));
    }

    /// The next message that fits.
    pub(crate) fn until(&self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.lines.recv_timeout(Duration::from_mins(1));
            let line = line.expect("a message within a minute");
            if fits(&line) {
                return line;
            }
        }
    }

    pub(crate) fn answer(&self, id: &str) -> Value {
        self.until(|line| line["id"] == id && line.get("method").is_none())
    }

    /// It still serves.
    pub(crate) fn serves(&mut self) {
        self.call("still", "echo still here");
        let answer = self.answer("still");
        assert_eq!(
            answer["result"]["structuredContent"]["stdout"], "still here\n",
            "{answer}"
        );
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
