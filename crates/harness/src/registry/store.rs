//! All commands that live on between calls, by their ids.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::{End, KeptCommand, ProcessId, State, TaskId};
use crate::error::CallError;

/// How many there may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RegistryLimits {
    /// Processes at once.
    pub(crate) processes: usize,
    /// Processes from which on the caller is warned.
    pub(crate) warn_at: usize,
    /// Processes, last used, that never give way.
    pub(crate) recent: usize,
    /// Background tasks that run at once.
    pub(crate) tasks: usize,
    /// How long an ended task is kept.
    pub(crate) retention: Duration,
    /// Ended tasks that are kept at most.
    pub(crate) ended_tasks: usize,
}

/// All commands that live on between calls. Dropping it ends them all.
#[derive(Debug)]
pub(crate) struct Registry {
    limits: RegistryLimits,
    book: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    processes: BTreeMap<ProcessId, ProcessEntry>,
    reserved: BTreeSet<ProcessId>,
    tasks: BTreeMap<TaskId, Task>,
    /// What became of ids that are no more, newest last.
    gone: VecDeque<(ProcessId, Gone)>,
    /// Counts uses, to know which came last.
    uses: u64,
    next_id: u64,
}

#[derive(Debug)]
struct ProcessEntry {
    /// Calls that use it hold a clone, made under the lock: nobody does if this is the only one.
    kept: Arc<KeptCommand>,
    last_used: u64,
    label: Label,
}

#[derive(Debug)]
struct Task {
    kept: Arc<KeptCommand>,
    label: Label,
    /// When it was first seen to have ended.
    ended: Option<Instant>,
    /// Its processes that a reply named, by the numbers that they have where they run.
    named: Vec<i32>,
}

/// What a kept command is called in a list.
#[derive(Debug, Clone)]
struct Label {
    command: String,
    started: SystemTime,
}

/// Why an id means nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gone {
    /// Its end has been reported.
    Reported { exit_code: Option<i32> },
    /// It was ended to make room.
    GaveWay,
}

/// How many ids are remembered after they are gone.
const REMEMBERED: usize = 256;

/// A line of a list.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    /// Its id.
    pub(crate) id: String,
    /// How it stands.
    pub(crate) state: State,
    /// What was run.
    pub(crate) command: String,
    /// When.
    pub(crate) started: SystemTime,
    /// Bytes that it has printed.
    pub(crate) bytes: u64,
    /// Its exit code, once it has one.
    pub(crate) exit_code: Option<i32>,
}

/// An id that is taken, for a process that is about to start.
#[derive(Debug)]
pub(crate) struct Reserved<'a> {
    registry: &'a Registry,
    id: ProcessId,
}

impl Registry {
    pub(crate) fn new(limits: RegistryLimits) -> Self {
        Self {
            limits,
            book: Mutex::default(),
        }
    }

