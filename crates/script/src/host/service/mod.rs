//! The task that serves one run: it reads frames, calls host functions, writes answers, and knows how it ended.
//!
//! Every frame is hostile until it has been read. A worker that breaks the protocol is stopped.

mod calls;
mod ending;
mod functions;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};

use crate::host::execution::{Shared, failed};
use crate::host::function::{HostError, HostFunction, HostResult, Request, ScriptFunction};
use crate::host::options::{CodeOptions, Language, LogSink, ReportSink};
use crate::host::result::{
    CodeExecutionError, CodeExecutionLog, CodeExecutionResult, LogLevel, Status,
};
use crate::protocol::{self, Done, Encoded, FromWorker, HEADER, Job, Message, ToWorker};
use crate::runtime::{EndingFuture, RunLimits, SeatEnding};
use crate::value::{self, Value};

use ending::lost;
use functions::Functions;

/// How long to wait for word of how a lost process ended.
const ENDING_WAIT: Duration = Duration::from_secs(2);
/// Answers and arguments that may wait, in messages of the largest size. A worker does not read while it
/// writes, so we cannot make it wait by not reading: beyond this it is refused or stopped.
const MOST_WAITING: usize = 8;

/// Serves one run.
pub(crate) struct Service<'a> {
    stream: UnixStream,
    limits: &'a RunLimits,
    shared: &'a Arc<Shared>,
    report: Option<ReportSink>,
    functions: Functions,
    running: FuturesUnordered<BoxFuture<'static, (Pending, HostResult)>>,
    /// Calls beyond those that may run at once, with the size of their arguments.
    queued: VecDeque<(u64, HostFunction, Vec<Value>, usize)>,
    queued_bytes: usize,
    invocations: HashMap<u64, oneshot::Sender<HostResult>>,
    next_invocation: u64,
    inbox: Vec<u8>,
    chunk: Box<[u8]>,
    outbox: Vec<u8>,
    logs: u64,
    most_logs: u64,
    log: Option<LogSink>,
}

/// What an ended future belongs to.
enum Pending {
    Call(u64),
    Promise(u64),
}

