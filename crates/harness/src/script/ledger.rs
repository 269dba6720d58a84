//! The calls of one script: every one is entered, bounded, and struck off when it has ended.
//!
//! A call waits here while as many as may run at once are running; that time is not charged to it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use ringfence_dialect::{ErrorCode, ScriptError};
use ringfence_policy::verdict::DenialCode;
use ringfence_script::ToolCall;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::facade::{self, Exposed, Reached};
use super::failure;
use super::place::ScriptPlace;
use super::spawn;
use crate::config::ScriptLimits;
use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::execution::{Cancel, Stopwatch};
use crate::registry::Attended;

/// How a call is answered.
pub(super) type Answer = oneshot::Sender<Result<Value, Value>>;

/// The script that a ledger is kept for.
pub(super) struct Script<'e> {
    pub(super) id: String,
    pub(super) source: &'e str,
    pub(super) call: &'e Call,
    pub(super) clock: Stopwatch,
}

/// The calls of one script.
pub(super) struct Ledger<'e> {
    engine: &'e Engine,
    script: Script<'e>,
    exposed: &'e [Exposed],
    limits: &'e ScriptLimits,
    running: FuturesUnordered<BoxFuture<'e, (u64, Result<Reached, CallError>)>>,
    /// The ends of tasks that go on by themselves; they take no place among those that run.
    tasks: FuturesUnordered<BoxFuture<'e, (u64, Result<Value, CallError>)>>,
    waiting: VecDeque<u64>,
    open: BTreeMap<u64, Entry>,
    made: u64,
    kept: Vec<Value>,
    kept_bytes: usize,
    completed: u64,
    failed: HashMap<u64, String>,
    /// The script has ended: nobody waits for tasks any longer.
    over: bool,
    /// Tasks that could not be started, and why: a script need not look.
    pub(super) not_started: Vec<String>,
    /// A person stopped everything.
    pub(super) stopped: bool,
}

/// A call that has not ended.
struct Entry {
    call: ToolCall,
    cancel: Cancel,
    answer: Option<Answer>,
    /// It is a task that has started.
    is_task: bool,
}

impl Entry {
    /// It is a task that has yet to start.
    fn is_starting(&self) -> bool {
        self.call.tool == spawn::EXEC && !self.is_task && !self.cancel.is_cancelled()
    }

    fn name(&self) -> String {
        format!("tool_{} ({})", self.call.number, self.call.tool)
    }
}

impl<'e> Ledger<'e> {
    pub(super) fn new(engine: &'e Engine, script: Script<'e>, exposed: &'e [Exposed]) -> Self {
        Self {
            engine,
            script,
            exposed,
            limits: &engine.config.script.limits,
            running: FuturesUnordered::new(),
            tasks: FuturesUnordered::new(),
            waiting: VecDeque::new(),
            open: BTreeMap::new(),
            made: 0,
            kept: Vec::new(),
            kept_bytes: 0,
            completed: 0,
            failed: HashMap::new(),
            over: false,
            not_started: Vec::new(),
            stopped: false,
        }
    }

    /// How many calls the script made.
    pub(super) fn made(&self) -> u64 {
        self.made
    }

    /// Enters a call, or answers it at once.
    pub(super) fn enter(&mut self, call: ToolCall, answer: Answer) {
        if let Some(found) = facade::look_up(self.exposed, &call.tool, &call.arguments) {
            let found = found.map_err(|why| failure::refused(ErrorCode::ToolNotFoundError, &why));
            let _ = answer.send(found);
            return;
        }
        let most = self.limits.max_tool_calls;
        let refusal = if !self.exposed.iter().any(|tool| tool.name == call.tool) {
            let why = facade::missing(self.exposed, &call.tool);
            Some((ErrorCode::ToolNotFoundError, why))
        } else if self.made >= most {
            let why = format!("a script may make {most} tool calls; this would be one more");
            Some((ErrorCode::ToolBudgetExceededError, why))
        } else if self.open.contains_key(&call.number) {
            Some((
                ErrorCode::HarnessInternalError,
                "the call has been made before".to_owned(),
            ))
        } else {
            None
        };
        if let Some((code, why)) = refusal {
            if call.tool == spawn::EXEC {
                self.not_started.push(did_not_start(call.number, &why));
            }
            self.failed.insert(call.number, call.tool);
            let _ = answer.send(Err(failure::refused(code, &why)));
            return;
        }
        self.made += 1;
        if call.tool == spawn::CANCEL && self.give_up_starting(&call.arguments) {
            self.completed += 1;
            let _ = answer.send(Ok(json!(true)));
            return;
        }
        self.waiting.push_back(call.number);
        let entry = Entry {
            call,
            cancel: Cancel::new(),
            answer: Some(answer),
            is_task: false,
        };
        self.open.insert(entry.call.number, entry);
        self.start_waiting();
    }

