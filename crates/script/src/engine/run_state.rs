//! One run from the inside: the bridge between the script's calls and the host's frames.
//!
//! It owns what lives as long as the run: pending calls, handles on the script's functions, the module
//! sources. `run` drives it; `globals` and `modules` call into it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::rc::Rc;

use super::channel::Channel;
use super::clone_fault::CloneFault;
use super::clone_in::{self, Imports};
use super::clone_out::{self, Functions};
use super::globals;
use super::modules::Graph;
use super::outlet::Outlet;
use super::primordials::Primordials;
use super::quickjs::{Kind, Realm, Thrown, Val, Visibility};
use super::rejections::Rejections;
use super::stack;
use super::template::Template;
use crate::protocol::{DroppedCall, Ended, FromWorker, Job, Place, ToWorker};
use crate::value::Limits;

/// The state of a run.
pub(crate) struct RunState {
    pub(crate) realm: Realm,
    pub(crate) compiler: Realm,
    pub(crate) primordials: Rc<Primordials>,
    pub(crate) graph: RefCell<Graph>,
    pub(crate) limits: Limits,
    channel: RefCell<Channel>,
    pub(crate) rejections: Rejections,
    /// Better messages for what was called at a place although it is no function.
    pub(crate) callees: RefCell<HashMap<Place, Option<String>>>,
    pub(crate) outlet: Outlet,
    calls: RefCell<BTreeMap<u64, Call>>,
    promises: RefCell<HashMap<u64, Settler>>,
    handles: RefCell<HashMap<u64, Val>>,
    names: RefCell<HashMap<u64, String>>,
    next: Cell<u64>,
    /// Synchronous calls that the script is inside of.
    waiting: Cell<u64>,
}

/// The functions that settle a promise.
struct Settler {
    resolve: Val,
    reject: Val,
}

/// A call of an asynchronous host function that is under way.
struct Call {
    settler: Settler,
    function: u64,
    /// The engine's text of the stack that it was made on, for the error that it may come to.
    stack: Option<String>,
    place: Option<Place>,
    /// Its first argument, if that is a whole number.
    number: Option<u64>,
}

impl RunState {
    pub(crate) fn new(
        template: &Template,
        graph: Graph,
        limits: Limits,
        job: &Job,
        channel: Channel,
    ) -> Rc<Self> {
        let run = Rc::new(Self {
            realm: template.realm.clone(),
            compiler: template.compiler.clone(),
            primordials: Rc::clone(&template.primordials),
            graph: RefCell::new(graph),
            limits,
            channel: RefCell::new(channel),
            rejections: Rejections::default(),
            callees: RefCell::default(),
            outlet: Outlet::new(job),
            calls: RefCell::default(),
            promises: RefCell::default(),
            handles: RefCell::default(),
            names: RefCell::default(),
            next: Cell::new(0),
            waiting: Cell::new(0),
        });
        run.realm.attach(&run);
        run.compiler.attach(&run);
        run
    }

    /// The channel of a run that nobody else holds.
    pub(crate) fn into_channel(run: Rc<Self>) -> Option<Channel> {
        Rc::into_inner(run).map(|run| run.channel.into_inner())
    }

    fn number(&self) -> u64 {
        let number = self.next.get();
        self.next.set(number + 1);
        number
    }

    pub(crate) fn send(&self, message: &FromWorker) -> io::Result<()> {
        self.channel.borrow_mut().send(message)
    }

    pub(super) fn tell(&self, message: &FromWorker) -> Result<(), Thrown> {
        self.send(message).map_err(|error| {
            self.realm
                .error("Error", &format!("the host is gone: {error}"))
        })
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
        let functions = Functions::Handle(&mut handle);
        let number = arguments.first().and_then(whole_number);
        let arguments =
            clone_out::clone_list_out(arguments, &self.primordials, self.limits, functions);
        let arguments = arguments.map_err(|fault| fault.into_thrown(&self.realm, "arguments"))?;
        let call = self.number();
        let stack = if waits { None } else { self.stack_here() };
        let place = stack
            .as_deref()
            .and_then(|stack| stack::top(stack, &self.graph.borrow()));
        let message = FromWorker::Call {
            call,
            function,
            arguments: arguments.into(),
            place: place.clone(),
        };
        if waits {
            self.tell(&message)?;
            self.waiting.set(self.waiting.get() + 1);
            let returned = self.wait_for(call);
            self.waiting.set(self.waiting.get() - 1);
            return returned;
        }
        let (promise, resolve, reject) = self.realm.promise()?;
        self.tell(&message)?;
        let call_under_way = Call {
            settler: Settler { resolve, reject },
            function,
            stack,
            place,
            number,
        };
        self.calls.borrow_mut().insert(call, call_under_way);
        Ok(promise)
    }

