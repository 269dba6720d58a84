//! Functions of scripts that the client holds, by handles.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ringfence::script::ScriptFunction;

use crate::bridge::CallBridge;

/// How many of one run a client may hold.
const MOST: usize = 4096;

/// The functions that the client holds.
#[derive(Default)]
pub(crate) struct Handles {
    next: AtomicU64,
    held: Mutex<HashMap<String, Held>>,
}

/// A function, and the run that it is of.
#[derive(Clone)]
pub(crate) struct Held {
    pub(crate) function: ScriptFunction,
    pub(crate) bridge: Arc<CallBridge>,
}

impl Handles {
    fn held(&self) -> MutexGuard<'_, HashMap<String, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A handle for a function; nothing if the client holds too many.
    pub(crate) fn hold(
        &self,
        function: ScriptFunction,
        bridge: &Arc<CallBridge>,
    ) -> Option<String> {
        let mut held = self.held();
        let of_run = held
            .values()
            .filter(|held| Arc::ptr_eq(&held.bridge, bridge));
        if of_run.count() >= MOST {
            return None;
        }
        let handle = format!("h{}", self.next.fetch_add(1, Ordering::Relaxed) + 1);
        let bridge = Arc::clone(bridge);
        held.insert(handle.clone(), Held { function, bridge });
        Some(handle)
    }

    /// The function of a handle.
    pub(crate) fn get(&self, handle: &str) -> Option<Held> {
        self.held().get(handle).cloned()
    }

    /// Lets go of functions, and says how many there were.
    pub(crate) fn release(&self, handles: &[String]) -> usize {
        let mut held = self.held();
        let released: Vec<Held> = handles
            .iter()
            .filter_map(|handle| held.remove(handle))
            .collect();
        // The last word to the run is said when the lock is free.
        drop(held);
        released.len()
    }

    /// Lets go of all functions of a run that has ended.
    pub(crate) fn release_run(&self, bridge: &Arc<CallBridge>) {
        let mut held = self.held();
        held.retain(|_, held| !Arc::ptr_eq(&held.bridge, bridge));
    }
}