    /// The script waits for this call no longer.
    pub(super) fn cancel(&mut self, number: u64) {
        let Some(entry) = self.open.get_mut(&number) else {
            return;
        };
        entry.answer = None;
        entry.cancel.cancel();
        if let Some(at) = self.waiting.iter().position(|waiting| *waiting == number) {
            self.waiting.remove(at);
            self.open.remove(&number);
        }
    }

    /// The script has ended: cancels whatever is left, and says what that was. Tasks go on without the script, and those
    /// that are about to start still do.
    pub(super) fn end_script(&mut self) -> Vec<String> {
        self.cancel_where(|entry| !entry.is_starting())
    }

    /// The script was ended: cancels whatever is left but tasks that have started, and says what that was.
    pub(super) fn abort(&mut self) -> Vec<String> {
        self.cancel_where(|_| true)
    }

    fn cancel_where(&mut self, chosen: impl Fn(&Entry) -> bool) -> Vec<String> {
        self.over = true;
        self.tasks.clear();
        self.open.retain(|_, entry| !entry.is_task);
        let open = self.open.iter().filter(|(_, entry)| chosen(entry));
        // One that the script has cancelled itself is not told of.
        let (numbers, names): (Vec<u64>, Vec<Option<String>>) = open
            .map(|(number, entry)| (*number, entry.answer.is_some().then(|| entry.name())))
            .unzip();
        for number in numbers {
            self.cancel(number);
        }
        names.into_iter().flatten().collect()
    }

    /// Whether tasks are about to start.
    pub(super) fn has_starting(&self) -> bool {
        self.open.values().any(Entry::is_starting)
    }

    /// Gives up the task that `spawn.cancel` names, if it has not started yet.
    fn give_up_starting(&mut self, argument: &Value) -> bool {
        let named =
            |number| spawn::task_of(argument).ok() == Some(spawn::task_id(&self.script.id, number));
        let mut open = self.open.iter();
        let found = open.find(|(number, entry)| entry.is_starting() && named(**number));
        let Some(number) = found.map(|(number, _)| *number) else {
            return false;
        };
        if let Some(at) = self.waiting.iter().position(|waiting| *waiting == number) {
            self.waiting.remove(at);
            self.strike_off(number, Err(CallError::Cancelled));
        } else if let Some(entry) = self.open.get(&number) {
            entry.cancel.cancel();
        }
        true
    }

    /// Of these calls, those that have not ended.
    pub(super) fn still_open(&self, names: &[String]) -> Vec<String> {
        let open: Vec<String> = self.open.values().map(Entry::name).collect();
        names
            .iter()
            .filter(|name| open.contains(name))
            .cloned()
            .collect()
    }

    /// Takes the calls onward until one has ended; `None` if none is under way.
    pub(super) async fn next(&mut self) -> Option<()> {
        tokio::select! {
            Some((number, reached)) = self.running.next() => match reached {
                Ok(Reached::Task(task)) => self.follow(number, task),
                Ok(Reached::Reply(reply)) => self.strike_off(number, Ok(reply)),
                Err(error) => self.strike_off(number, Err(error)),
            },
            Some((number, outcome)) = self.tasks.next() => self.strike_off(number, outcome),
            else => return None,
        }
        self.start_waiting();
        Some(())
    }

