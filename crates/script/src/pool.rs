//! The forked runtime: a zygote, the children that it has forked ahead of need, and what happens when one is lost.
//!
//! A thread of its own starts each zygote, listens to it and reaps it, so that no tokio runtime owns the pool.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use ringfence_confine::{descriptor, process};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::host::{CodeExecution, CodeOptions};
use crate::runtime::{
    Health, RealmKind, RunLimits, RuntimeError, ScriptRuntime, Seat, SeatEnding, SeatFuture, Stop,
};
use crate::worker::WORKER_ARGUMENT;
use crate::worker::control::{Notice, Order, PACKET};

/// The program that serves as worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WorkerProgram {
    /// This very program, with the argument `__worker`. It must call `serve_worker` first in `main`.
    #[default]
    CurrentExecutable,
    /// Another program, with these arguments; the first one should be `__worker`.
    Program {
        /// Where it is.
        path: PathBuf,
        /// Its arguments.
        arguments: Vec<String>,
    },
}

/// How a pool works.
#[derive(Clone, Debug)]
pub struct PoolConfig {
    /// Who serves as worker.
    pub worker: WorkerProgram,
    /// What kind of scripts its workers are made ready for. Others run too, a little later.
    pub realm: RealmKind,
    /// Children that are forked ahead of need.
    pub ready: usize,
    /// Runs at the same time; more wait.
    pub concurrent: usize,
    /// Runs after which the zygote is replaced, so that children don't share one memory layout for ever.
    pub recycle_after: u64,
    /// What bounds every run.
    pub limits: RunLimits,
    /// The time zone of dates, as `TZ` has it; the machine's if absent.
    pub time_zone: Option<String>,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            worker: WorkerProgram::default(),
            realm: RealmKind::default(),
            ready: 2,
            concurrent: 64,
            recycle_after: 10_000,
            limits: RunLimits::default(),
            time_zone: None,
        }
    }
}

/// The default runtime: a fresh process for every run. Clones share the same processes.
#[derive(Clone)]
pub struct Pool(Arc<Inner>);

struct Inner {
    config: PoolConfig,
    places: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    zygote: Option<Zygote>,
    generation: u64,
    ready: VecDeque<Ready>,
    waiting: VecDeque<oneshot::Sender<Result<Ready, RuntimeError>>>,
    endings: HashMap<(u64, u32), oneshot::Sender<SeatEnding>>,
    runs: u64,
    restarts: u64,
    failures: u32,
    problem: Option<String>,
}

struct Zygote {
    control: Arc<OwnedFd>,
    pid: u32,
    /// Forks that were ordered and have not been delivered.
    ordered: usize,
    runs: u64,
}

/// A child that waits for its job.
struct Ready {
    stream: UnixStream,
    pidfd: OwnedFd,
    pid: u32,
    generation: u64,
    ending: oneshot::Receiver<SeatEnding>,
}

/// Kills a child.
struct Kill(OwnedFd);

impl Stop for Kill {
    fn stop(&self) {
        // One that has ended is what we want; nothing else can fail here.
        let _ = process::kill(&self.0);
    }
}

/// A zygote that ends so often before its first child is not tried again for the runs that wait.
const MOST_FAILURES: u32 = 2;

impl Pool {
    /// A pool. Nothing is started before the first run or [`Pool::warm`].
    pub fn new(config: PoolConfig) -> Self {
        let places = Arc::new(Semaphore::new(config.concurrent.max(1)));
        Self(Arc::new(Inner {
            config,
            places,
            state: Mutex::default(),
        }))
    }

    /// Begins a run on this pool. Must be called inside a tokio runtime.
    pub fn run_code(&self, source: impl Into<String>, options: CodeOptions) -> CodeExecution {
        crate::run_code_on(Arc::new(self.clone()), source, options)
    }

    /// Starts the worker and waits until a child is ready.
    pub async fn warm(&self) -> Result<(), RuntimeError> {
        let ready = self.0.checkout().await?;
        self.0.state().ready.push_front(ready);
        Ok(())
    }

    async fn take_seat(&self) -> Result<Seat, RuntimeError> {
        let place = Arc::clone(&self.0.places).acquire_owned().await;
        let place = place.map_err(|error| RuntimeError::System(error.to_string()))?;
        let ready = self.0.checkout().await?;
        let Ready {
            stream,
            pidfd,
            pid,
            ending,
            ..
        } = ready;
        let inner = Arc::clone(&self.0);
        Ok(Seat {
            stream,
            stop: Arc::new(Kill(pidfd)),
            pid: Some(pid),
            ending: Box::pin(async { ending.await.unwrap_or(SeatEnding::Unknown) }),
            release: Box::new(move || inner.release(place)),
        })
    }
}

