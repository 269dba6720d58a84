//! A run from the outside: the handle that a caller holds, and the task that serves the script.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::sync::{Notify, oneshot, watch};

use super::options::CodeOptions;
use super::result::{CodeExecutionError, CodeExecutionLog, CodeExecutionResult, Status};
use super::service::Service;
use crate::runtime::{ScriptRuntime, Seat, Stop};
use crate::value::Value;

/// A run that is under way. Awaiting it gives the result; dropping it stops the run.
#[derive(Debug)]
pub struct CodeExecution {
    result: oneshot::Receiver<CodeExecutionResult>,
    shared: Arc<Shared>,
    began: Instant,
}

/// What the handle and the task both see.
#[derive(Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
    pub(crate) terminated: Notify,
    seated: watch::Sender<bool>,
}

/// The caller's wish that the run end, with its reason.
#[derive(Clone)]
struct Termination(Option<String>);

#[derive(Default)]
struct State {
    termination: Option<Termination>,
    stop: Option<Arc<dyn Stop>>,
    pid: Option<u32>,
    reports: Vec<Value>,
    logs: Vec<CodeExecutionLog>,
    settled: bool,
}

/// Begins a run. Must be called inside a tokio runtime.
pub(crate) fn begin(
    runtime: Arc<dyn ScriptRuntime>,
    source: String,
    options: CodeOptions,
) -> CodeExecution {
    let began = Instant::now();
    let shared = Arc::new(Shared::default());
    let (settle, result) = oneshot::channel();
    let task_shared = Arc::clone(&shared);
    tokio::spawn(async move {
        let (mut result, lease) = serve(&runtime, &task_shared, source, options).await;
        result.duration_ms = began.elapsed().as_secs_f64() * 1000.0;
        let (reports, logs) = task_shared.settle();
        result.reports = reports;
        result.logs.splice(..0, logs);
        let _ = settle.send(result);
        if let Some(lease) = lease {
            // The caller comes first; forking the next child can wait until it has its result.
            tokio::task::yield_now().await;
            lease.leave();
        }
    });
    CodeExecution {
        result,
        shared,
        began,
    }
}

async fn serve(
    runtime: &Arc<dyn ScriptRuntime>,
    shared: &Arc<Shared>,
    source: String,
    options: CodeOptions,
) -> (CodeExecutionResult, Option<SeatLease>) {
    if let Err(error) = options.check() {
        let error = CodeExecutionError::new("TypeError", error.to_string());
        return (failed(Status::Error, error), None);
    }
    let seat = tokio::select! {
        biased;
        () = shared.terminated.notified() => return (shared.terminated_result(None), None),
        seat = runtime.seat() => seat,
    };
    match seat {
        Ok(seat) => {
            let Seat {
                stream,
                stop,
                pid,
                ending,
                release,
            } = seat;
            let seated = shared.seated(Arc::clone(&stop), pid);
            let lease = SeatLease {
                stop,
                release: Some(release),
            };
            let result = if seated {
                Service::run(stream, ending, runtime.limits(), shared, source, options).await
            } else {
                shared.terminated_result(None)
            };
            (result, Some(lease))
        }
        Err(error) => {
            let error = CodeExecutionError::new("HarnessInternalError", error.to_string());
            (failed(Status::Error, error), None)
        }
    }
}

/// A seat that is in use. However the task ends, what runs in it is stopped.
struct SeatLease {
    stop: Arc<dyn Stop>,
    release: Option<Box<dyn FnOnce() + Send>>,
}

impl SeatLease {
    fn leave(self) {
        drop(self);
    }
}

impl Drop for SeatLease {
    fn drop(&mut self) {
        // Whatever the script still does is of no use to anybody.
        self.stop.stop();
        if let Some(release) = self.release.take() {
            release();
        }
    }
}

