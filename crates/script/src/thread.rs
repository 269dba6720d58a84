//! The in-process runtime: a thread per run. For where processes cannot be forked; chosen explicitly.
//!
//! It has no kernel fence: a fault in the engine is a fault of the host. A terminated run settles at once, but a
//! native that ignores the interrupt keeps its thread until it returns.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::oneshot;

use crate::engine::{self, Channel, Template};
use crate::protocol::ToWorker;
use crate::runtime::{
    Health, RunLimits, RuntimeError, ScriptRuntime, Seat, SeatEnding, SeatFuture, Stop,
};

/// Room for the engine's stack limit, the TypeScript parser and deep values.
const THREAD_STACK: usize = 64 << 20;

/// Runs scripts on threads of this process.
#[derive(Debug, Default)]
pub struct ThreadRuntime {
    limits: RunLimits,
    runs: AtomicU64,
}

impl ThreadRuntime {
    /// A runtime with these limits.
    pub fn new(limits: RunLimits) -> Self {
        Self {
            limits,
            runs: AtomicU64::new(0),
        }
    }

    fn start(&self) -> Result<Seat, RuntimeError> {
        let system = |error: std::io::Error| RuntimeError::System(error.to_string());
        let (stream, worker_end) = UnixStream::pair().map_err(system)?;
        let stop = Arc::new(Interrupt {
            flag: Arc::default(),
            stream: stream.try_clone().map_err(system)?,
        });
        let flag = Arc::clone(&stop.flag);
        let limits = self.limits.message;
        let (ended, ending) = oneshot::channel();
        std::thread::Builder::new()
            .name("ringfence-script".to_owned())
            .stack_size(THREAD_STACK)
            .spawn(move || {
                serve(Channel::new(worker_end, limits), flag);
                let _ = ended.send(SeatEnding::Exited(0));
            })
            .map_err(system)?;
        self.runs.fetch_add(1, Ordering::Relaxed);
        let ending = Box::pin(async { ending.await.unwrap_or(SeatEnding::Unknown) });
        Ok(Seat {
            stream,
            stop,
            pid: None,
            ending,
            release: Box::new(|| {}),
        })
    }
}

fn serve(mut channel: Channel, stop: Arc<AtomicBool>) {
    let Ok(Some(ToWorker::Run(job))) = channel.receive() else {
        return;
    };
    if let Ok(template) = Template::new(job.realm(), stop) {
        engine::run(&template, &job, channel);
    }
}

struct Interrupt {
    flag: Arc<AtomicBool>,
    stream: UnixStream,
}

impl Stop for Interrupt {
    fn stop(&self) {
        self.flag.store(true, Ordering::Relaxed);
        // A thread that waits for the host sees the end of its socket.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

impl ScriptRuntime for ThreadRuntime {
    fn seat(&self) -> SeatFuture<'_> {
        Box::pin(std::future::ready(self.start()))
    }

    fn limits(&self) -> &RunLimits {
        &self.limits
    }

    fn health(&self) -> Health {
        Health {
            name: "thread",
            runs: self.runs.load(Ordering::Relaxed),
            ..Health::default()
        }
    }
}
