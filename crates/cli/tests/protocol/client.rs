//! A client: says lines, hears lines, and keeps what it was not waiting for.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::Place;

/// Longer than anything here takes, unless it hangs.
const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) struct Client {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// What was heard while something else was waited for.
    pub(crate) heard: Vec<Value>,
}

impl Client {
    /// A program that nothing has been said to.
    pub(crate) fn start(place: &Place, flags: &[&str]) -> Self {
        let mut arguments = vec!["session"];
        arguments.extend(flags);
        let mut child = place
            .ringfence(&arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            heard: Vec::new(),
        }
    }

    /// A session that is open.
    pub(crate) fn open(place: &Place, options: &Value) -> Self {
        let mut client = Self::start(place, &[]);
        let opened = client.initialize(options);
        assert!(opened["result"].is_object(), "{opened}");
        client
    }

    pub(crate) fn initialize(&mut self, options: &Value) -> Value {
        let params = json!({"protocol_version": 1, "client": {"name": "test"}, "options": options});
        self.request("init", "initialize", &params);
        self.reply("init")
    }

    pub(crate) fn line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
    }

    pub(crate) fn say(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        self.line(&message.to_string());
    }

    pub(crate) fn request(&mut self, id: impl Into<Value>, method: &str, params: &Value) {
        let id: Value = id.into();
        self.say(&json!({"id": id, "method": method, "params": params}));
    }

    pub(crate) fn call(&mut self, id: impl Into<Value>, tool: &str, arguments: &Value) {
        self.request(id, "call", &json!({"tool": tool, "arguments": arguments}));
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.say(&json!({"method": method, "params": params}));
    }

    /// Answers a request of the session's.
    pub(crate) fn answer(&mut self, request: &Value, result: &Value) {
        self.say(&json!({"id": request["id"], "result": result}));
    }

    /// The next line; nothing at the end.
    pub(crate) fn next(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
            Err(error) => panic!("{error}; heard {:#?}", self.heard),
        }
    }

    /// The first line that is like this, heard already or to come.
    pub(crate) fn until(&mut self, mut is_it: impl FnMut(&Value) -> bool) -> Value {
        if let Some(at) = self.heard.iter().position(&mut is_it) {
            return self.heard.remove(at);
        }
        loop {
            let line = self.next();
            let line = line.unwrap_or_else(|| panic!("it ended; heard {:#?}", self.heard));
            if is_it(&line) {
                return line;
            }
            self.heard.push(line);
        }
    }

    /// The response with this id.
    pub(crate) fn reply(&mut self, id: impl Into<Value>) -> Value {
        let id: Value = id.into();
        self.until(|line| line.get("method").is_none() && line["id"] == id)
    }

    /// The next request or notification of this name.
    pub(crate) fn told(&mut self, method: &str) -> Value {
        self.until(|line| line["method"] == method)
    }

    /// A call and its response.
    pub(crate) fn called(&mut self, id: u64, tool: &str, arguments: &Value) -> Value {
        self.call(id, tool, arguments);
        self.reply(id)
    }

    /// Shows that it still works.
    pub(crate) fn is_well(&mut self) {
        let list = self.called(999_999, "bash_task_list", &json!({}));
        assert!(list["result"]["reply"]["tasks"].is_array(), "{list}");
    }

    /// Ends its input, and gives back all that is left to hear, and the exit code.
    pub(crate) fn end(mut self) -> (Vec<Value>, Option<i32>) {
        drop(self.input.take());
        let mut rest = std::mem::take(&mut self.heard);
        while let Some(line) = self.next() {
            rest.push(line);
        }
        let code = self.child.wait().unwrap().code();
        (rest, code)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The code that an error has in words.
pub(crate) fn code(response: &Value) -> &str {
    response["error"]["data"]["code"].as_str().unwrap_or("")
}
