//! The task that serves one run: it reads frames, calls host functions, writes answers, and knows how it ended.
//!
//! Every frame is hostile until it has been read. A worker that breaks the protocol is stopped.

mod calls;
mod connection;
mod ending;
mod functions;
mod job;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};

use crate::host::execution::{Shared, failed};
use crate::host::function::{HostError, HostFunction, HostResult, Request, ScriptFunction};
use crate::host::options::{CodeOptions, LogSink, ReportSink};
use crate::host::result::{
    CodeExecutionError, CodeExecutionLog, CodeExecutionResult, LogLevel, Status,
};
use crate::protocol::{FromWorker, JobKind, Place, RunReport, ToWorker};
use crate::runtime::{EndingFuture, RunLimits, SeatEnding};
use crate::value::{self, Value};

use connection::Connection;
use ending::lost;
use functions::Functions;
use job::incoming;

/// How long to wait for word of how a lost process ended.
const ENDING_WAIT: Duration = Duration::from_secs(2);

/// Serves one run.
pub(crate) struct Service<'a> {
    connection: Connection,
    limits: &'a RunLimits,
    kind: JobKind,
    shared: &'a Arc<Shared>,
    report: Option<ReportSink>,
    functions: Functions,
    running: FuturesUnordered<BoxFuture<'static, (Pending, HostResult)>>,
    /// Calls beyond those that may run at once.
    queued: VecDeque<(u64, HostFunction, Vec<Value>)>,
    /// Calls of asynchronous functions that have not ended.
    under_way: BTreeMap<u64, UnderWay>,
    /// What their arguments take.
    calls_held: usize,
    invocations: HashMap<u64, oneshot::Sender<HostResult>>,
    next_invocation: u64,
    logs: u64,
    most_logs: u64,
    log: Option<LogSink>,
    /// What lines and reports may still take.
    log_room: usize,
    report_room: usize,
}

/// A call that has not ended.
struct UnderWay {
    function: String,
    place: Option<Place>,
    /// What its arguments take.
    weight: usize,
}

/// What an ended future belongs to.
enum Pending {
    Call(u64),
    Promise(u64),
}

/// Why the serving stops.
enum End {
    Done(Box<RunReport>),
    Terminated,
    /// The process is gone.
    Lost,
    /// The worker said something that it must not.
    Broken(String),
}

impl<'a> Service<'a> {
    pub(crate) async fn run(
        stream: std::os::unix::net::UnixStream,
        ending: EndingFuture,
        limits: &'a RunLimits,
        shared: &'a Arc<Shared>,
        source: String,
        options: CodeOptions,
    ) -> CodeExecutionResult {
        let connected = stream
            .set_nonblocking(true)
            .and_then(|()| UnixStream::from_std(stream));
        match connected {
            Ok(stream) => Self::serve(stream, limits, shared, source, options, ending).await,
            Err(error) => {
                let error = CodeExecutionError::new("HarnessInternalError", error.to_string());
                failed(Status::Error, error)
            }
        }
    }

    async fn serve(
        stream: UnixStream,
        limits: &'a RunLimits,
        shared: &'a Arc<Shared>,
        source: String,
        options: CodeOptions,
        ending: EndingFuture,
    ) -> CodeExecutionResult {
        let (requests, mut asked) = mpsc::unbounded_channel();
        let functions = Functions {
            known: Vec::new(),
            promises: Vec::new(),
            next_promise: 0,
            requests,
        };
        let memory = options.memory_limit_bytes.unwrap_or(limits.memory_bytes);
        let incoming = incoming(limits, memory);
        let mut service = Self {
            connection: Connection::new(stream, incoming, limits.message),
            limits,
            kind: options.kind,
            shared,
            report: options.report.clone(),
            functions,
            running: FuturesUnordered::new(),
            queued: VecDeque::new(),
            under_way: BTreeMap::new(),
            calls_held: 0,
            invocations: HashMap::new(),
            next_invocation: 0,
            logs: 0,
            most_logs: options.logging.lines.unwrap_or(limits.log_lines),
            log: options.logging.sink.clone(),
            log_room: limits.log_bytes,
            report_room: limits.report_bytes.min(incoming.held),
        };
        if let Err(message) = service.begin(source, options) {
            let error = CodeExecutionError::new("SerializationError", message);
            return failed(Status::Error, error);
        }
        let end = service.attend(&mut asked).await;
        if shared.is_terminated() && !matches!(end, End::Done(_)) {
            return shared.terminated_result(service.waiting());
        }
        match end {
            End::Done(done) => service.conclude(*done),
            End::Terminated => shared.terminated_result(service.waiting()),
            End::Lost => {
                let ending = tokio::time::timeout(ENDING_WAIT, ending).await;
                lost(ending.unwrap_or(SeatEnding::Unknown), limits)
            }
            End::Broken(what) => {
                let message = format!("the worker broke the protocol: {what}");
                failed(
                    Status::Error,
                    CodeExecutionError::new("HarnessInternalError", message),
                )
            }
        }
    }

    /// Hands the worker its job.
    fn begin(&mut self, source: String, options: CodeOptions) -> Result<(), String> {
        let job = self.job(source, options)?;
        let begun = self.connection.begin(&ToWorker::Run(Box::new(job)));
        begun.map_err(|error| format!("the source and its options do not fit: {error}"))
    }

