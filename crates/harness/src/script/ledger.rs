//! The calls of one script: every one is entered, bounded, and struck off when it has ended.
//!
//! A call waits here while as many as may run at once are running; that time is not charged to it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use ringfence_dialect::{ErrorCode, ScriptError};
use ringfence_policy::verdict::RefusalCode;
use ringfence_script::{CodeExecutionResult, ErrorOrigin, ToolCall};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::commands::{self, Task};
use super::facade::{self, Exposed, Reached};
use super::failure;
use super::partial_results::PartialResults;
use super::pending::Pending;
use super::spawn;
use crate::config::ScriptLimits;
use crate::engine::{Call, CallSite, Engine};
use crate::error::CallError;
use crate::execution::{Cancel, Stopwatch};
use crate::network::HostAnswers;

/// How a call is answered.
pub(super) type Answer = oneshot::Sender<Result<Value, Value>>;

/// The script that a ledger is kept for.
pub(super) struct Script<'e> {
    pub(super) id: String,
    pub(super) source: &'e str,
    pub(super) call: &'e Call,
    pub(super) clock: Stopwatch,
    /// What was answered about hosts.
    pub(super) hosts: Arc<HostAnswers>,
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
    kept: PartialResults,
    completed: u64,
    failed: HashMap<u64, Failed>,
    /// The script has ended: nobody waits for tasks any longer.
    over: bool,
    /// Tasks that could not be started, and why: a script need not look.
    pub(super) not_started: Vec<String>,
    /// A person stopped everything.
    pub(super) stopped: bool,
}

/// A call that failed.
struct Failed {
    call: Pending,
    /// What the script is told, unless it was cancelled.
    why: Option<String>,
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