    /// Takes an id for a process: the one that the caller wants, or a free one.
    pub(crate) fn reserve(&self, wanted: Option<ProcessId>) -> Result<Reserved<'_>, CallError> {
        let mut book = self.book();
        let id = match wanted {
            Some(id) if book.is_taken(&id) => return Err(CallError::ProcessIdInUse { id }),
            Some(id) => id,
            None => book.free_id(),
        };
        book.reserved.insert(id.clone());
        Ok(Reserved { registry: self, id })
    }

    /// The process of an id. It gives way to no other while this is held.
    pub(crate) fn process(&self, id: &ProcessId) -> Result<Arc<KeptCommand>, CallError> {
        let mut book = self.book();
        book.uses += 1;
        let uses = book.uses;
        if let Some(process) = book.processes.get_mut(id) {
            process.last_used = uses;
            return Ok(Arc::clone(&process.kept));
        }
        let gone = book.gone.iter().rev().find(|(gone, _)| gone == id);
        Err(match gone {
            Some((_, Gone::Reported { exit_code })) => CallError::ProcessEnded {
                id: id.clone(),
                exit_code: *exit_code,
            },
            Some((_, Gone::GaveWay)) => CallError::ProcessGaveWay {
                id: id.clone(),
                most: self.limits.processes,
            },
            None => CallError::NoSuchProcess {
                id: id.clone(),
                known: book.processes.keys().map(|id| id.0.clone()).collect(),
            },
        })
    }

    /// Forgets a process whose end has been reported.
    pub(crate) fn forget(&self, id: &ProcessId, end: &End) {
        let mut book = self.book();
        book.processes.remove(id);
        book.bury(
            id.clone(),
            Gone::Reported {
                exit_code: end.exit_code,
            },
        );
    }

    /// A word of warning if there are many processes.
    pub(crate) fn warning(&self) -> Option<String> {
        let count = self.book().processes.len();
        (count >= self.limits.warn_at).then(|| {
            format!(
                "{count} of at most {} processes are open; end those that you no longer need",
                self.limits.processes
            )
        })
    }

    /// Whether one more background task may start.
    pub(crate) fn room_for_task(&self) -> Result<(), CallError> {
        self.book().room_for_task(&self.limits)
    }

    /// Keeps a command as a background task, if there is room for it. Where there is none it ends.
    pub(crate) fn add_task(
        &self,
        id: TaskId,
        kept: KeptCommand,
        command: String,
    ) -> Result<(), CallError> {
        let task = Task {
            kept: Arc::new(kept),
            label: Label::new(command),
            ended: None,
            named: Vec::new(),
        };
        let mut book = self.book();
        book.room_for_task(&self.limits)?;
        book.tasks.insert(id, task);
        Ok(())
    }

    /// Takes down the processes of a task that a reply names.
    pub(crate) fn name_processes(&self, id: &TaskId, pids: Vec<i32>) {
        if let Some(task) = self.book().tasks.get_mut(id) {
            task.named = pids;
        }
    }

    /// The running tasks of which a reply named a process by this number.
    pub(crate) fn tasks_with(&self, pid: i32) -> Vec<TaskId> {
        let book = self.book();
        let runs = |task: &Task| matches!(task.kept.state(), State::Running);
        let tasks = book.tasks.iter();
        let having = tasks.filter(|(_, task)| task.named.contains(&pid) && runs(task));
        having.map(|(id, _)| id.clone()).collect()
    }

    /// What a background task runs.
    pub(crate) fn task_command(&self, id: &TaskId) -> String {
        let book = self.book();
        let task = book.tasks.get(id);
        task.map_or_else(String::new, |task| task.label.command.clone())
    }

    /// What a process runs.
    pub(crate) fn process_command(&self, id: &ProcessId) -> String {
        let book = self.book();
        let process = book.processes.get(id);
        process.map_or_else(String::new, |process| process.label.command.clone())
    }

    /// The task of an id.
    pub(crate) fn task(&self, id: &TaskId) -> Result<Arc<KeptCommand>, CallError> {
        let mut book = self.book();
        book.tidy(&self.limits);
        match book.tasks.get(id) {
            Some(task) => Ok(Arc::clone(&task.kept)),
            None => Err(CallError::NoSuchTask {
                id: id.clone(),
                known: book.tasks.keys().map(|id| id.0.clone()).collect(),
            }),
        }
    }

    /// The background tasks.
    pub(crate) fn tasks(&self) -> Vec<Listed> {
        let mut book = self.book();
        book.tidy(&self.limits);
        book.tasks
            .iter()
            .map(|(id, task)| task.label.listed(id.0.clone(), &task.kept))
            .collect()
    }

    /// The processes.
    pub(crate) fn processes(&self) -> Vec<Listed> {
        self.book()
            .processes
            .iter()
            .map(|(id, process)| process.label.listed(id.0.clone(), &process.kept))
            .collect()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reserved<'_> {
    /// The id.
    pub(crate) fn id(&self) -> &ProcessId {
        &self.id
    }

    /// Keeps the process under its id. If there are too many, another gives way and is ended.
    pub(crate) fn keep(
        self,
        kept: KeptCommand,
        command: String,
    ) -> Result<Arc<KeptCommand>, CallError> {
        let limits = self.registry.limits;
        let mut book = self.registry.book();
        // It ends when the lock is free again.
        let mut given_way = None;
        if book.processes.len() >= limits.processes {
            let Some(id) = book.gives_way(limits.recent) else {
                return Err(CallError::TooManyProcesses {
                    most: limits.processes,
                });
            };
            given_way = book.processes.remove(&id);
            book.bury(id, Gone::GaveWay);
        }
        book.uses += 1;
        let kept = Arc::new(kept);
        let process = ProcessEntry {
            kept: Arc::clone(&kept),
            last_used: book.uses,
            label: Label::new(command),
        };
        book.processes.insert(self.id.clone(), process);
        drop(book);
        drop(given_way);
        Ok(kept)
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.registry.book().reserved.remove(&self.id);
    }
}