impl ScriptRuntime for Pool {
    fn seat(&self) -> SeatFuture<'_> {
        Box::pin(self.take_seat())
    }

    fn limits(&self) -> &RunLimits {
        &self.0.config.limits
    }

    fn health(&self) -> Health {
        let state = self.0.state();
        Health {
            name: "forked",
            zygote: state.zygote.as_ref().map(|zygote| zygote.pid),
            ready: state.ready.len(),
            runs: state.runs,
            restarts: state.restarts,
            problem: state.problem.clone(),
        }
    }
}

impl State {
    /// A fork that was ordered of this zygote has been answered.
    fn order_met(&mut self, generation: u64) {
        if generation == self.generation
            && let Some(zygote) = &mut self.zygote
        {
            zygote.ordered = zygote.ordered.saturating_sub(1);
        }
    }

    /// Lets the zygote go; it ends with its last child.
    fn retire(&mut self) {
        let generation = self.generation;
        self.ready.retain(|ready| ready.generation != generation);
        if let Some(zygote) = self.zygote.take() {
            let _ = descriptor::send(&*zygote.control, &Order::Retire.to_packet(), &[]);
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn checkout(self: &Arc<Self>) -> Result<Ready, RuntimeError> {
        let waiting = {
            let mut state = self.state();
            state.runs += 1;
            if let Some(ready) = state.ready.pop_front() {
                return Ok(ready);
            }
            let (deliver, delivery) = oneshot::channel();
            state.waiting.push_back(deliver);
            self.provide(&mut state)?;
            delivery
        };
        let gone = || RuntimeError::System("the pool is gone".to_owned());
        waiting.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Orders as many forks as are missing, with a zygote if there is none.
    fn provide(self: &Arc<Self>, state: &mut State) -> Result<(), RuntimeError> {
        if state.zygote.is_none() {
            self.start(state)?;
        }
        // Forking ahead waits until nobody waits: those who do come first.
        let ahead = if state.waiting.is_empty() {
            self.config.ready
        } else {
            0
        };
        let wanted = state.waiting.len() + ahead.saturating_sub(state.ready.len());
        let Some(zygote) = &mut state.zygote else {
            return Ok(());
        };
        let order = Order::Fork {
            cpu_seconds: self.config.limits.cpu.as_secs().max(1),
        };
        while zygote.ordered < wanted {
            // A zygote that is gone is noticed by its thread, which provides again.
            if descriptor::send(&*zygote.control, &order.to_packet(), &[]).is_err() {
                break;
            }
            zygote.ordered += 1;
        }
        Ok(())
    }

    /// Starts a zygote in a thread that stays with it.
    fn start(self: &Arc<Self>, state: &mut State) -> Result<(), RuntimeError> {
        let system = |error: io::Error| RuntimeError::System(error.to_string());
        let (ours, theirs) = descriptor::socket_pair().map_err(system)?;
        let control = Arc::new(ours);
        let (program, mut command) = self.command(theirs)?;
        state.generation += 1;
        let generation = state.generation;
        let (started, start) = std::sync::mpsc::sync_channel(1);
        let (listener, pool) = (Arc::clone(&control), Arc::downgrade(self));
        // The kernel kills the zygote when the thread that started it ends, so this thread stays with it.
        std::thread::Builder::new()
            .name("ringfence-zygote".to_owned())
            .spawn(move || {
                let mut child = match command.spawn() {
                    Ok(child) => child,
                    Err(error) => return drop(started.send(Err(error))),
                };
                // Only the child may hold its end, or its end would never be seen.
                drop(command);
                if started.send(Ok(child.id())).is_err() {
                    return;
                }
                listen(&listener, &pool, generation);
                let _ = rustix::net::shutdown(&*listener, rustix::net::Shutdown::Both);
                let status = child
                    .wait()
                    .map_or_else(|error| error.to_string(), |status| status.to_string());
                if let Some(pool) = pool.upgrade() {
                    pool.lost(generation, &status);
                }
            })
            .map_err(system)?;
        let failed = |reason: String| RuntimeError::WorkerStart {
            program: program.clone(),
            reason,
        };
        match start.recv() {
            Ok(Ok(pid)) => {
                state.zygote = Some(Zygote {
                    control,
                    pid,
                    ordered: 0,
                    runs: 0,
                });
                Ok(())
            }
            Ok(Err(error)) => {
                state.problem = Some(error.to_string());
                state.waiting.clear();
                Err(failed(error.to_string()))
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }

    fn command(&self, control: OwnedFd) -> Result<(String, Command), RuntimeError> {
        let (path, arguments) = match &self.config.worker {
            WorkerProgram::CurrentExecutable => {
                let path = std::env::current_exe().map_err(|error| RuntimeError::WorkerStart {
                    program: "current executable".to_owned(),
                    reason: error.to_string(),
                })?;
                let kind = self.config.realm.argument().to_owned();
                (path, vec![WORKER_ARGUMENT.to_owned(), kind])
            }
            WorkerProgram::Program { path, arguments } => {
                let mut arguments = arguments.clone();
                arguments.push(self.config.realm.argument().to_owned());
                (path.clone(), arguments)
            }
        };
        let mut command = Command::new(&path);
        // Nothing of the host's environment is of use to a script, and much of it is secret.
        command
            .args(arguments)
            .env_clear()
            .stdin(Stdio::from(control));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(zone) = &self.config.time_zone {
            command.env("TZ", zone);
        }
        Ok((path.display().to_string(), command))
    }

    fn delivered(self: &Arc<Self>, generation: u64, pid: u32, stream: UnixStream, pidfd: OwnedFd) {
        let mut state = self.state();
        let (tell, ending) = oneshot::channel();
        state.endings.insert((generation, pid), tell);
        state.failures = 0;
        state.problem = None;
        state.order_met(generation);
        let mut ready = Ready {
            stream,
            pidfd,
            pid,
            generation,
            ending,
        };
        while let Some(waiter) = state.waiting.pop_front() {
            match waiter.send(Ok(ready)) {
                // It no longer waits; the child is for the next one.
                Err(Ok(unclaimed)) => ready = unclaimed,
                Ok(()) | Err(Err(_)) => return,
            }
        }
        // A zygote that was let go in the meantime must not be kept by a child that nobody needs.
        if state.zygote.is_some() && state.generation == generation {
            state.ready.push_back(ready);
        }
    }

    fn ended(&self, generation: u64, pid: u32, status: i32) {
        let ending = process::Ending::from_status(status);
        let ending = match (ending.signal(), ending.code()) {
            (Some(signal), _) => SeatEnding::Signal(signal),
            (None, Some(code)) => SeatEnding::Exited(code),
            (None, None) => SeatEnding::Unknown,
        };
        let mut state = self.state();
        state
            .ready
            .retain(|ready| (ready.generation, ready.pid) != (generation, pid));
        if let Some(tell) = state.endings.remove(&(generation, pid)) {
            let _ = tell.send(ending);
        }
    }

    fn refused(&self, generation: u64, reason: &str) {
        let mut state = self.state();
        state.problem = Some(reason.to_owned());
        state.order_met(generation);
        if let Some(waiter) = state.waiting.pop_front() {
            let _ = waiter.send(Err(RuntimeError::System(reason.to_owned())));
        }
    }

    /// A zygote has ended, as ordered or not.
    fn lost(self: &Arc<Self>, generation: u64, status: &str) {
        let mut state = self.state();
        state.endings.retain(|(of, _), _| *of != generation);
        state.ready.retain(|ready| ready.generation != generation);
        if state.generation != generation || state.zygote.take().is_none() {
            return;
        }
        state.restarts += 1;
        state.failures += 1;
        let reason = match &state.problem {
            Some(problem) => format!("{status} ({problem})"),
            None => status.to_owned(),
        };
        state.problem = Some(reason.clone());
        if state.waiting.is_empty() {
            return;
        }
        let again = if state.failures < MOST_FAILURES {
            self.provide(&mut state)
        } else {
            Err(RuntimeError::WorkerEnded(reason))
        };
        if let Err(error) = again {
            state.failures = 0;
            for waiter in std::mem::take(&mut state.waiting) {
                let _ = waiter.send(Err(error.clone()));
            }
        }
    }

    /// A run is over and its result delivered: now is the time to fork.
    fn release(self: &Arc<Self>, place: OwnedSemaphorePermit) {
        drop(place);
        let mut state = self.state();
        if let Some(zygote) = &mut state.zygote {
            zygote.runs += 1;
            if zygote.runs >= self.config.recycle_after {
                state.retire();
            }
        }
        // A failure is told to the next run, which tries again.
        if let Err(error) = self.provide(&mut state) {
            state.problem = Some(error.to_string());
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(zygote) = &state.zygote {
            // The zygote sees the end of its socket, kills its children and exits; its thread reaps it.
            let _ = rustix::net::shutdown(&*zygote.control, rustix::net::Shutdown::Both);
        }
    }
}

/// Takes in what a zygote says until it ends or the pool is gone.
fn listen(control: &OwnedFd, pool: &Weak<Inner>, generation: u64) {
    let mut packet = [0_u8; PACKET];
    loop {
        let Ok(received) = descriptor::receive(control.as_fd(), &mut packet) else {
            return;
        };
        let Some(notice) = Notice::from_packet(&packet[..received.length]) else {
            return;
        };
        let Some(pool) = pool.upgrade() else { return };
        match notice {
            Notice::Child { pid } => {
                let Ok([stream, pidfd]) = <[OwnedFd; 2]>::try_from(received.descriptors) else {
                    return;
                };
                pool.delivered(generation, pid, UnixStream::from(stream), pidfd);
            }
            Notice::Ended { pid, status } => pool.ended(generation, pid, status),
            Notice::Refused { reason } => pool.refused(generation, &reason),
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("config", &self.0.config)
            .finish_non_exhaustive()
    }
}
