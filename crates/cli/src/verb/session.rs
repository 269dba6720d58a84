//! `ringfence session`: many tool calls in one session, as JSON lines in and out.
//!
//! What one call starts, the next one finds: processes, background tasks, the network and `/tmp`
//! of the session. Calls run at the same time; each is answered when it is done. The session ends
//! with its input, once the calls under way are answered, or at once when nobody reads the answers.

mod event;

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use ringfence::audit::CallId;
use ringfence::event::{Event, Listener};
use ringfence::output::Stream;
use ringfence::{Call, CallError, Cancel, Engine, Latch};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::task::JoinSet;

use super::run::{FirstInterrupt, stop_on_signal};
use crate::arguments::Common;
use crate::opening::{self, Caller};
use crate::terminal::{FLOOR, keyboard};
use crate::workspace;

/// Arguments of `session`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  printf '%s\\n' '{\"id\": 1, \"tool\": \"bash\", \"arguments\": {\"command\": \"ls\"}}' | ringfence session
  mkfifo in && ringfence session --events < in

Each line of input is a call: {\"id\": ID, \"tool\": NAME, \"arguments\": {…}}, where ID is any JSON
value, or {\"cancel\": ID} to stop one, or {\"background\": ID} to move its command to the background.
Each line of output is {\"id\": ID, \"reply\": {…}} or {\"id\": ID, \"error\": {\"code\": …, \"message\": …}},
and with --events {\"id\": ID, \"event\": {…}} while a call runs.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Tell what happens while calls run, too
    #[arg(long)]
    events: bool,
}

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

/// The most that a line may have.
const LONGEST_LINE: u64 = 32 << 20;

pub(crate) async fn serve(arguments: Arguments) -> Result<ExitCode> {
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
        take_lines(&engine, &client, &stop, &mut calls).await?;
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
    calls: &mut JoinSet<()>,
) -> Result<()> {
    let mut input = BufReader::new(input()?);
    loop {
        let line = tokio::select! {
            line = next_line(&mut input) => line?,
            () = stop.cancelled() => None,
        };
        let Some(line) = line else { return Ok(()) };
        if line.is_empty() {
            continue;
        }
        match read(&line) {
            Ok(Line::Call(asked)) => {
                if let Some(call) = client.begin(engine, &asked.id) {
                    calls.spawn(answer(Arc::clone(engine), Arc::clone(client), call, asked));
                }
            }
            Ok(Line::Cancel { cancel }) => client.with(&cancel, |call| call.cancel.cancel()),
            Ok(Line::Background { background }) => {
                client.with(&background, |call| call.to_background.set());
            }
            Err(message) => client.say(&json!({"error": {"code": "bad_line", "message": message}})),
        }
        while calls.try_join_next().is_some() {}
    }
}

/// Standard input. A terminal has one reader at a time: while somebody is asked there, it is the
/// question.
fn input() -> std::io::Result<Box<dyn AsyncRead + Unpin + Send>> {
    if std::io::stdin().is_terminal() {
        return Ok(Box::new(keyboard::lines()?));
    }
    Ok(Box::new(tokio::io::stdin()))
}

async fn answer(engine: Arc<Engine>, client: Arc<Client>, call: Call, asked: Asked) {
    let result = engine.call_as(&call, &asked.tool, asked.arguments).await;
    client.end(&asked.id, result);
}

/// The next line; nothing at the end of input.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin)) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let count = input
        .take(LONGEST_LINE + 1)
        .read_until(b'\n', &mut line)
        .await?;
    if count == 0 {
        return Ok(None);
    }
    if line.len() as u64 > LONGEST_LINE {
        let message = format!("a line of input has more than {LONGEST_LINE} bytes");
        return Err(std::io::Error::other(message));
    }
    Ok(Some(line.trim_ascii().to_vec()))
}

fn read(line: &[u8]) -> Result<Line, String> {
    let value: Value =
        serde_json::from_slice(line).map_err(|error| format!("the line is not JSON: {error}"))?;
    serde_json::from_value(value).map_err(|_| {
        "a line is {\"id\": …, \"tool\": …, \"arguments\": {…}}, {\"cancel\": ID} or \
         {\"background\": ID}"
            .to_owned()
    })
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
        open.ids.push_back((call.id.clone(), id.clone()));
        if open.ids.len() > REMEMBERED {
            open.ids.pop_front();
        }
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
        let mut text = line.to_string();
        text.push('\n');
        if FLOOR.print(Stream::Stdout, text.as_bytes()).is_err() {
            self.gone.set();
        }
    }

    /// A sink that tells the client.
    fn listener(self: &Arc<Self>) -> Arc<dyn Listener> {
        let client = Arc::clone(self);
        Arc::new(move |event: &Event<'_>| {
            let open = client.open.lock().unwrap_or_else(PoisonError::into_inner);
            let about = open.ids.iter().rev().find(|(call, _)| call == event.call());
            let Some((_, id)) = about.cloned() else {
                return;
            };
            drop(open);
            client.say(&json!({ "id": id, "event": event::told(event) }));
        })
    }
}
