//! A call on its way: it runs by itself, and whoever made it watches, answers and may stop it.
//!
//! The run does not hang on the request that started it: where a question is a result, the request is over
//! and the call is parked until the client comes back to it.

use std::sync::Arc;
use std::time::Instant;

use ringfence::event::{Event, Tone};
use ringfence::{Call, CallError};
use ringfence_protocol::Turn;
use ringfence_protocol::wire::QuestionParams;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use crate::approver::Pending;
use crate::session::{Place, Session};

/// As many remarks on progress wait for the client; more are dropped.
const REMARKS: usize = 16;
/// As many questions of one call wait.
const QUESTIONS: usize = 256;

/// A call under way. It is cancelled when this is dropped before its end.
pub(crate) struct Flight {
    pub(crate) call: Call,
    pub(crate) tool: String,
    pub(crate) session: Arc<Session>,
    pub(crate) questions: mpsc::Receiver<Pending>,
    pub(crate) progress: mpsc::Receiver<Remark>,
    pub(crate) ended: oneshot::Receiver<Result<Value, CallError>>,
    /// Questions that were not answered with a yes.
    pub(crate) not_approved: Vec<Arc<QuestionParams>>,
}

/// What a session has of a call: the way to whoever made it.
pub(crate) struct Line {
    pub(crate) turn: Turn,
    questions: mpsc::Sender<Pending>,
    progress: mpsc::Sender<Remark>,
    begun: Instant,
}

/// How a call gets on.
#[derive(Debug)]
pub(crate) struct Remark {
    /// For how long it has run, in seconds: what increases.
    pub(crate) seconds: f64,
    pub(crate) text: String,
}

impl Flight {
    /// Starts a call; nothing if too many are under way.
    pub(crate) fn start(
        session: &Arc<Session>,
        tool: &str,
        arguments: Map<String, Value>,
        most: usize,
    ) -> Option<Self> {
        let call = session.engine.new_call();
        let place = session.under_way.place(&call.cancel, most)?;
        let (questions, asked) = mpsc::channel(QUESTIONS);
        let (progress, remarks) = mpsc::channel(REMARKS);
        let (end, ended) = oneshot::channel();
        let line = Arc::new(Line {
            turn: session.turns.turn(),
            questions,
            progress,
            begun: Instant::now(),
        });
        session.lines.add(&call, &line);
        let run = run(
            Arc::clone(session),
            call.clone(),
            line.turn.clone(),
            tool.to_owned(),
            arguments,
            place,
        );
        tokio::spawn(async move {
            // Nobody takes it if the client has gone.
            let _ = end.send(run.await);
        });
        Some(Self {
            call,
            tool: tool.to_owned(),
            session: Arc::clone(session),
            questions: asked,
            progress: remarks,
            ended,
            not_approved: Vec::new(),
        })
    }
}

async fn run(
    session: Arc<Session>,
    call: Call,
    turn: Turn,
    tool: String,
    arguments: Map<String, Value>,
    place: Place,
) -> Result<Value, CallError> {
    tokio::select! {
        () = turn.come(&tool) => {}
        () = call.cancel.cancelled() => return Err(CallError::Cancelled),
    }
    let result = session
        .engine
        .call_as(&call, &tool, Value::Object(arguments))
        .await;
    turn.give_up();
    drop(place);
    result
}

impl Drop for Flight {
    fn drop(&mut self) {
        // One that has ended does not mind.
        self.call.cancel.cancel();
    }
}

impl Line {
    /// Puts a question to whoever made the call; false if nobody waits for it any more.
    pub(crate) fn ask(&self, pending: Pending) -> bool {
        self.questions.try_send(pending).is_ok()
    }

    /// Tells of what happens, as far as it is progress.
    pub(crate) fn hear(&self, event: &Event<'_>) {
        let text = match event {
            Event::Progress {
                elapsed,
                lines,
                bytes,
                ..
            } => format!(
                "running for {} s, {lines} lines ({bytes} bytes) printed",
                elapsed.as_secs()
            ),
            Event::Begin {
                tool,
                command,
                parent: Some(_),
                ..
            } => format!("{tool}: {command}"),
            Event::Said {
                tone: Tone::Progress,
                text,
                ..
            } => text.clone(),
            _ => return,
        };
        let seconds = self.begun.elapsed().as_secs_f64();
        // A client that does not read is told less.
        let _ = self.progress.try_send(Remark { seconds, text });
    }
}
