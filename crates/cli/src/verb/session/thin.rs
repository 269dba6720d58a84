//! A call to a line, for a shell or a script: no questions, no options, nothing to set up.
//!
//! Calls run at the same time; each is answered when it is done. The session ends with its input, once the
//! calls under way are answered, or at once when nobody reads the answers.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use ringfence::audit::CallId;
use ringfence::event::{Event, Listener};
use ringfence::output::Stream;
use ringfence::{Call, CallError, Cancel, Engine, Latch};
use ringfence_protocol::told;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::super::run::{FirstInterrupt, stop_on_signal};
use super::input::{Came, Input};
use super::{Arguments, error_line};
use crate::opening::{self, Caller};
use crate::terminal::CONSOLE;
use crate::workspace;

/// What a line can be.
pub(super) const FORMS: &str = "a line is {\"id\": …, \"tool\": …, \"arguments\": {…}}, {\"cancel\": ID} or {\"background\": ID}";
/// What is said of a line that was left out.
pub(super) const TOO_LONG: &str = "the line is too long, and was left out";

/// A line of input.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Line {
    Call(Asked),
    Cancel { cancel: Value },
    Background { background: Value },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    id: Value,
    tool: String,
    #[serde(default = "nothing")]
    arguments: Value,
}

fn nothing() -> Value {
    json!({})
}