/// Why the serving stops.
enum End {
    Done(Box<Done>),
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
        let mut service = Self {
            stream,
            limits,
            shared,
            report: options.report.clone(),
            functions,
            running: FuturesUnordered::new(),
            queued: VecDeque::new(),
            queued_bytes: 0,
            invocations: HashMap::new(),
            next_invocation: 0,
            inbox: Vec::new(),
            chunk: vec![0; 16 << 10].into(),
            outbox: Vec::new(),
            logs: 0,
            most_logs: options.logging.lines.unwrap_or(limits.log_lines),
            log: options.logging.sink.clone(),
        };
        match service.job(source, options) {
            Ok(job) => match ToWorker::Run(Box::new(job)).to_frame(limits.message) {
                Ok(frame) => service.outbox = frame,
                Err(error) => {
                    let message = format!("the source and its options do not fit: {error}");
                    return failed(
                        Status::Error,
                        CodeExecutionError::new("SerializationError", message),
                    );
                }
            },
            Err(message) => {
                return failed(
                    Status::Error,
                    CodeExecutionError::new("SerializationError", message),
                );
            }
        }
        let end = service.attend(&mut asked).await;
        if shared.is_terminated() && !matches!(end, End::Done(_)) {
            return shared.terminated_result();
        }
        match end {
            End::Done(done) => service.conclude(*done),
            End::Terminated => shared.terminated_result(),
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

    fn job(&mut self, source: String, options: CodeOptions) -> Result<Job, String> {
        let limits = self.limits;
        let global_names = options
            .globals
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        let globals = Value::object(options.globals.iter().map(|(k, v)| (k.as_str(), v.clone())));
        let imports = Value::object(options.imports.iter().map(|(k, v)| (k.as_str(), v.clone())));
        let mut encode = |what: &str, value: &Value| {
            value::encode(value, limits.message, &mut self.functions)
                .map(Encoded::from)
                .map_err(|error| format!("{what}: {error}"))
        };
        let job = Job {
            source,
            filename: options.filename,
            typescript: options.language == Language::TypeScript,
            export: options.export,
            arguments: encode("execute.args", &Value::array(options.arguments))?,
            imports: encode("imports", &imports)?,
            globals: encode("globals", &globals)?,
            global_names,
            modules: options.modules,
            report: options.report.is_some(),
            memory: options.memory_limit_bytes.unwrap_or(limits.memory_bytes),
            stack: options.stack_bytes.unwrap_or(limits.stack_bytes),
            message_bytes: limits.message.bytes as u64,
            message_depth: limits.message.depth as u64,
            log_lines: self.most_logs,
            log_rate: options.logging.per_second,
            reports: limits.reports as u64,
            kind: options.kind,
        };
        self.follow_promises();
        Ok(job)
    }

    async fn attend(&mut self, asked: &mut mpsc::UnboundedReceiver<Request>) -> End {
        loop {
            if let Some(end) = self.take_frames() {
                return end;
            }
            self.flush();
            if self.outbox.len() > self.most_waiting() {
                return End::Broken("it does not read its answers".to_owned());
            }
            tokio::select! {
                biased;
                () = self.shared.terminated.notified() => return End::Terminated,
                Some((pending, outcome)) = self.running.next() => {
                    self.ended(&pending, outcome);
                    if let Some((call, function, arguments, size)) = self.queued.pop_front() {
                        self.queued_bytes -= size;
                        self.start(call, &function, arguments);
                    }
                }
                Some(request) = asked.recv() => self.request(request),
                ready = self.stream.readable() => {
                    if ready.is_err() {
                        return End::Lost;
                    }
                    match self.read() {
                        Ok(0) => return End::Lost,
                        Ok(_) => {}
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        Err(_) => return End::Lost,
                    }
                }
                ready = self.stream.writable(), if !self.outbox.is_empty() => {
                    if ready.is_err() {
                        return End::Lost;
                    }
                }
            }
        }
    }

    fn read(&mut self) -> io::Result<usize> {
        let count = self.stream.try_read(&mut self.chunk)?;
        self.inbox.extend_from_slice(&self.chunk[..count]);
        Ok(count)
    }

    /// Writes as much as the socket takes.
    fn flush(&mut self) {
        while !self.outbox.is_empty() {
            match self.stream.try_write(&self.outbox) {
                Ok(count) => drop(self.outbox.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // What the worker said before it went may still be there to read.
                Err(_) => self.outbox.clear(),
            }
        }
    }

    fn send(&mut self, message: &ToWorker) {
        // A frame has room for any value that fits its own limit, so this always holds.
        if let Ok(frame) = message.to_frame(self.limits.message) {
            self.outbox.extend_from_slice(&frame);
        }
    }

    fn take_frames(&mut self) -> Option<End> {
        let mut taken = 0;
        let end = loop {
            let rest = &self.inbox[taken..];
            let Some((header, body)) = rest.split_first_chunk::<HEADER>() else {
                break None;
            };
            let length = match protocol::body_length(*header, self.limits.message) {
                Ok(length) => length,
                Err(error) => break Some(End::Broken(error.to_string())),
            };
            let Some(body) = body.get(..length) else {
                break None;
            };
            let message = FromWorker::from_body(body);
            taken += HEADER + length;
            match message {
                Ok(message) => match self.handle(message) {
                    Ok(None) => {}
                    Ok(Some(done)) => break Some(End::Done(done)),
                    Err(what) => break Some(End::Broken(what)),
                },
                Err(error) => break Some(End::Broken(error.to_string())),
            }
        };
        self.inbox.drain(..taken);
        end
    }

    fn decode(&self, bytes: &[u8]) -> Result<Value, String> {
        let requests = &self.functions.requests;
        let mut functions = |number| ScriptFunction::new(number, requests.clone());
        value::decode(bytes, self.limits.message, &mut functions).map_err(|error| error.to_string())
    }

    fn decode_list(&self, bytes: &[u8]) -> Result<Vec<Value>, String> {
        match self.decode(bytes)? {
            Value::Array(items) => Ok(items.to_vec()),
            _ => Err("arguments are not an array".to_owned()),
        }
    }

    /// Does what a message asks for; gives back the last one.
    fn handle(&mut self, message: FromWorker) -> Result<Option<Box<Done>>, String> {
        match message {
            FromWorker::Call {
                call,
                function,
                arguments,
            } => self.call(call, function, &arguments)?,
            FromWorker::Report { value } => {
                let value = self.decode(&value)?;
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
                let args = self.decode_list(&arguments)?;
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
                    Ok(value) => Ok(self.decode(&value)?),
                    Err(error) => Err(to_host_error(&self.decode(&error)?)),
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

    fn most_waiting(&self) -> usize {
        self.limits.message.bytes.saturating_mul(MOST_WAITING)
    }
}

fn to_host_error(value: &Value) -> HostError {
    match value {
        Value::Error(error) => HostError::named(error.name.clone(), error.message.clone()),
        Value::String(text) => HostError::new(&**text),
        other => HostError::new(other.to_json().to_string()),
    }
}
