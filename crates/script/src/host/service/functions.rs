//! The functions and promises of the host that one run knows.

use tokio::sync::mpsc;

use crate::host::function::{HostFunction, HostPromise, Request, ScriptFunction};
use crate::value::FunctionWriter;

/// The functions and promises of the host that the script knows by number.
pub(super) struct Functions {
    pub(super) known: Vec<HostFunction>,
    pub(super) promises: Vec<(u64, HostPromise)>,
    pub(super) next_promise: u64,
    pub(super) requests: mpsc::UnboundedSender<Request>,
}

impl FunctionWriter for Functions {
    fn host_function(&mut self, function: &HostFunction) -> u64 {
        self.known.push(function.clone());
        self.known.len() as u64 - 1
    }

    fn promise(&mut self, promise: &HostPromise) -> u64 {
        let number = self.next_promise;
        self.next_promise += 1;
        self.promises.push((number, promise.clone()));
        number
    }

    fn script_function(&mut self, function: &ScriptFunction) -> Option<u64> {
        function.number_in(&self.requests)
    }
}