    /// A task has started: from now on it goes on by itself.
    fn follow(&mut self, number: u64, task: Arc<Attended>) {
        let Some(entry) = self.open.get_mut(&number) else {
            return;
        };
        entry.is_task = true;
        if entry.cancel.is_cancelled() {
            // Whoever waits for this, it is stopped.
            let stopped = tokio::spawn(async move { task.stop().await });
            self.tasks.push(Box::pin(async move {
                let _ = stopped.await;
                (number, Err(CallError::Cancelled))
            }));
        } else if self.over {
            self.open.remove(&number);
            self.completed += 1;
        } else {
            self.tasks
                .push(Box::pin(async move { (number, spawn::done(task).await) }));
        }
    }

    /// Adds what is known of the calls to an error.
    pub(super) fn complete(&self, mut error: ScriptError) -> ScriptError {
        let number = error
            .call_id
            .as_deref()
            .and_then(|id| id.strip_prefix("tool_")?.parse().ok());
        error.tool_name = number.and_then(|number: u64| self.failed.get(&number).cloned());
        error
            .with("completedTools", self.completed)
            .with("pendingTools", self.open.len())
    }

    /// What the calls that succeeded gave, as far as it is kept.
    pub(super) fn partial_results(&self) -> Option<String> {
        if self.kept.is_empty() {
            return None;
        }
        let mut partial = json!({ "partialResults": self.kept });
        let left_out = self.completed - self.kept.len() as u64;
        if left_out > 0 {
            partial["leftOut"] = json!(left_out);
        }
        Some(partial.to_string())
    }

    fn start_waiting(&mut self) {
        let most = usize::try_from(self.limits.max_concurrent_tool_calls).unwrap_or(usize::MAX);
        while self.running.len() < most
            && let Some(number) = self.waiting.pop_front()
        {
            self.start(number);
        }
    }

    fn start(&mut self, number: u64) {
        let Some(entry) = self.open.get(&number) else {
            return;
        };
        let tool = self
            .exposed
            .iter()
            .find(|tool| tool.name == entry.call.tool);
        let Some(tool) = tool else {
            return;
        };
        let script = &self.script;
        let place = ScriptPlace::new(
            &script.id,
            script.source,
            entry.call.site,
            script.clock.clone(),
        );
        let child = Call {
            cancel: entry.cancel.clone(),
            place: Some(Arc::new(place)),
            ..self.engine.child_call(script.call)
        };
        let (engine, arguments) = (self.engine, entry.call.arguments.clone());
        let task = spawn::task_id(&script.id, number);
        self.running.push(Box::pin(async move {
            (number, tool.call(engine, &child, arguments, task).await)
        }));
    }

    fn strike_off(&mut self, number: u64, outcome: Result<Value, CallError>) {
        let Some(entry) = self.open.remove(&number) else {
            return;
        };
        let tool = entry.call.tool;
        match &outcome {
            Ok(value) => {
                self.completed += 1;
                self.keep(
                    json!({ "callId": format!("tool_{number}"), "tool": tool, "result": value }),
                );
            }
            Err(error) => {
                if tool == spawn::EXEC && !entry.is_task && !entry.cancel.is_cancelled() {
                    self.not_started
                        .push(did_not_start(number, &error.to_string()));
                }
                self.failed.insert(number, tool);
                self.stopped |= matches!(error, CallError::Denied(denial) if denial.code == DenialCode::Aborted);
            }
        }
        if let Some(answer) = entry.answer {
            let _ = answer.send(outcome.map_err(|error| failure::thrown(&error)));
        }
    }

    fn keep(&mut self, result: Value) {
        let size = result.to_string().len();
        let most = usize::try_from(self.limits.max_return_size_bytes).unwrap_or(usize::MAX);
        if self.kept_bytes + size <= most {
            self.kept_bytes += size;
            self.kept.push(result);
        }
    }
}

fn did_not_start(number: u64, why: &str) -> String {
    format!("tool_{number} ({}) did not start: {why}", spawn::EXEC)
}
