//! Calls across the boundary: the script's of the host's functions, and the host's of the script's.

use std::task::{Context, Poll, Waker};

use futures_util::FutureExt;

use super::{Pending, Service, UnderWay};
use crate::host::function::{HostError, HostFunction, HostResult, Request};
use crate::protocol::{Ended, Place, ToWorker};
use crate::value::{self, ErrorValue, Shared as Container, Value};

impl Service<'_> {
    pub(super) fn call(
        &mut self,
        call: u64,
        function: u64,
        arguments: &[u8],
        place: Option<Place>,
    ) -> Result<(), String> {
        let (arguments, weight) = self.decode_list(arguments)?;
        let function = usize::try_from(function)
            .ok()
            .and_then(|at| self.functions.known.get(at));
        let function = function
            .ok_or("a call of a function that does not exist")?
            .clone();
        if !function.is_async() {
            self.start(call, &function, arguments);
            return Ok(());
        }
        let held = self.calls_held.saturating_add(weight);
        if !self.under_way.is_empty() && held > self.connection.incoming.held {
            let error =
                HostError::named("RangeError", "too many calls of host functions are waiting");
            self.ended(&Pending::Call(call), Err(error));
            return Ok(());
        }
        let under_way = UnderWay {
            function: function.name().to_owned(),
            place,
            weight,
        };
        self.calls_held = held;
        self.under_way.insert(call, under_way);
        if self.running.len() < self.limits.pending_calls {
            self.start(call, &function, arguments);
        } else {
            self.queued.push_back((call, function, arguments));
        }
        Ok(())
    }

    pub(super) fn start(&mut self, call: u64, function: &HostFunction, arguments: Vec<Value>) {
        match function.begin(arguments) {
            Ok(outcome) => self.ended(&Pending::Call(call), outcome),
            Err(mut future) => {
                // Many functions have their answer at once; those take no place among the running ones. One
                // that has not is polled again there, with a waker that counts.
                let mut nobody = Context::from_waker(Waker::noop());
                if let Poll::Ready(outcome) = future.as_mut().poll(&mut nobody) {
                    return self.ended(&Pending::Call(call), outcome);
                }
                let ended = future.map(move |outcome| (Pending::Call(call), outcome));
                self.running.push(ended.boxed());
            }
        }
    }

    /// A host function or promise has ended: tell the script.
    pub(super) fn ended(&mut self, pending: &Pending, outcome: HostResult) {
        let ended = match outcome {
            Ok(value) => match value::encode(&value, self.connection.outgoing, &mut self.functions)
            {
                Ok(bytes) => Ok(bytes),
                Err(error) => Err(HostError::named("SerializationError", error.to_string())),
            },
            Err(error) => Err(error),
        };
        let ended: Ended = match ended {
            Ok(value) => Ok(value.into()),
            Err(error) => Err(self.encode_error(error).into()),
        };
        self.follow_promises();
        match *pending {
            Pending::Call(call) => {
                if let Some(call) = self.under_way.remove(&call) {
                    self.calls_held = self.calls_held.saturating_sub(call.weight);
                }
                self.connection.send(&ToWorker::Return { call, ended });
            }
            Pending::Promise(promise) => self.connection.send(&ToWorker::Settle { promise, ended }),
        }
    }

    pub(super) fn encode_error(&mut self, error: HostError) -> Vec<u8> {
        let HostError { name, mut message } = error;
        if message.len() > self.limits.message.bytes / 2 {
            "the error's message is too long to cross".clone_into(&mut message);
        }
        let error = Value::Error(Container::new(ErrorValue {
            name,
            message,
            cause: None,
            errors: None,
        }));
        value::encode(&error, self.connection.outgoing, &mut self.functions).unwrap_or_default()
    }

    /// Begins to poll the promises that the last encoded value held.
    pub(super) fn follow_promises(&mut self) {
        for (number, promise) in std::mem::take(&mut self.functions.promises) {
            let future = promise.take();
            let settled = async move {
                let outcome = match future {
                    Some(future) => future.await,
                    None => Err(HostError::new(
                        "a host promise can be given to a script only once",
                    )),
                };
                (Pending::Promise(number), outcome)
            };
            self.running.push(settled.boxed());
        }
    }

    pub(super) fn request(&mut self, request: Request) {
        match request {
            Request::Release { function } => self.connection.send(&ToWorker::Release { function }),
            Request::Invoke {
                function,
                arguments,
                answer,
            } => {
                let arguments = Value::array(arguments);
                match value::encode(&arguments, self.connection.outgoing, &mut self.functions) {
                    Ok(arguments) => {
                        let invocation = self.next_invocation;
                        self.next_invocation += 1;
                        self.invocations.insert(invocation, answer);
                        self.follow_promises();
                        self.connection.send(&ToWorker::Invoke {
                            invocation,
                            function,
                            arguments: arguments.into(),
                        });
                    }
                    Err(error) => {
                        let error = HostError::named("SerializationError", error.to_string());
                        let _ = answer.send(Err(error));
                    }
                }
            }
        }
    }
}
