//! One run from the inside: the bridge between the script's calls and the host's frames.
//!
//! It owns what lives as long as the run: pending calls, handles on the script's functions, the module
//! sources. `run` drives it; `globals` and `modules` call into it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::rc::Rc;

use super::channel::Channel;
use super::clone_fault::CloneFault;
use super::clone_in::{self, Imports};
use super::clone_out::{self, Functions};
use super::globals;
use super::modules::Graph;
use super::primordials::Primordials;
use super::quickjs::{Realm, Thrown, Val};
use super::template::Template;
use crate::protocol::{Ended, FromWorker, Job, ToWorker};
use crate::value::Limits;

/// The state of a run.
pub(crate) struct Session {
    pub(crate) realm: Realm,
    pub(crate) compiler: Realm,
    pub(crate) primordials: Rc<Primordials>,
    pub(crate) graph: RefCell<Graph>,
    pub(crate) limits: Limits,
    channel: RefCell<Channel>,
    calls: RefCell<HashMap<u64, Settler>>,
    promises: RefCell<HashMap<u64, Settler>>,
    handles: RefCell<HashMap<u64, Val>>,
    next: Cell<u64>,
    log_lines: Cell<u64>,
    log_rate: LogRate,
    reports: Cell<u64>,
    dropped_logs: Cell<u64>,
}

/// Lines of the console in the second that began at a time.
struct LogRate {
    most: u64,
    began: Cell<f64>,
    lines: Cell<u64>,
}

impl LogRate {
    fn admits(&self) -> bool {
        let now = globals::now();
        if self.most == 0 {
            return true;
        }
        if now - self.began.get() >= 1000.0 {
            self.began.set(now);
            self.lines.set(0);
        }
        self.lines.set(self.lines.get() + 1);
        self.lines.get() <= self.most
    }
}

/// The functions that settle a promise.
struct Settler {
    resolve: Val,
    reject: Val,
}

impl Session {
    pub(crate) fn new(
        template: &Template,
        graph: Graph,
        limits: Limits,
        job: &Job,
        channel: Channel,
    ) -> Rc<Self> {
        let session = Rc::new(Self {
            realm: template.realm.clone(),
            compiler: template.compiler.clone(),
            primordials: Rc::clone(&template.primordials),
            graph: RefCell::new(graph),
            limits,
            channel: RefCell::new(channel),
            calls: RefCell::default(),
            promises: RefCell::default(),
            handles: RefCell::default(),
            next: Cell::new(0),
            log_lines: Cell::new(job.log_lines),
            log_rate: LogRate {
                most: job.log_rate,
                began: Cell::new(0.0),
                lines: Cell::new(0),
            },
            reports: Cell::new(job.reports),
            dropped_logs: Cell::new(0),
        });
        session.realm.attach(&session);
        session.compiler.attach(&session);
        session
    }

    /// The channel of a session that nobody else holds.
    pub(crate) fn into_channel(session: Rc<Self>) -> Option<Channel> {
        Rc::into_inner(session).map(|session| session.channel.into_inner())
    }

    fn number(&self) -> u64 {
        let number = self.next.get();
        self.next.set(number + 1);
        number
    }

    pub(crate) fn send(&self, message: &FromWorker) -> io::Result<()> {
        self.channel.borrow_mut().send(message)
    }

    fn tell(&self, message: &FromWorker) -> Result<(), Thrown> {
        self.send(message).map_err(|error| {
            self.realm
                .error("Error", &format!("the host is gone: {error}"))
        })
    }

    /// Lines of the console that the limit dropped.
    pub(crate) fn dropped_logs(&self) -> u64 {
        self.dropped_logs.get()
    }

    pub(crate) fn clone_in(&self, bytes: &[u8]) -> Result<Val, Thrown> {
        clone_in::clone_in(bytes, &self.realm, &self.primordials, self.limits, self)
    }

    pub(crate) fn clone_out(
        &self,
        value: &Val,
        functions: Functions<'_>,
    ) -> Result<Vec<u8>, CloneFault> {
        clone_out::clone_out(value, &self.primordials, self.limits, functions)
    }

