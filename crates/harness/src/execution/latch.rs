//! A word from outside that is said once and stays said.

use tokio::sync::watch;

/// Something that is set once, from anywhere, and can be waited for.
#[derive(Debug, Clone)]
pub struct Latch(watch::Sender<bool>);

impl Latch {
    /// One that nobody has set yet.
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Sets it. More than once is no different from once.
    pub fn set(&self) {
        self.0.send_replace(true);
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is set.
    pub async fn wait(&self) {
        let mut receiver = self.0.subscribe();
        // The sender lives as long as `self`.
        let _ = receiver.wait_for(|set| *set).await;
    }
}

impl Default for Latch {
    fn default() -> Self {
        Self::new()
    }
}

/// A handle to stop a call from elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    stop: Latch,
    interrupt: Latch,
}

impl Cancel {
    /// A handle that nobody has used yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the call. More than once is no different from once.
    pub fn cancel(&self) {
        self.stop.set();
    }

    /// Has the call's command interrupted, as Ctrl-C does, and leaves it to that what becomes of it.
    pub fn interrupt(&self) {
        self.interrupt.set();
    }

    /// Waits until the command is to be interrupted.
    pub(crate) async fn interrupted(&self) {
        self.interrupt.wait().await;
    }

    /// Whether the call was stopped.
    pub fn is_cancelled(&self) -> bool {
        self.stop.is_set()
    }

    /// Waits until the call is stopped.
    pub async fn cancelled(&self) {
        self.stop.wait().await;
    }
}
