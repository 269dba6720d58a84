//! The task that serves one run: it reads frames, calls host functions, writes answers, and knows how it ended.
//!
//! Every frame is hostile until it has been read. A worker that breaks the protocol is stopped.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};

use super::execution::{Shared, failed};
use super::function::{HostError, HostFunction, HostPromise, HostResult, Request, ScriptFunction};
use super::options::{CodeOptions, Language, LogSink, ReportSink};
use super::result::{
    CodeExecutionError, CodeExecutionLog, CodeExecutionResult, ErrorOrigin, LogLevel, Status,
};
use crate::protocol::{self, Done, Ended, FromWorker, HEADER, Job, Message, ToWorker};
use crate::runtime::{EndingFuture, RunLimits, SeatEnding};
use crate::value::{self, ErrorValue, FunctionWriter, Shared as Container, Value};

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

/// The functions and promises of the host that the script knows by number.
struct Functions {
    known: Vec<HostFunction>,
    promises: Vec<(u64, HostPromise)>,
    next_promise: u64,
    requests: mpsc::UnboundedSender<Request>,
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

impl FunctionWriter for Functions {
    fn host_function(&mut self, function: &HostFunction) -> u64 {
        self.known.push(function.clone());
        self.known.len() as u64 - 1
    }

    fn promise(&mut self, promise: &HostPromise) -> u64 {
        let number = self.next_promise;
        self.next_promise += 1;
        self.promises.push((number, promise.clone()));
        number
    }

    fn script_function(&mut self, function: &ScriptFunction) -> Option<u64> {
        function.number_in(&self.requests)
    }
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
                Ok(FromWorker::Done(done)) => break Some(End::Done(done)),
                Ok(message) => {
                    if let Err(what) = self.handle(message) {
                        break Some(End::Broken(what));
                    }
                }
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

    fn handle(&mut self, message: FromWorker) -> Result<(), String> {
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
            FromWorker::Done(_) => {}
        }
        Ok(())
    }

    fn call(&mut self, call: u64, function: u64, arguments: &[u8]) -> Result<(), String> {
        let size = arguments.len() + 64;
        let arguments = self.decode_list(arguments)?;
        let function = usize::try_from(function)
            .ok()
            .and_then(|at| self.functions.known.get(at));
        let function = function
            .ok_or("a call of a function that does not exist")?
            .clone();
        if !function.is_async() || self.running.len() < self.limits.pending_calls {
            self.start(call, &function, arguments);
        } else if self.queued_bytes + size < self.most_waiting() {
            self.queued_bytes += size;
            self.queued.push_back((call, function, arguments, size));
        } else {
            let error =
                HostError::named("RangeError", "too many calls of host functions are waiting");
            self.ended(&Pending::Call(call), Err(error));
        }
        Ok(())
    }

    fn most_waiting(&self) -> usize {
        self.limits.message.bytes.saturating_mul(MOST_WAITING)
    }

    fn start(&mut self, call: u64, function: &HostFunction, arguments: Vec<Value>) {
        match function.begin(arguments) {
            Ok(outcome) => self.ended(&Pending::Call(call), outcome),
            Err(mut future) => {
                // Many functions have their answer at once; those take no place among the running ones. One
                // that has not is polled again there, with a waker that counts.
                let mut nobody = Context::from_waker(Waker::noop());
                if let Poll::Ready(outcome) = future.as_mut().poll(&mut nobody) {
                    return self.ended(&Pending::Call(call), outcome);
                }
                let ended = future.map(move |outcome| (Pending::Call(call), outcome));
                self.running.push(ended.boxed());
            }
        }
    }

    /// A host function or promise has ended: tell the script.
    fn ended(&mut self, pending: &Pending, outcome: HostResult) {
        let ended = match outcome {
            Ok(value) => match value::encode(&value, self.limits.message, &mut self.functions) {
                Ok(bytes) => Ok(bytes),
                Err(error) => Err(HostError::named("SerializationError", error.to_string())),
            },
            Err(error) => Err(error),
        };
        let ended: Ended = ended.map_err(|error| self.encode_error(error));
        self.follow_promises();
        match *pending {
            Pending::Call(call) => self.send(&ToWorker::Return { call, ended }),
            Pending::Promise(promise) => self.send(&ToWorker::Settle { promise, ended }),
        }
    }