    fn clone_list_out(
        &self,
        values: &[Val],
        functions: Functions<'_>,
    ) -> Result<Vec<u8>, CloneFault> {
        clone_out::clone_list_out(values, &self.primordials, self.limits, functions)
    }

    /// Calls a host function: waits for a synchronous one, gives a promise for another.
    pub(crate) fn call_host(
        &self,
        function: u64,
        arguments: &[Val],
        waits: bool,
    ) -> Result<Val, Thrown> {
        let mut handle = |value: Val| {
            let number = self.number();
            self.handles.borrow_mut().insert(number, value);
            number
        };
        let arguments = self
            .clone_list_out(arguments, Functions::Handle(&mut handle))
            .map_err(|fault| fault.into_thrown(&self.realm, "arguments"))?;
        let call = self.number();
        let message = FromWorker::Call {
            call,
            function,
            arguments: arguments.into(),
        };
        if waits {
            self.tell(&message)?;
            return self.wait_for(call);
        }
        let (promise, resolve, reject) = self.realm.promise()?;
        self.tell(&message)?;
        self.calls
            .borrow_mut()
            .insert(call, Settler { resolve, reject });
        Ok(promise)
    }

    fn wait_for(&self, awaited: u64) -> Result<Val, Thrown> {
        loop {
            let message = self.channel.borrow_mut().receive();
            match message {
                Ok(Some(ToWorker::Return { call, ended })) if call == awaited => {
                    return match ended {
                        Ok(value) => self.clone_in(&value),
                        Err(error) => Err(Thrown(self.clone_in(&error)?)),
                    };
                }
                Ok(Some(other)) => self.channel.borrow_mut().put_aside(other),
                Ok(None) | Err(_) => return Err(self.realm.error("Error", "the host is gone")),
            }
        }
    }

    /// Sends a value to the `report` bridge.
    pub(crate) fn report(&self, value: &Val) -> Result<(), Thrown> {
        let Some(left) = self.reports.get().checked_sub(1) else {
            return Err(self
                .realm
                .error("RangeError", "no more reports are taken from this run"));
        };
        self.reports.set(left);
        let value = self
            .clone_out(value, Functions::Refuse)
            .map_err(|fault| fault.into_thrown(&self.realm, "report"))?;
        self.tell(&FromWorker::Report {
            value: value.into(),
        })
    }

    /// Sends a line of the built-in console, if the limit allows one more.
    pub(crate) fn log(&self, level: u8, arguments: &[Val]) -> Result<(), Thrown> {
        let left = self.log_lines.get().checked_sub(1);
        let Some(left) = left.filter(|_| self.log_rate.admits()) else {
            self.dropped_logs.set(self.dropped_logs.get() + 1);
            return Ok(());
        };
        self.log_lines.set(left);
        let arguments = self
            .clone_list_out(arguments, Functions::Describe)
            .map_err(|fault| fault.into_thrown(&self.realm, "console"))?;
        self.tell(&FromWorker::Log {
            level,
            time: globals::now(),
            arguments: arguments.into(),
        })
    }

    /// `structuredClone`: out and in again.
    pub(crate) fn structured_clone(&self, value: &Val) -> Result<Val, Thrown> {
        let bytes = self
            .clone_out(value, Functions::Refuse)
            .map_err(|fault| fault.into_thrown(&self.realm, "structuredClone"))?;
        self.clone_in(&bytes)
    }

    /// Whether anything that the host may still say could continue the script.
    pub(crate) fn expects_the_host(&self) -> bool {
        !self.calls.borrow().is_empty()
            || !self.promises.borrow().is_empty()
            || !self.handles.borrow().is_empty()
    }

