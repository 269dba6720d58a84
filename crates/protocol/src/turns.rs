//! Whose turn it is: how many calls run at once.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Tools that start nothing on this machine, or that others wait for: they need no turn, so that they never wait behind what they would end.
const WITHOUT: &[&str] = &[
    "write_stdin",
    "bash_task_output",
    "bash_task_stop",
    "bash_task_list",
    "run_code",
    "run_script",
];

/// The turns of a session.
#[derive(Debug, Clone)]
pub struct Turns(Arc<Semaphore>);

/// The turn of a call. It is given up while somebody is asked.
#[derive(Debug, Clone)]
pub struct Turn {
    turns: Turns,
    held: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl Turns {
    /// Turns for so many calls at once.
    pub fn new(at_once: usize) -> Self {
        Self(Arc::new(Semaphore::new(at_once)))
    }

    /// A turn that is still to come.
    pub fn turn(&self) -> Turn {
        Turn {
            turns: self.clone(),
            held: Arc::default(),
        }
    }
}

impl Turn {
    /// Waits for it, if a call of this tool needs one.
    pub async fn come(&self, tool: &str) {
        if !WITHOUT.contains(&tool) {
            let permit = Arc::clone(&self.turns.0).acquire_owned().await;
            self.hold(permit.ok());
        }
    }

    /// Lets others go on while somebody thinks.
    pub fn give_up(&self) {
        self.hold(None);
    }

    /// Goes on. What was asked about waits no more than it has: as many more as there are questions may run then.
    pub fn go_on(&self) {
        self.hold(Arc::clone(&self.turns.0).try_acquire_owned().ok());
    }

    fn hold(&self, permit: Option<OwnedSemaphorePermit>) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = permit;
    }
}
