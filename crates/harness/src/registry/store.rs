//! All commands that live on between calls, by their ids.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::{Attended, End, State};
use crate::error::CallError;

/// The id of a session, chosen by the caller or given out.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct ProcessId(pub String);

/// The id of a background task.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct TaskId(pub String);

impl TaskId {
    /// An id that nothing has.
    pub(crate) fn random() -> Self {
        Self(crate::identifier::random("task"))
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How many there may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RegistryLimits {
    /// Sessions at once.
    pub(crate) sessions: usize,
    /// Sessions from which on the caller is warned.
    pub(crate) warn_at: usize,
    /// Sessions, last used, that never give way.
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
    sessions: BTreeMap<ProcessId, Session>,
    reserved: BTreeSet<ProcessId>,
    tasks: BTreeMap<TaskId, Task>,
    /// What became of ids that are no more, newest last.
    gone: VecDeque<(ProcessId, Gone)>,
    /// Counts uses, to know which came last.
    uses: u64,
    next_id: u64,
}

#[derive(Debug)]
struct Session {
    /// Calls that use it hold a clone, made under the lock: nobody does if this is the only one.
    attended: Arc<Attended>,
    last_used: u64,
    label: Label,
}

#[derive(Debug)]
struct Task {
    attended: Arc<Attended>,
    label: Label,
    /// When it was first seen to have ended.
    ended: Option<Instant>,
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

/// An id that is taken, for a session that is about to start.
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

    /// Takes an id for a session: the one that the caller wants, or a free one.
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

    /// The session of an id. It gives way to no other while this is held.
    pub(crate) fn session(&self, id: &ProcessId) -> Result<Arc<Attended>, CallError> {
        let mut book = self.book();
        book.uses += 1;
        let uses = book.uses;
        if let Some(session) = book.sessions.get_mut(id) {
            session.last_used = uses;
            return Ok(Arc::clone(&session.attended));
        }
        let gone = book.gone.iter().rev().find(|(gone, _)| gone == id);
        Err(match gone {
            Some((_, Gone::Reported { exit_code })) => CallError::ProcessEnded {
                id: id.clone(),
                exit_code: *exit_code,
            },
            Some((_, Gone::GaveWay)) => CallError::ProcessGaveWay {
                id: id.clone(),
                most: self.limits.sessions,
            },
            None => CallError::NoSuchProcess {
                id: id.clone(),
                known: book.sessions.keys().map(|id| id.0.clone()).collect(),
            },
        })
    }

    /// Forgets a session whose end has been reported.
    pub(crate) fn forget(&self, id: &ProcessId, end: &End) {
        let mut book = self.book();
        book.sessions.remove(id);
        book.bury(
            id.clone(),
            Gone::Reported {
                exit_code: end.exit_code,
            },
        );
    }

    /// A word of warning if there are many sessions.
    pub(crate) fn warning(&self) -> Option<String> {
        let count = self.book().sessions.len();
        (count >= self.limits.warn_at).then(|| {
            format!(
                "{count} of at most {} processes are open; end those that you no longer need",
                self.limits.sessions
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
        attended: Attended,
        command: String,
    ) -> Result<(), CallError> {
        let task = Task {
            attended: Arc::new(attended),
            label: Label::new(command),
            ended: None,
        };
        let mut book = self.book();
        book.room_for_task(&self.limits)?;
        book.tasks.insert(id, task);
        Ok(())
    }

    /// What a background task runs.
    pub(crate) fn task_command(&self, id: &TaskId) -> String {
        let book = self.book();
        let task = book.tasks.get(id);
        task.map_or_else(String::new, |task| task.label.command.clone())
    }

    /// What a session runs.
    pub(crate) fn session_command(&self, id: &ProcessId) -> String {
        let book = self.book();
        let session = book.sessions.get(id);
        session.map_or_else(String::new, |session| session.label.command.clone())
    }

    /// The task of an id.
    pub(crate) fn task(&self, id: &TaskId) -> Result<Arc<Attended>, CallError> {
        let mut book = self.book();
        book.tidy(&self.limits);
        match book.tasks.get(id) {
            Some(task) => Ok(Arc::clone(&task.attended)),
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
            .map(|(id, task)| task.label.listed(id.0.clone(), &task.attended))
            .collect()
    }

    /// The sessions.
    pub(crate) fn sessions(&self) -> Vec<Listed> {
        self.book()
            .sessions
            .iter()
            .map(|(id, session)| session.label.listed(id.0.clone(), &session.attended))
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

    /// Keeps the session under its id. If there are too many, another gives way and is ended.
    pub(crate) fn keep(
        self,
        attended: Attended,
        command: String,
    ) -> Result<Arc<Attended>, CallError> {
        let limits = self.registry.limits;
        let mut book = self.registry.book();
        // It ends when the lock is free again.
        let mut given_way = None;
        if book.sessions.len() >= limits.sessions {
            let Some(id) = book.gives_way(limits.recent) else {
                return Err(CallError::TooManyProcesses {
                    most: limits.sessions,
                });
            };
            given_way = book.sessions.remove(&id);
            book.bury(id, Gone::GaveWay);
        }
        book.uses += 1;
        let attended = Arc::new(attended);
        let session = Session {
            attended: Arc::clone(&attended),
            last_used: book.uses,
            label: Label::new(command),
        };
        book.sessions.insert(self.id.clone(), session);
        drop(book);
        drop(given_way);
        Ok(attended)
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.registry.book().reserved.remove(&self.id);
    }
}

impl Book {
    fn is_taken(&self, id: &ProcessId) -> bool {
        self.sessions.contains_key(id) || self.reserved.contains(id)
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

    /// Which session gives way to a new one: of those that no call holds and that are not among
    /// the last used, one that has ended, or else the one that was not used for longest.
    fn gives_way(&self, recent: usize) -> Option<ProcessId> {
        let mut by_use: Vec<_> = self.sessions.iter().collect();
        by_use.sort_by_key(|(_, session)| session.last_used);
        by_use.truncate(by_use.len().saturating_sub(recent));
        by_use.retain(|(_, session)| Arc::strong_count(&session.attended) == 1);
        by_use
            .iter()
            .find(|(_, session)| session.attended.state() != State::Running)
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
            .filter(|task| task.attended.state() == State::Running)
            .count()
    }

    /// Lets go of tasks that ended long ago, and of the oldest if there are too many.
    fn tidy(&mut self, limits: &RegistryLimits) {
        for task in self.tasks.values_mut() {
            if task.ended.is_none() && task.attended.state() != State::Running {
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

    fn listed(&self, id: String, attended: &Attended) -> Listed {
        Listed {
            id,
            state: attended.state(),
            command: self.command.clone(),
            started: self.started,
            bytes: attended.bytes(),
            exit_code: attended.end().and_then(|end| end.exit_code),
        }
    }
}