    /// Waits for the next frame and acts on it; false when the host is gone.
    pub(crate) fn attend(&self) -> Result<bool, Thrown> {
        let message = self.channel.borrow_mut().next();
        let Ok(Some(message)) = message else {
            return Ok(false);
        };
        match message {
            ToWorker::Return { call, ended } => {
                let settler = self.calls.borrow_mut().remove(&call);
                self.settle(settler, &ended)?;
            }
            ToWorker::Settle { promise, ended } => {
                let settler = self.promises.borrow_mut().remove(&promise);
                self.settle(settler, &ended)?;
            }
            ToWorker::Invoke {
                invocation,
                function,
                arguments,
            } => {
                self.invoke(invocation, function, &arguments)?;
            }
            ToWorker::Release { function } => {
                self.handles.borrow_mut().remove(&function);
            }
            // A second job is a broken host; there is nothing to do with it.
            ToWorker::Run(_) => return Ok(false),
        }
        Ok(true)
    }

    fn settle(&self, settler: Option<Settler>, ended: &Ended) -> Result<(), Thrown> {
        let Some(settler) = settler else {
            return Ok(());
        };
        let (Ok(bytes) | Err(bytes)) = ended;
        let (value, good) = match self.clone_in(bytes) {
            Ok(value) => (value, ended.is_ok()),
            Err(Thrown(error)) => (error, false),
        };
        let function = if good {
            &settler.resolve
        } else {
            &settler.reject
        };
        function.call(&self.realm.undefined(), &[value]).map(drop)
    }

    /// Calls a function of the script for the host; the answer goes out when its promise settles.
    fn invoke(&self, invocation: u64, function: u64, arguments: &[u8]) -> Result<(), Thrown> {
        let function = self.handles.borrow().get(&function).cloned();
        let undefined = self.realm.undefined();
        let outcome = match function {
            None => Err(self
                .realm
                .error("ReferenceError", "the function has been released")),
            Some(function) => self
                .spread(arguments)
                .and_then(|list| function.call(&undefined, &list)),
        };
        let (promise, resolve, reject) = self.realm.promise()?;
        match outcome {
            Ok(value) => resolve.call(&undefined, &[value])?,
            Err(Thrown(error)) => reject.call(&undefined, &[error])?,
        };
        #[expect(clippy::cast_precision_loss, reason = "a counter")]
        let number = self.realm.number(invocation as f64);
        let good = self.realm.function("", globals::invoked, 1, &number)?;
        let bad = self.realm.function("", globals::invoked, 0, &number)?;
        promise.then(&good, &bad)
    }

    pub(crate) fn spread(&self, arguments: &[u8]) -> Result<Vec<Val>, Thrown> {
        let array = self.clone_in(arguments)?;
        let length = u32::try_from(array.length()?).unwrap_or(0);
        (0..length).map(|index| array.get_index(index)).collect()
    }

    /// Answers the host's call of a script function.
    pub(crate) fn answer(&self, invocation: u64, value: &Val, good: bool) -> Result<(), Thrown> {
        let mut handle = |value: Val| {
            let number = self.number();
            self.handles.borrow_mut().insert(number, value);
            number
        };
        let encode = |value: &Val, handle: &mut dyn FnMut(Val) -> u64| {
            self.clone_out(value, Functions::Handle(handle))
                .map_err(|fault| fault.into_thrown(&self.realm, "result"))
        };
        let ended = match (encode(value, &mut handle), good) {
            (Ok(bytes), true) => Ok(bytes),
            (Ok(bytes), false) => Err(bytes),
            (Err(Thrown(error)), _) => Err(encode(&error, &mut handle)?),
        };
        self.tell(&FromWorker::Invoked {
            invocation,
            ended: ended.map(Into::into).map_err(Into::into),
        })
    }
}

impl Imports for Session {
    fn host_function(&self, number: u64, waits: bool, name: &str) -> Result<Val, Thrown> {
        #[expect(clippy::cast_precision_loss, reason = "a counter")]
        let data = self.realm.number(number as f64);
        self.realm
            .function(name, globals::call_host, i32::from(waits), &data)
    }

    fn host_promise(&self, number: u64) -> Result<Val, Thrown> {
        let (promise, resolve, reject) = self.realm.promise()?;
        self.promises
            .borrow_mut()
            .insert(number, Settler { resolve, reject });
        Ok(promise)
    }

    fn script_function(&self, number: u64) -> Option<Val> {
        self.handles.borrow().get(&number).cloned()
    }
}