/// Serves calls, the first of which may have been read already.
pub(super) async fn serve(
    arguments: &Arguments,
    mut input: Input,
    first: Option<Vec<u8>>,
) -> Result<ExitCode> {
    let client = Arc::new(Client::default());
    let sink = if arguments.events {
        client.listener()
    } else {
        ringfence::event::nowhere()
    };
    workspace::check(arguments.common.cwd.as_deref())?;
    let engine = Arc::new(opening::open(&arguments.common, Caller::Model, sink)?);
    let stop = Cancel::new();
    let work = async {
        let mut calls = JoinSet::new();
        if let Some(first) = first {
            take(&engine, &client, &mut calls, &first);
        }
        take_lines(&engine, &client, &stop, &mut input, &mut calls).await?;
        if stop.is_cancelled() {
            client.cancel_all();
        }
        while calls.join_next().await.is_some() {}
        anyhow::Ok(())
    };
    let stopped = async {
        stop.cancelled().await;
        client.cancel_all();
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        done = work => done?,
        () = client.gone.wait() => return Ok(ExitCode::FAILURE),
        never = stopped => match never {},
        never = stop_on_signal::<Infallible>(&stop, FirstInterrupt::Ends) => match never? {},
    }
    if stop.is_cancelled() {
        return Err(CallError::Cancelled.into());
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts what the lines of input ask for, until their end or until somebody stops it.
async fn take_lines(
    engine: &Arc<Engine>,
    client: &Arc<Client>,
    stop: &Cancel,
    input: &mut Input,
    calls: &mut JoinSet<()>,
) -> Result<()> {
    loop {
        let came = tokio::select! {
            came = input.next() => came?,
            () = stop.cancelled() => Came::End,
        };
        match came {
            Came::Line(line) => take(engine, client, calls, &line),
            Came::TooLong => client.say(&bad_line(TOO_LONG)),
            Came::End => return Ok(()),
        }
        while calls.try_join_next().is_some() {}
    }
}

fn take(engine: &Arc<Engine>, client: &Arc<Client>, calls: &mut JoinSet<()>, line: &[u8]) {
    match read(line) {
        Ok(Line::Call(asked)) => {
            if let Some(call) = client.begin(engine, &asked.id) {
                calls.spawn(answer(Arc::clone(engine), Arc::clone(client), call, asked));
            }
        }
        Ok(Line::Cancel { cancel }) => client.with(&cancel, |call| call.cancel.cancel()),
        Ok(Line::Background { background }) => {
            client.with(&background, |call| call.to_background.set());
        }
        Err(message) => client.say(&bad_line(&message)),
    }
}

async fn answer(engine: Arc<Engine>, client: Arc<Client>, call: Call, asked: Asked) {
    let result = engine.call_as(&call, &asked.tool, asked.arguments).await;
    client.end(&asked.id, result);
}

fn read(line: &[u8]) -> Result<Line, String> {
    let value: Value =
        serde_json::from_slice(line).map_err(|error| format!("the line is not JSON: {error}"))?;
    serde_json::from_value(value).map_err(|_| FORMS.to_owned())
}

/// What is said about a line that is none.
pub(super) fn bad_line(message: &str) -> Value {
    error_line("bad_line", message)
}

/// Says a line; false if nobody reads any more.
pub(super) fn say(line: &Value) -> bool {
    let mut text = line.to_string();
    text.push('\n');
    CONSOLE.print(Stream::Stdout, text.as_bytes()).is_ok()
}

/// Whoever is at the other end of the pipes.
#[derive(Default)]
struct Client {
    open: Mutex<Open>,
    /// Nobody reads any more.
    gone: Latch,
}

/// The calls under way.
#[derive(Default)]
struct Open {
    /// By the id that the client gave.
    calls: HashMap<String, Call>,
    /// The client's id of a call of ours, newest last. Kept when the call is over: what it started
    /// may end much later.
    ids: VecDeque<(CallId, Value)>,
}

/// How many calls are remembered when they are over.
const REMEMBERED: usize = 4096;

impl Open {
    fn remember(&mut self, call: CallId, id: Value) {
        self.ids.push_back((call, id));
        if self.ids.len() > REMEMBERED {
            self.ids.pop_front();
        }
    }

    /// The client's id of a call.
    fn id_of(&self, call: &CallId) -> Option<Value> {
        let mut known = self.ids.iter().rev();
        let found = known.find(|(ours, _)| ours == call);
        found.map(|(_, id)| id.clone())
    }
}

impl Client {
    fn begin(&self, engine: &Engine, id: &Value) -> Option<Call> {
        let call = engine.new_call();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.calls.contains_key(&id.to_string()) {
            drop(open);
            let message = "a call with this id is under way";
            self.say(&json!({"id": id, "error": {"code": "id_in_use", "message": message}}));
            return None;
        }
        open.calls.insert(id.to_string(), call.clone());
        open.remember(call.id.clone(), id.clone());
        Some(call)
    }

    fn with(&self, id: &Value, act: impl FnOnce(&Call)) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // One that has been answered already needs nothing any more.
        if let Some(call) = open.calls.get(&id.to_string()) {
            act(call);
        }
    }

    fn cancel_all(&self) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        for call in open.calls.values() {
            call.cancel.cancel();
        }
    }

    fn end(&self, id: &Value, result: Result<Value, CallError>) {
        let mut answer = json!({ "id": id });
        match result {
            Ok(reply) => answer["reply"] = reply,
            Err(error) => answer["error"] = error.to_json()["error"].take(),
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.calls.remove(&id.to_string());
        drop(open);
        self.say(&answer);
    }

    fn say(&self, line: &Value) {
        if !say(line) {
            self.gone.set();
        }
    }

    /// A sink that tells the client.
    fn listener(self: &Arc<Self>) -> Arc<dyn Listener> {
        let client = Arc::clone(self);
        Arc::new(move |event: &Event<'_>| {
            let mut open = client.open.lock().unwrap_or_else(PoisonError::into_inner);
            if let Event::Begin {
                call,
                parent: Some(parent),
                ..
            } = event
                && let Some(id) = open.id_of(parent)
            {
                // A call that a script makes is told of under the script's.
                open.remember(call.clone(), id);
            }
            let Some(id) = open.id_of(event.call()) else {
                return;
            };
            drop(open);
            if let Some(event) = told(event) {
                client.say(&json!({ "id": id, "event": event }));
            }
        })
    }
}