    fn pending(&self) -> Pending {
        Pending::of(&self.call)
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
            kept: PartialResults::new(engine.config.script.limits.max_return_size_bytes),
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
            let thrown = failure::refused(code, &why);
            self.fail(Pending::of(&call), Some(&thrown));
            let _ = answer.send(Err(thrown));
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
    pub(super) fn end_script(&mut self) -> Vec<Pending> {
        self.cancel_where(|entry| !entry.is_starting())
    }

    /// The script was ended: cancels whatever is left but tasks that have started, and says what that was.
    pub(super) fn abort(&mut self) -> Vec<Pending> {
        self.cancel_where(|_| true)
    }

    fn cancel_where(&mut self, chosen: impl Fn(&Entry) -> bool) -> Vec<Pending> {
        self.over = true;
        self.tasks.clear();
        self.open.retain(|_, entry| !entry.is_task);
        let open = self.open.iter().filter(|(_, entry)| chosen(entry));
        // One that the script has cancelled itself is not told of.
        let (numbers, pending): (Vec<u64>, Vec<Option<Pending>>) = open
            .map(|(number, entry)| (*number, entry.answer.is_some().then(|| entry.pending())))
            .unzip();
        for number in numbers {
            self.cancel(number);
        }
        pending.into_iter().flatten().collect()
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
    pub(super) fn still_open(&self, calls: &[Pending]) -> Vec<Pending> {
        let is_open = |call: &&Pending| self.open.contains_key(&call.number);
        calls.iter().filter(is_open).cloned().collect()
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
    fn follow(&mut self, number: u64, task: Arc<Task>) {
        let Some(entry) = self.open.get_mut(&number) else {
            return;
        };
        entry.is_task = true;
        if entry.cancel.is_cancelled() {
            // Whoever waits for this, it is stopped.
            let stopped = tokio::spawn(async move { commands::kill(&task).await });
            self.tasks.push(Box::pin(async move {
                let _ = stopped.await;
                (number, Err(CallError::Cancelled))
            }));
        } else if self.over {
            self.open.remove(&number);
            self.completed += 1;
        } else {
            self.tasks.push(Box::pin(
                async move { (number, commands::done(task).await) },
            ));
        }
    }

    /// Adds what is known of the calls to an error.
    pub(super) fn complete(&self, mut error: ScriptError, pending: &[Pending]) -> ScriptError {
        let is_late = error.code == ErrorCode::ScriptTimeoutError;
        if let Some(first) = pending.first().filter(|_| is_late) {
            error.call_id = Some(first.call_id());
            error.tool_name = Some(first.tool.clone());
            if let Some(line) = first.line {
                error = error.with("line", line);
            }
        } else {
            let number = error
                .call_id
                .as_deref()
                .and_then(|id| id.strip_prefix("tool_")?.parse().ok());
            let failed = number.and_then(|number: u64| self.failed.get(&number));
            error.tool_name = failed.map(|failed| failed.call.tool.clone());
        }
        if !pending.is_empty() {
            let pending: Value = pending.iter().map(Pending::to_json).collect();
            error = error.with("pending", pending);
        }
        error
            .with("completedTools", self.completed)
            .with("pendingTools", pending.len())
    }

    /// What the calls that succeeded gave, as far as it is kept.
    pub(super) fn partial_results(&self) -> Option<Value> {
        self.kept.to_json()
    }

    /// The rejections that nobody handled, in words.
    pub(super) fn unhandled(&self, result: &CodeExecutionResult) -> Vec<String> {
        let told = result.unhandled.iter().map(|error| {
            let what = format!("{}: {}", error.name, error.message);
            let failed = match error.origin {
                ErrorOrigin::ToolCall(number) => self.failed.get(&number),
                _ => None,
            };
            let line = error.line.map(|line| format!(" at line {line}"));
            match (failed, line) {
                (Some(failed), _) => not_awaited(&failed.call, &what),
                (None, line) => {
                    let line = line.unwrap_or_default();
                    format!("a promise was rejected{line} and nobody handled it: {what}")
                }
            }
        });
        let mut told: Vec<String> = told.collect();
        // A script that ended before it could learn of a failure did not await the call either.
        let missed = result.unanswered.iter();
        let missed = missed.filter_map(|number| self.failed.get(number));
        told.extend(missed.filter_map(|Failed { call, why }| {
            let why = why.as_ref().filter(|_| call.tool != spawn::EXEC)?;
            Some(not_awaited(call, why))
        }));
        if result.unhandled_left_out > 0 {
            let more = result.unhandled_left_out;
            told.push(format!("{more} more rejections were not handled"));
        }
        told
    }

    /// Notes a call that failed, with what its script is told.
    fn fail(&mut self, call: Pending, thrown: Option<&Value>) {
        let text = |thrown: &Value, key| thrown[key].as_str().unwrap_or_default().to_owned();
        let why =
            thrown.map(|thrown| format!("{}: {}", text(thrown, "name"), text(thrown, "message")));
        self.failed.insert(call.number, Failed { call, why });
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
        let call_site = CallSite::new(
            &script.id,
            (script.source, entry.call.site.map_or(1, |site| site.line)),
            (script.clock.clone(), Arc::clone(&script.hosts)),
        );
        let child = Call {
            cancel: entry.cancel.clone(),
            call_site: Some(Arc::new(call_site)),
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
        let tool = &entry.call.tool;
        match &outcome {
            Ok(value) => {
                self.completed += 1;
                self.kept.add(&Pending::of(&entry.call), value);
            }
            Err(error) => {
                if *tool == spawn::EXEC && !entry.is_task && !entry.cancel.is_cancelled() {
                    self.not_started
                        .push(did_not_start(number, &error.to_string()));
                }
                let thrown = failure::thrown(error);
                let was_cancelled = entry.cancel.is_cancelled();
                self.fail(
                    Pending::of(&entry.call),
                    (!was_cancelled).then_some(&thrown),
                );
                self.stopped |= matches!(error, CallError::Refused(refusal) if refusal.code == RefusalCode::Aborted);
            }
        }
        if let Some(answer) = entry.answer {
            let _ = answer.send(outcome.map_err(|error| failure::thrown(&error)));
        }
    }
}

fn not_awaited(call: &Pending, why: &str) -> String {
    format!("{call} failed and nobody awaited it: {why}; await every call")
}

fn did_not_start(number: u64, why: &str) -> String {
    format!("tool_{number} ({}) did not start: {why}", spawn::EXEC)
}