    /// The calls of host functions that are under way, in the order in which they were made.
    pub(crate) fn under_way(&self) -> Vec<DroppedCall> {
        let (calls, names) = (self.calls.borrow(), self.names.borrow());
        let dropped = |call: &Call| DroppedCall {
            function: names.get(&call.function).cloned().unwrap_or_default(),
            place: call.place.clone(),
            number: call.number,
        };
        calls.values().map(dropped).collect()
    }

    /// Waits for the end of a call. Functions of the script that the host calls meanwhile are called at
    /// once: the end may depend on them.
    fn wait_for(&self, awaited: u64) -> Result<Val, Thrown> {
        let returned = |ended: Ended| match ended {
            Ok(value) => self.clone_in(&value),
            Err(error) => Err(Thrown(self.clone_in(&error)?)),
        };
        loop {
            // A function that was called meanwhile may have waited too, and put it aside.
            let aside = self.channel.borrow_mut().take_return(awaited);
            if let Some(ended) = aside {
                return returned(ended);
            }
            let message = self.channel.borrow_mut().receive();
            match message {
                Ok(Some(ToWorker::Return { call, ended })) if call == awaited => {
                    return returned(ended);
                }
                Ok(Some(ToWorker::Invoke {
                    invocation,
                    function,
                    arguments,
                })) => self.invoke(invocation, function, &arguments)?,
                Ok(Some(other)) => self.channel.borrow_mut().put_aside(other),
                Ok(None) | Err(_) => return Err(self.realm.error("Error", "the host is gone")),
            }
        }
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

    /// Runs one job of the microtask queue; false when there is none.
    pub(crate) fn run_job(&self) -> Result<bool, Thrown> {
        // What was thrown before has nothing to do with it.
        drop(self.realm.take_back_trace());
        let ran = self.realm.run_job();
        if let Err(Thrown(error)) = &ran {
            self.rejections.note(self, error);
        }
        ran
    }

    /// Waits for the next frame and acts on it; false when the host is gone.
    pub(crate) fn attend(&self) -> Result<bool, Thrown> {
        let message = self.channel.borrow_mut().next();
        let Ok(Some(message)) = message else {
            return Ok(false);
        };
        match message {
            ToWorker::Return { call, ended } => {
                let call = self.calls.borrow_mut().remove(&call);
                if let Some(Call { settler, stack, .. }) = call {
                    self.settle(Some(settler), &ended, stack.as_deref())?;
                }
            }
            ToWorker::Settle { promise, ended } => {
                let settler = self.promises.borrow_mut().remove(&promise);
                self.settle(settler, &ended, None)?;
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

    fn settle(
        &self,
        settler: Option<Settler>,
        ended: &Ended,
        stack: Option<&str>,
    ) -> Result<(), Thrown> {
        let Some(settler) = settler else {
            return Ok(());
        };
        let (Ok(bytes) | Err(bytes)) = ended;
        let (value, good) = match self.clone_in(bytes) {
            Ok(value) => (value, ended.is_ok()),
            Err(Thrown(error)) => (error, false),
        };
        if let Some(stack) = stack.filter(|_| !good && value.is_error()) {
            // It was made here; it belongs where the call was made.
            let frames = stack::frames(stack, &self.graph.borrow());
            let field = |key| value.get(key).ok().and_then(|text| text.string());
            let (name, message) = (field(c"name"), field(c"message"));
            let text = stack::text(
                &name.unwrap_or_default(),
                &message.unwrap_or_default(),
                &frames,
            );
            value.define(c"stack", self.realm.string(&text)?, Visibility::Hidden)?;
        }
        let function = if good {
            &settler.resolve
        } else {
            &settler.reject
        };
        function.call(&self.realm.undefined(), &[value]).map(drop)
    }

    /// Calls a function of the script for the host; the answer goes out when its promise settles.
    fn invoke(&self, invocation: u64, function: u64, arguments: &[u8]) -> Result<(), Thrown> {
        let waits = self.waiting.get() > 0;
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
            // What is there already is told at once: while the script waits no promise settles.
            Ok(value) if waits && value.promise_state().is_none() => {
                return self.answer(invocation, &value, true);
            }
            Err(Thrown(error)) if waits => return self.answer(invocation, &error, false),
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

impl Imports for RunState {
    fn host_function(&self, number: u64, waits: bool, name: &str) -> Result<Val, Thrown> {
        self.names.borrow_mut().insert(number, name.to_owned());
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

fn whole_number(value: &Val) -> Option<u64> {
    match value.kind() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be a small whole number"
        )]
        Kind::Number(number) if number >= 0.0 && number.fract() == 0.0 && number < 1e9 => {
            Some(number as u64)
        }
        _ => None,
    }
}