    fn encode_error(&mut self, error: HostError) -> Vec<u8> {
        let HostError { name, mut message } = error;
        if message.len() > self.limits.message.bytes / 2 {
            "the error's message is too long to cross".clone_into(&mut message);
        }
        let error = Value::Error(Container::new(ErrorValue {
            name,
            message,
            cause: None,
        }));
        value::encode(&error, self.limits.message, &mut self.functions).unwrap_or_default()
    }

    /// Begins to poll the promises that the last encoded value held.
    fn follow_promises(&mut self) {
        for (number, promise) in std::mem::take(&mut self.functions.promises) {
            let future = promise.take();
            let settled = async move {
                let outcome = match future {
                    Some(future) => future.await,
                    None => Err(HostError::new(
                        "a host promise can be given to a script only once",
                    )),
                };
                (Pending::Promise(number), outcome)
            };
            self.running.push(settled.boxed());
        }
    }

    fn request(&mut self, request: Request) {
        match request {
            Request::Release { function } => self.send(&ToWorker::Release { function }),
            Request::Invoke {
                function,
                arguments,
                answer,
            } => {
                let arguments = Value::array(arguments);
                match value::encode(&arguments, self.limits.message, &mut self.functions) {
                    Ok(arguments) => {
                        let invocation = self.next_invocation;
                        self.next_invocation += 1;
                        self.invocations.insert(invocation, answer);
                        self.follow_promises();
                        self.send(&ToWorker::Invoke {
                            invocation,
                            function,
                            arguments,
                        });
                    }
                    Err(error) => {
                        let error = HostError::named("SerializationError", error.to_string());
                        let _ = answer.send(Err(error));
                    }
                }
            }
        }
    }

    fn conclude(&self, done: Done) -> CodeExecutionResult {
        let status = match done.status {
            protocol::SUCCESS => Status::Success,
            protocol::ERROR => Status::Error,
            protocol::MEMORY => Status::Memory,
            _ => Status::LinkError,
        };
        let mut result = failed(status, CodeExecutionError::default());
        result.memory_used_bytes = Some(done.peak);
        if done.dropped_logs > 0 {
            let text = format!("… {} more lines were dropped", done.dropped_logs);
            let args = vec![Value::from(text)];
            result.logs.push(CodeExecutionLog {
                level: LogLevel::Warn,
                args,
                timestamp: 0.0,
            });
        }
        if status == Status::Success {
            result.error = None;
            match self.decode(&done.result) {
                Ok(value) => result.result = Some(value),
                Err(what) => {
                    let message = format!("the worker broke the protocol: {what}");
                    let error = CodeExecutionError::new("HarnessInternalError", message);
                    return failed(Status::Error, error);
                }
            }
            return result;
        }
        let fault = done.error.unwrap_or_default();
        result.error = Some(CodeExecutionError {
            name: fault.name,
            message: fault.message,
            stack: fault.stack,
            specifier: fault.specifier,
            filename: fault.filename,
            line: fault.line,
            column: fault.column,
            origin: match fault.mark {
                0 => ErrorOrigin::Script,
                1 => ErrorOrigin::Harness,
                number => ErrorOrigin::ToolCall(number - 2),
            },
        });
        result
    }
}

/// The result of a run whose process ended without a word.
fn lost(ending: SeatEnding, limits: &RunLimits) -> CodeExecutionResult {
    let (status, name, message) = match ending {
        SeatEnding::Signal(libc::SIGXCPU) => (
            Status::Terminated,
            "TerminatedError",
            format!(
                "stopped by the safety cap of {} seconds of CPU time",
                limits.cpu.as_secs()
            ),
        ),
        SeatEnding::Signal(libc::SIGSYS) => (
            Status::Error,
            "SandboxViolationError",
            "the run was killed because it made a system call that its filter forbids".to_owned(),
        ),
        SeatEnding::Signal(libc::SIGKILL) => (
            Status::Error,
            "HarnessInternalError",
            "the process of the run was killed from outside".to_owned(),
        ),
        SeatEnding::Signal(signal) => (
            Status::Error,
            "HarnessInternalError",
            format!("the engine crashed with signal {signal}; only this run is affected"),
        ),
        SeatEnding::Exited(_) | SeatEnding::Unknown => (
            Status::Error,
            "HarnessInternalError",
            "the process of the run ended without a result".to_owned(),
        ),
    };
    failed(status, CodeExecutionError::new(name, message))
}

fn to_host_error(value: &Value) -> HostError {
    match value {
        Value::Error(error) => HostError::named(error.name.clone(), error.message.clone()),
        Value::String(text) => HostError::new(&**text),
        other => HostError::new(other.to_json().to_string()),
    }
}