impl Book {
    fn is_taken(&self, id: &ProcessId) -> bool {
        self.processes.contains_key(id) || self.reserved.contains(id)
    }

    fn free_id(&mut self) -> ProcessId {
        const FIRST: u64 = 1000;
        loop {
            self.next_id += 1;
            let id = ProcessId((FIRST + self.next_id).to_string());
            if !self.is_taken(&id) {
                return id;
            }
        }
    }

    /// Which process gives way to a new one: of those that no call holds and that are not among
    /// the last used, one that has ended, or else the one that was not used for longest.
    fn gives_way(&self, recent: usize) -> Option<ProcessId> {
        let mut by_use: Vec<_> = self.processes.iter().collect();
        by_use.sort_by_key(|(_, process)| process.last_used);
        by_use.truncate(by_use.len().saturating_sub(recent));
        by_use.retain(|(_, process)| Arc::strong_count(&process.kept) == 1);
        by_use
            .iter()
            .find(|(_, process)| process.kept.state() != State::Running)
            .or(by_use.first())
            .map(|(id, _)| (*id).clone())
    }

    fn bury(&mut self, id: ProcessId, gone: Gone) {
        self.gone.retain(|(buried, _)| *buried != id);
        self.gone.push_back((id, gone));
        if self.gone.len() > REMEMBERED {
            self.gone.pop_front();
        }
    }

    fn room_for_task(&mut self, limits: &RegistryLimits) -> Result<(), CallError> {
        self.tidy(limits);
        let (running, most) = (self.running_tasks(), limits.tasks);
        if running >= most {
            return Err(CallError::TooManyTasks { running, most });
        }
        Ok(())
    }

    fn running_tasks(&self) -> usize {
        self.tasks
            .values()
            .filter(|task| task.kept.state() == State::Running)
            .count()
    }

    /// Lets go of tasks that ended long ago, and of the oldest if there are too many.
    fn tidy(&mut self, limits: &RegistryLimits) {
        for task in self.tasks.values_mut() {
            if task.ended.is_none() && task.kept.state() != State::Running {
                task.ended = Some(Instant::now());
            }
        }
        self.tasks
            .retain(|_, task| task.ended.is_none_or(|at| at.elapsed() <= limits.retention));
        let mut ended: Vec<_> = self
            .tasks
            .iter()
            .filter_map(|(id, task)| Some((task.ended?, id.clone())))
            .collect();
        ended.sort();
        for (_, id) in ended.iter().rev().skip(limits.ended_tasks) {
            self.tasks.remove(id);
        }
    }
}

impl Label {
    fn new(command: String) -> Self {
        Self {
            command,
            started: SystemTime::now(),
        }
    }

    fn listed(&self, id: String, kept: &KeptCommand) -> Listed {
        Listed {
            id,
            state: kept.state(),
            command: self.command.clone(),
            started: self.started,
            bytes: kept.bytes(),
            exit_code: kept.end().and_then(|end| end.exit_code),
        }
    }
}