pub(crate) fn failed(status: Status, error: CodeExecutionError) -> CodeExecutionResult {
    CodeExecutionResult {
        status,
        result: None,
        reports: Vec::new(),
        logs: Vec::new(),
        error: Some(error),
        duration_ms: 0.0,
        memory_used_bytes: None,
        unhandled: Vec::new(),
        unhandled_left_out: 0,
        unanswered: Vec::new(),
        oversize: None,
        dropped_logs: 0,
    }
}

impl CodeExecution {
    /// Stops the run. Calling it again does nothing.
    pub fn terminate(&self, reason: Option<&str>) {
        self.shared.terminate(reason);
    }

    /// True until the run has settled.
    pub fn running(&self) -> bool {
        !self.shared.state().settled
    }

    /// What the `report` bridge has emitted so far.
    pub fn reports(&self) -> Vec<Value> {
        self.shared.state().reports.clone()
    }

    /// Waits until the run has a seat: from here on it takes time.
    pub fn seated(&self) -> impl Future<Output = ()> + use<> {
        let mut seated = self.shared.seated.subscribe();
        async move {
            // A run that is gone waits for nothing.
            let _ = seated.wait_for(|seated| *seated).await;
        }
    }

    /// The process of the run, once it has one.
    pub fn pid(&self) -> Option<u32> {
        self.shared.state().pid
    }
}

impl Future for CodeExecution {
    type Output = CodeExecutionResult;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let settled = std::task::ready!(Pin::new(&mut self.result).poll(context));
        Poll::Ready(settled.unwrap_or_else(|_| {
            // The task is gone with its runtime, or a host function has panicked.
            let message = "the task that served the run has ended early";
            let error = CodeExecutionError::new("HarnessInternalError", message);
            let mut result = failed(Status::Error, error);
            result.duration_ms = self.began.elapsed().as_secs_f64() * 1000.0;
            result
        }))
    }
}

impl Drop for CodeExecution {
    fn drop(&mut self) {
        self.shared.terminate(None);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn terminate(&self, reason: Option<&str>) {
        let stop = {
            let mut state = self.state();
            if state.settled || state.termination.is_some() {
                return;
            }
            state.termination = Some(Termination(reason.map(str::to_owned)));
            state.stop.clone()
        };
        // At once, even if the task is inside a host function.
        if let Some(stop) = stop {
            stop.stop();
        }
        self.terminated.notify_one();
    }

    /// Notes the seat; false if the run was terminated before it had one.
    fn seated(&self, stop: Arc<dyn Stop>, pid: Option<u32>) -> bool {
        let mut state = self.state();
        (state.stop, state.pid) = (Some(stop), pid);
        self.seated.send_replace(true);
        state.termination.is_none()
    }

    pub(crate) fn is_terminated(&self) -> bool {
        self.state().termination.is_some()
    }

    /// The result of a run that the caller stopped while it waited for something.
    pub(crate) fn terminated_result(&self, waiting: Option<String>) -> CodeExecutionResult {
        let reason = self
            .state()
            .termination
            .clone()
            .and_then(|Termination(reason)| reason);
        let mut message = match reason {
            Some(reason) => format!("terminated by the caller: {reason}"),
            None => "terminated by the caller".to_owned(),
        };
        if let Some(waiting) = waiting {
            message.push_str("; it was waiting for ");
            message.push_str(&waiting);
        }
        failed(
            Status::Terminated,
            CodeExecutionError::new("TerminatedError", message),
        )
    }

    /// Keeps a report; false when there are too many.
    pub(crate) fn add_report(&self, value: Value, most: usize) -> bool {
        let mut state = self.state();
        if state.reports.len() >= most {
            return false;
        }
        state.reports.push(value);
        true
    }

    pub(crate) fn add_log(&self, log: CodeExecutionLog) {
        self.state().logs.push(log);
    }

    fn settle(&self) -> (Vec<Value>, Vec<CodeExecutionLog>) {
        let mut state = self.state();
        state.settled = true;
        (state.reports.clone(), std::mem::take(&mut state.logs))
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}