    async fn attend(&mut self, asked: &mut mpsc::UnboundedReceiver<Request>) -> End {
        loop {
            if let Some(end) = self.take_frames() {
                return end;
            }
            self.connection.flush();
            if self.connection.is_overfull() {
                return End::Broken("it does not read its answers".to_owned());
            }
            tokio::select! {
                biased;
                () = self.shared.terminated.notified() => return End::Terminated,
                Some((pending, outcome)) = self.running.next() => {
                    self.ended(&pending, outcome);
                    if let Some((call, function, arguments)) = self.queued.pop_front() {
                        self.start(call, &function, arguments);
                    }
                }
                Some(request) = asked.recv() => self.request(request),
                ready = self.connection.stream.readable() => {
                    if ready.is_err() {
                        return End::Lost;
                    }
                    match self.connection.read() {
                        Ok(0) => return End::Lost,
                        Ok(_) => {}
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        Err(_) => return End::Lost,
                    }
                }
                ready = self.connection.stream.writable(), if self.connection.has_more_to_say() => {
                    if ready.is_err() {
                        return End::Lost;
                    }
                }
            }
        }
    }

    fn take_frames(&mut self) -> Option<End> {
        loop {
            let message = match self.connection.take_frame() {
                Ok(Some(message)) => message,
                Ok(None) => return None,
                Err(error) => return Some(End::Broken(error.to_string())),
            };
            match self.handle(message) {
                Ok(None) => {}
                Ok(Some(done)) => return Some(End::Done(done)),
                Err(what) => return Some(End::Broken(what)),
            }
        }
    }

    /// A value, and what it takes.
    fn decode(&self, bytes: &[u8]) -> Result<(Value, usize), String> {
        let requests = &self.functions.requests;
        let mut functions = |number| ScriptFunction::new(number, requests.clone());
        value::decode(bytes, self.connection.incoming, &mut functions)
            .map_err(|error| error.to_string())
    }

    fn decode_list(&self, bytes: &[u8]) -> Result<(Vec<Value>, usize), String> {
        match self.decode(bytes)? {
            (Value::Array(items), weight) => Ok((items.to_vec(), weight)),
            _ => Err("arguments are not an array".to_owned()),
        }
    }

    /// What the script waits for, or could.
    fn waiting(&self) -> Option<String> {
        let calls = self.under_way.values();
        calls_as_text(calls.map(|call| (call.function.as_str(), call.place.as_ref())))
    }

    /// Does what a message asks for; gives back the last one.
    fn handle(&mut self, message: FromWorker) -> Result<Option<Box<RunReport>>, String> {
        match message {
            FromWorker::Call {
                call,
                function,
                arguments,
                place,
            } => self.call(call, function, &arguments, place)?,
            FromWorker::Report { value } => {
                let (value, weight) = self.decode(&value)?;
                let room = self.report_room.checked_sub(weight);
                self.report_room = room.ok_or("more reports than fit")?;
                if let Some(ReportSink(sink)) = &self.report {
                    sink(&value);
                }
                if !self.shared.add_report(value, self.limits.reports) {
                    return Err(format!("more than {} reports", self.limits.reports));
                }
            }
            FromWorker::Log {
                level,
                time,
                arguments,
            } => {
                self.logs += 1;
                let level = LogLevel::ALL.get(usize::from(level)).copied();
                let level = level.ok_or("unknown log level")?;
                if self.logs > self.most_logs {
                    return Err("more log lines than the limit".to_owned());
                }
                let (args, weight) = self.decode_list(&arguments)?;
                let room = self.log_room.checked_sub(weight);
                self.log_room = room.ok_or("longer log lines than fit")?;
                let log = CodeExecutionLog {
                    level,
                    args,
                    timestamp: time,
                };
                if let Some(LogSink(sink)) = &self.log {
                    sink(&log);
                }
                self.shared.add_log(log);
            }
            FromWorker::Invoked { invocation, ended } => {
                let outcome = match ended {
                    Ok(value) => Ok(self.decode(&value)?.0),
                    Err(error) => Err(to_host_error(&self.decode(&error)?.0)),
                };
                let answer = self
                    .invocations
                    .remove(&invocation)
                    .ok_or("an answer nobody asked for")?;
                let _ = answer.send(outcome);
            }
            FromWorker::Done(done) => return Ok(Some(done)),
        }
        Ok(None)
    }
}

/// Calls in words, the first ones; `None` if there are none.
fn calls_as_text<'a>(calls: impl Iterator<Item = (&'a str, Option<&'a Place>)>) -> Option<String> {
    const MOST: usize = 10;
    let mut texts = Vec::new();
    let mut more = 0;
    for (function, place) in calls {
        if texts.len() == MOST {
            more += 1;
            continue;
        }
        texts.push(match place {
            Some(Place { file, line, .. }) => format!("`{function}` ({file}, line {line})"),
            None => format!("`{function}`"),
        });
    }
    if more > 0 {
        texts.push(format!("{more} more"));
    }
    (!texts.is_empty()).then(|| texts.join(", "))
}

fn to_host_error(value: &Value) -> HostError {
    match value {
        Value::Error(error) => HostError::named(error.name.clone(), error.message.clone()),
        other => HostError::new(match other.text() {
            Some(text) => text.into_owned(),
            None => other.to_json().to_string(),
        }),
    }
}
