//! QuickJS behind types that own what they point to: a [`Realm`] is a context, a [`Val`] a counted reference.
//!
//! Two invariants carry every `unsafe` block of this folder. **Live**: a `Realm` keeps its context and runtime
//! alive, and every `Val` holds a `Realm`. **Owned**: a `Val` owns exactly one reference to its value, given
//! back when it is dropped. Nothing here knows what the values mean.
#![allow(unsafe_code)]

mod callback;
mod code;
mod keys;
mod realm;
mod val;

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rquickjs_sys as qjs;

use super::meter::Meter;
use super::run_state::RunState;

/// A global environment. Clones refer to the same one.
#[derive(Clone)]
pub(crate) struct Realm(Rc<Inner>);

struct Inner {
    context: *mut qjs::JSContext,
    machine: Rc<Machine>,
    run: RefCell<Weak<RunState>>,
    random: Cell<u64>,
}

/// A runtime: the heap that its realms share, its meter, and the flag that stops it.
struct Machine {
    runtime: *mut qjs::JSRuntime,
    meter: Box<Meter>,
    stop: Arc<AtomicBool>,
}

/// A value, counted.
pub(crate) struct Val {
    raw: qjs::JSValue,
    realm: Realm,
}

/// A module that is known to its realm; modules live as long as the realm does.
#[derive(Clone, Copy)]
pub(crate) struct ModuleRef(*mut qjs::JSModuleDef);

/// What a script threw.
pub(crate) struct Thrown(pub(crate) Val);

/// A string as the engine holds it.
pub(crate) enum Text {
    Utf8(String),
    Utf16(Vec<u16>),
}

/// The kinds of value that marshaling tells apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    BigInt,
    String,
    Symbol,
    Object,
}

/// Which intrinsics a realm gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intrinsics {
    /// For compiling: it can evaluate source.
    Compiler,
    /// For scripts: nothing that is made from text can ever be evaluated.
    Script,
}

/// A native function: which one, the realm, the arguments, and what it was made with.
pub(crate) type Native = fn(&Realm, &[Val], &Bound) -> Result<Val, Thrown>;

/// What a native function was made with.
pub(crate) struct Bound {
    pub(crate) this: Val,
    pub(crate) magic: i32,
    pub(crate) data: Val,
}

/// How a promise stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromiseState {
    Pending,
    Fulfilled,
    Rejected,
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: Live: the realms held this machine, so all contexts and values are gone.
        unsafe { qjs::JS_FreeRuntime(self.runtime) };
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: Live: no `Val` of this context is left, they hold the realm.
        unsafe { qjs::JS_FreeContext(self.context) };
    }
}

/// Whether a property shows in enumerations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    Enumerable,
    Hidden,
}

impl ModuleRef {
    pub(crate) fn raw(self) -> *mut qjs::JSModuleDef {
        self.0
    }
}
