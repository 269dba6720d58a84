//! QuickJS behind types that own what they point to: a [`Realm`] is a context, a [`Val`] a counted reference.
//!
//! Two invariants carry every `unsafe` block of this file. **Live**: a `Realm` keeps its context and runtime
//! alive, and every `Val` holds a `Realm`. **Owned**: a `Val` owns exactly one reference to its value, given
//! back when it is dropped. Nothing here knows what the values mean.
#![allow(unsafe_code)]
#![allow(clippy::cast_possible_truncation, reason = "`size_t` is `usize`")]

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_int, c_void};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rquickjs_sys as qjs;

use super::meter::{self, Meter};
use super::session::Session;

/// A global environment. Clones refer to the same one.
#[derive(Clone)]
pub(crate) struct Realm(Rc<Inner>);

struct Inner {
    context: *mut qjs::JSContext,
    machine: Rc<Machine>,
    session: RefCell<Weak<Session>>,
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

unsafe extern "C" fn interrupt(_: *mut qjs::JSRuntime, opaque: *mut c_void) -> c_int {
    // SAFETY: the machine registered itself and outlives its runtime.
    let machine = unsafe { &*opaque.cast::<Machine>() };
    c_int::from(machine.meter.exhausted() || machine.stop.load(Ordering::Relaxed))
}

impl Realm {
    /// A realm in a new runtime.
    pub(crate) fn new(intrinsics: Intrinsics, stop: Arc<AtomicBool>) -> Option<Self> {
        let meter = Box::new(Meter::new());
        let opaque = std::ptr::from_ref(&*meter).cast_mut().cast::<c_void>();
        // SAFETY: the meter is boxed and owned by the machine that owns the runtime.
        let runtime = unsafe { qjs::JS_NewRuntime2(&raw const meter::FUNCTIONS, opaque) };
        if runtime.is_null() {
            return None;
        }
        let machine = Rc::new(Machine {
            runtime,
            meter,
            stop,
        });
        let pointer = Rc::as_ptr(&machine).cast_mut().cast::<c_void>();
        // SAFETY: the machine outlives its runtime; it does not move inside its `Rc`.
        unsafe { qjs::JS_SetInterruptHandler(runtime, Some(interrupt), pointer) };
        Self::within(machine, intrinsics)
    }

    /// Another realm in the same runtime.
    pub(crate) fn sibling(&self, intrinsics: Intrinsics) -> Option<Self> {
        Self::within(Rc::clone(&self.0.machine), intrinsics)
    }

    fn within(machine: Rc<Machine>, intrinsics: Intrinsics) -> Option<Self> {
        // SAFETY: the machine's runtime is live.
        let context = unsafe { qjs::JS_NewContextRaw(machine.runtime) };
        if context.is_null() {
            return None;
        }
        // SAFETY: a fresh raw context; each call adds one group of intrinsics.
        let failures = unsafe {
            let mut failures = qjs::JS_AddIntrinsicBaseObjects(context)
                + qjs::JS_AddIntrinsicDate(context)
                + qjs::JS_AddIntrinsicRegExp(context)
                + qjs::JS_AddIntrinsicJSON(context)
                + qjs::JS_AddIntrinsicProxy(context)
                + qjs::JS_AddIntrinsicMapSet(context)
                + qjs::JS_AddIntrinsicTypedArrays(context)
                + qjs::JS_AddIntrinsicPromise(context)
                + qjs::JS_AddIntrinsicBigInt(context)
                + qjs::JS_AddIntrinsicWeakRef(context);
            if intrinsics == Intrinsics::Compiler {
                failures += qjs::JS_AddIntrinsicEval(context);
            }
            failures
        };
        let (session, random) = (RefCell::new(Weak::new()), Cell::new(0));
        let realm = Self(Rc::new(Inner {
            context,
            machine,
            session,
            random,
        }));
        let opaque = Rc::as_ptr(&realm.0).cast_mut().cast::<c_void>();
        // SAFETY: the opaque pointer is to the `Inner` that owns the context; it is never dangling while
        // the context can call us.
        unsafe { qjs::JS_SetContextOpaque(context, opaque) };
        (failures == 0).then_some(realm)
    }

    /// The realm of a context that calls us.
    ///
    /// # Safety
    /// `context` must have been made by [`Realm::new`] or [`Realm::sibling`].
    pub(crate) unsafe fn of(context: *mut qjs::JSContext) -> Self {
        // SAFETY: the opaque pointer is what `within` set: an `Rc` that is alive because its context is.
        unsafe {
            let inner = qjs::JS_GetContextOpaque(context)
                .cast::<Inner>()
                .cast_const();
            Rc::increment_strong_count(inner);
            Self(Rc::from_raw(inner))
        }
    }

    pub(crate) fn attach(&self, session: &Rc<Session>) {
        *self.0.session.borrow_mut() = Rc::downgrade(session);
    }

    pub(crate) fn session(&self) -> Option<Rc<Session>> {
        self.0.session.borrow().upgrade()
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn context(&self) -> *mut qjs::JSContext {
        self.0.context
    }

    pub(crate) fn runtime(&self) -> *mut qjs::JSRuntime {
        self.0.machine.runtime
    }

    pub(crate) fn meter(&self) -> &Meter {
        &self.0.machine.meter
    }

    pub(crate) fn random_state(&self) -> &Cell<u64> {
        &self.0.random
    }

    /// Sets the stack limit, counted from here.
    pub(crate) fn set_stack(&self, bytes: usize) {
        // SAFETY: Live.
        unsafe {
            qjs::JS_UpdateStackTop(self.runtime());
            qjs::JS_SetMaxStackSize(self.runtime(), bytes as qjs::size_t);
        }
    }

    /// Takes over a value that the engine gave with a reference of its own.
    pub(crate) fn own(&self, raw: qjs::JSValue) -> Val {
        Val {
            raw,
            realm: self.clone(),
        }
    }

    /// Takes over the outcome of an engine call.
    pub(crate) fn outcome(&self, raw: qjs::JSValue) -> Result<Val, Thrown> {
        // SAFETY: only the tag is read.
        if unsafe { qjs::JS_IsException(raw) } {
            Err(self.exception())
        } else {
            Ok(self.own(raw))
        }
    }

    fn check(&self, code: c_int) -> Result<c_int, Thrown> {
        if code < 0 {
            Err(self.exception())
        } else {
            Ok(code)
        }
    }

    /// The pending exception, taken.
    pub(crate) fn exception(&self) -> Thrown {
        // SAFETY: Live; the reference that it returns is ours.
        Thrown(self.own(unsafe { qjs::JS_GetException(self.context()) }))
    }

    pub(crate) fn undefined(&self) -> Val {
        self.own(qjs::JS_UNDEFINED)
    }

    pub(crate) fn null(&self) -> Val {
        self.own(qjs::JS_NULL)
    }

    pub(crate) fn bool(&self, value: bool) -> Val {
        self.own(if value { qjs::JS_TRUE } else { qjs::JS_FALSE })
    }

    pub(crate) fn number(&self, value: f64) -> Val {
        self.own(qjs::JS_NewFloat64(value))
    }

    pub(crate) fn string(&self, text: &str) -> Result<Val, Thrown> {
        // SAFETY: Live; pointer and length describe `text`.
        self.outcome(unsafe {
            qjs::JS_NewStringLen(
                self.context(),
                text.as_ptr().cast(),
                text.len() as qjs::size_t,
            )
        })
    }

    pub(crate) fn string16(&self, units: &[u16]) -> Result<Val, Thrown> {
        // SAFETY: Live; pointer and length describe `units`.
        self.outcome(unsafe {
            qjs::JS_NewStringUTF16(self.context(), units.as_ptr(), units.len() as qjs::size_t)
        })
    }

    pub(crate) fn object(&self) -> Result<Val, Thrown> {
        // SAFETY: Live.
        self.outcome(unsafe { qjs::JS_NewObject(self.context()) })
    }

    pub(crate) fn array(&self) -> Result<Val, Thrown> {
        // SAFETY: Live.
        self.outcome(unsafe { qjs::JS_NewArray(self.context()) })
    }

    pub(crate) fn date(&self, time: f64) -> Result<Val, Thrown> {
        // SAFETY: Live.
        self.outcome(unsafe { qjs::JS_NewDate(self.context(), time) })
    }

    pub(crate) fn array_buffer(&self, bytes: &[u8]) -> Result<Val, Thrown> {
        // SAFETY: Live; the engine copies `bytes`.
        self.outcome(unsafe {
            qjs::JS_NewArrayBufferCopy(self.context(), bytes.as_ptr(), bytes.len() as qjs::size_t)
        })
    }

    /// A typed array of the engine's number `kind`.
    pub(crate) fn typed_array(&self, kind: u8, arguments: &[Val]) -> Result<Val, Thrown> {
        let mut raw: Vec<_> = arguments.iter().map(|value| value.raw).collect();
        // SAFETY: Live; `raw` holds as many borrowed values as it says.
        self.outcome(unsafe {
            let count = c_int::try_from(raw.len()).unwrap_or(0);
            qjs::JS_NewTypedArray(self.context(), count, raw.as_mut_ptr(), kind.into())
        })
    }

    pub(crate) fn global(&self) -> Val {
        // SAFETY: Live; the reference is ours.
        self.own(unsafe { qjs::JS_GetGlobalObject(self.context()) })
    }

    /// A new promise with the functions that settle it.
    pub(crate) fn promise(&self) -> Result<(Val, Val, Val), Thrown> {
        let mut functions = [qjs::JS_UNDEFINED; 2];
        // SAFETY: Live; the array has the two places that the engine fills.
        let promise = self.outcome(unsafe {
            qjs::JS_NewPromiseCapability(self.context(), functions.as_mut_ptr())
        })?;
        let [resolve, reject] = functions.map(|raw| self.own(raw));
        Ok((promise, resolve, reject))
    }

    /// A function of ours that scripts can call.
    pub(crate) fn function(
        &self,
        name: &str,
        native: Native,
        magic: i32,
        data: &Val,
    ) -> Result<Val, Thrown> {
        let name = CString::new(name).unwrap_or_default();
        let pointer = NATIVES
            .iter()
            .position(|known| std::ptr::fn_addr_eq(*known, native));
        let packed = i32::try_from(pointer.unwrap_or(0)).unwrap_or(0) << 8 | (magic & 0xff);
        let mut data = [data.raw];
        // SAFETY: Live; the engine takes its own references to name and data.
        self.outcome(unsafe {
            let data = data.as_mut_ptr();
            qjs::JS_NewCFunctionData2(
                self.context(),
                Some(trampoline),
                name.as_ptr(),
                0,
                packed,
                1,
                data,
            )
        })
    }

    /// Compiles in this realm, which must be a compiler, to bytecode for any realm of the runtime.
    pub(crate) fn compile(
        &self,
        source: &str,
        name: &str,
        module: bool,
    ) -> Result<Vec<u8>, Thrown> {
        let kind = if module {
            qjs::JS_EVAL_TYPE_MODULE
        } else {
            qjs::JS_EVAL_TYPE_GLOBAL
        };
        let compiled = self.evaluate(source, name, kind | qjs::JS_EVAL_FLAG_COMPILE_ONLY)?;
        let mut size: qjs::size_t = 0;
        // SAFETY: Live; on success the engine returns `size` bytes that we free with its allocator.
        unsafe {
            let flags = qjs::JS_WRITE_OBJ_BYTECODE.cast_signed();
            let bytes = qjs::JS_WriteObject(self.context(), &raw mut size, compiled.raw, flags);
            if bytes.is_null() {
                return Err(self.exception());
            }
            let bytecode = std::slice::from_raw_parts(bytes, size as usize).to_vec();
            qjs::js_free(self.context(), bytes.cast());
            Ok(bytecode)
        }
    }

    /// Evaluates source in this realm, which must be a compiler.
    pub(crate) fn evaluate(&self, source: &str, name: &str, flags: u32) -> Result<Val, Thrown> {
        // The engine wants a zero after the text, and a NUL inside is the script's own affair.
        let mut text = Vec::with_capacity(source.len() + 1);
        text.extend_from_slice(source.as_bytes());
        text.push(0);
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: Live; the text ends with a zero at `input_len`.
        self.outcome(unsafe {
            let length = source.len() as qjs::size_t;
            let flags = flags.cast_signed();
            qjs::JS_Eval(
                self.context(),
                text.as_ptr().cast(),
                length,
                name.as_ptr(),
                flags,
            )
        })
    }

    /// Brings bytecode that [`Realm::compile`] made into this realm.
    pub(crate) fn load(&self, bytecode: &[u8]) -> Result<Val, Thrown> {
        // SAFETY: Live; the bytes come from `compile` of the same process, never from outside.
        self.outcome(unsafe {
            let flags = qjs::JS_READ_OBJ_BYTECODE.cast_signed();
            let length = bytecode.len() as qjs::size_t;
            qjs::JS_ReadObject(self.context(), bytecode.as_ptr(), length, flags)
        })
    }

    /// Runs a loaded script, or links a loaded module and begins to evaluate it.
    pub(crate) fn run(&self, code: Val) -> Result<Val, Thrown> {
        let raw = code.into_raw();
        // SAFETY: Live; the engine takes over the reference.
        self.outcome(unsafe { qjs::JS_EvalFunction(self.context(), raw) })
    }

    /// Loads what a loaded module imports.
    pub(crate) fn resolve_imports(&self, module: &Val) -> Result<(), Thrown> {
        // SAFETY: Live; `module` is a module value.
        self.check(unsafe { qjs::JS_ResolveModule(self.context(), module.raw) })
            .map(drop)
    }

    pub(crate) fn namespace(&self, module: ModuleRef) -> Result<Val, Thrown> {
        // SAFETY: Live; modules live as long as their realm.
        self.outcome(unsafe { qjs::JS_GetModuleNamespace(self.context(), module.0) })
    }

    pub(crate) fn import_meta(&self, module: ModuleRef) -> Result<Val, Thrown> {
        // SAFETY: as above.
        self.outcome(unsafe { qjs::JS_GetImportMeta(self.context(), module.0) })
    }

    /// A module whose exports are the properties of `exports`.
    pub(crate) fn synthetic_module(
        &self,
        name: &str,
        names: &[String],
        exports: Val,
    ) -> Result<ModuleRef, Thrown> {
        let c_name = CString::new(name).unwrap_or_default();
        // SAFETY: Live; the engine copies the names, and takes over the reference to `exports`.
        unsafe {
            let module = qjs::JS_NewCModule(self.context(), c_name.as_ptr(), Some(fill_module));
            if module.is_null() {
                return Err(self.exception());
            }
            for name in names {
                let name = CString::new(name.as_str()).unwrap_or_default();
                self.check(qjs::JS_AddModuleExport(
                    self.context(),
                    module,
                    name.as_ptr(),
                ))?;
            }
            let raw = exports.into_raw();
            self.check(qjs::JS_SetModulePrivateValue(self.context(), module, raw))?;
            Ok(ModuleRef(module))
        }
    }

    /// Runs one job of the microtask queue; false when there is none.
    pub(crate) fn run_job(&self) -> Result<bool, Thrown> {
        let mut context = std::ptr::null_mut();
        // SAFETY: Live.
        let code = unsafe { qjs::JS_ExecutePendingJob(self.runtime(), &raw mut context) };
        self.check(code).map(|code| code > 0)
    }

    /// Puts a call of `function` without arguments into the microtask queue.
    pub(crate) fn enqueue(&self, function: &Val) -> Result<(), Thrown> {
        let mut arguments = [function.raw];
        // SAFETY: Live; the engine takes its own reference.
        self.check(unsafe {
            qjs::JS_EnqueueJob(self.context(), Some(call_job), 1, arguments.as_mut_ptr())
        })
        .map(drop)
    }

    /// Asks `loader` for modules from now on.
    pub(crate) fn set_loader(&self) {
        // SAFETY: Live; the callbacks are static.
        unsafe {
            qjs::JS_SetModuleLoaderFunc2(
                self.runtime(),
                None,
                Some(super::modules::load_callback),
                None,
                std::ptr::null_mut(),
            );
            qjs::JS_SetModuleNormalizeFunc2(
                self.runtime(),
                Some(super::modules::normalize_callback),
            );
        }
    }

    /// An error object of a standard kind.
    pub(crate) fn error(&self, name: &str, message: &str) -> Thrown {
        // SAFETY: Live.
        let error = self.own(unsafe { qjs::JS_NewError(self.context()) });
        let define = |key: &CStr, text: &str| {
            if let Ok(text) = self.string(text) {
                let _ = error.define(key, text, Shown::Hidden);
            }
        };
        define(c"message", message);
        define(c"name", name);
        Thrown(error)
    }
}

/// Whether a property shows in enumerations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Enumerable,
    Hidden,
}

impl ModuleRef {
    pub(crate) fn raw(self) -> *mut qjs::JSModuleDef {
        self.0
    }
}

impl Val {
    pub(crate) fn realm(&self) -> &Realm {
        &self.realm
    }

    pub(crate) fn into_raw(self) -> qjs::JSValue {
        let raw = self.raw;
        // The realm must still be released; the value's own reference goes to the caller.
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: `this` is never used again, so its realm is dropped exactly once, here.
        drop(unsafe { std::ptr::read(&raw const this.realm) });
        raw
    }

    pub(crate) fn kind(&self) -> Kind {
        // SAFETY: only tags and inline numbers are read, each after its tag was checked.
        unsafe {
            match qjs::JS_VALUE_GET_TAG(self.raw) {
                qjs::JS_TAG_NULL => Kind::Null,
                qjs::JS_TAG_BOOL => Kind::Bool(qjs::JS_VALUE_GET_BOOL(self.raw)),
                qjs::JS_TAG_INT => Kind::Number(f64::from(qjs::JS_VALUE_GET_INT(self.raw))),
                qjs::JS_TAG_FLOAT64 => Kind::Number(qjs::JS_VALUE_GET_FLOAT64(self.raw)),
                qjs::JS_TAG_BIG_INT | qjs::JS_TAG_SHORT_BIG_INT => Kind::BigInt,
                qjs::JS_TAG_STRING | qjs::JS_TAG_STRING_ROPE => Kind::String,
                qjs::JS_TAG_SYMBOL => Kind::Symbol,
                qjs::JS_TAG_OBJECT => Kind::Object,
                // Undefined, and what no script can get hold of.
                _ => Kind::Undefined,
            }
        }
    }

    /// The module behind a loaded module value.
    pub(crate) fn module(&self) -> Option<ModuleRef> {
        // SAFETY: the tag is checked before the pointer is taken as a module.
        unsafe {
            let is_module = qjs::JS_VALUE_GET_TAG(self.raw) == qjs::JS_TAG_MODULE;
            is_module.then(|| ModuleRef(qjs::JS_VALUE_GET_PTR(self.raw).cast()))
        }
    }

    /// What tells one object from another.
    pub(crate) fn address(&self) -> usize {
        // SAFETY: the pointer is only compared.
        unsafe { qjs::JS_VALUE_GET_PTR(self.raw) as usize }
    }

    pub(crate) fn class_id(&self) -> u32 {
        // SAFETY: Live.
        unsafe { qjs::JS_GetClassID(self.raw) }
    }

    pub(crate) fn is_function(&self) -> bool {
        // SAFETY: Live.
        unsafe { qjs::JS_IsFunction(self.realm.context(), self.raw) }
    }

    pub(crate) fn is_error(&self) -> bool {
        // SAFETY: Live.
        unsafe { qjs::JS_IsError(self.raw) }
    }

    pub(crate) fn is_proxy(&self) -> bool {
        // SAFETY: Live.
        unsafe { qjs::JS_IsProxy(self.raw) }
    }

    /// The number of a typed array's kind, if this is one.
    pub(crate) fn typed_array_kind(&self) -> Option<u8> {
        // SAFETY: Live.
        u8::try_from(unsafe { qjs::JS_GetTypedArrayType(self.raw) }).ok()
    }

    /// The buffer of a typed array, and where the array lies in it.
    pub(crate) fn typed_array_buffer(&self) -> Result<(Val, usize, usize), Thrown> {
        let (mut offset, mut length, mut element): (qjs::size_t, qjs::size_t, qjs::size_t) =
            (0, 0, 0);
        // SAFETY: Live; the three places are ours.
        let buffer = self.realm.outcome(unsafe {
            qjs::JS_GetTypedArrayBuffer(
                self.realm.context(),
                self.raw,
                &raw mut offset,
                &raw mut length,
                &raw mut element,
            )
        })?;
        Ok((buffer, offset as usize, length as usize))
    }

    /// Looks at the bytes of an `ArrayBuffer`. Nothing that runs script code may happen in `look`.
    pub(crate) fn with_buffer<T>(&self, look: impl FnOnce(&[u8]) -> T) -> Result<T, Thrown> {
        let mut length: qjs::size_t = 0;
        // SAFETY: Live; the slice is used before any other engine call can move or free the buffer.
        unsafe {
            let data = qjs::JS_GetArrayBuffer(self.realm.context(), &raw mut length, self.raw);
            if data.is_null() {
                // An empty buffer has no data either; only a detached one throws.
                if qjs::JS_HasException(self.realm.context()) {
                    return Err(self.realm.exception());
                }
                return Ok(look(&[]));
            }
            Ok(look(std::slice::from_raw_parts(data, length as usize)))
        }
    }

    pub(crate) fn promise_state(&self) -> Option<PromiseState> {
        // SAFETY: Live.
        match unsafe { qjs::JS_PromiseState(self.realm.context(), self.raw) } {
            0 => Some(PromiseState::Pending),
            1 => Some(PromiseState::Fulfilled),
            2 => Some(PromiseState::Rejected),
            _ => None,
        }
    }

    /// Has one of two functions called when this promise settles, whatever `then` is by now.
    pub(crate) fn then(&self, fulfilled: &Val, rejected: &Val) -> Result<(), Thrown> {
        // SAFETY: Live; the values are borrowed for the call.
        self.realm
            .outcome(unsafe {
                let context = self.realm.context();
                qjs::JS_PromiseThen(context, self.raw, fulfilled.raw, rejected.raw)
            })
            .map(drop)
    }

    pub(crate) fn promise_result(&self) -> Val {
        // SAFETY: Live; the reference is ours.
        self.realm
            .own(unsafe { qjs::JS_PromiseResult(self.realm.context(), self.raw) })
    }

    pub(crate) fn get(&self, key: &CStr) -> Result<Val, Thrown> {
        let context = self.realm.context();
        // SAFETY: Live.
        self.realm
            .outcome(unsafe { qjs::JS_GetPropertyStr(context, self.raw, key.as_ptr()) })
    }

    pub(crate) fn get_text(&self, key: &str) -> Result<Val, Thrown> {
        self.get(&CString::new(key).unwrap_or_default())
    }

    pub(crate) fn get_index(&self, index: u32) -> Result<Val, Thrown> {
        // SAFETY: Live.
        self.realm
            .outcome(unsafe { qjs::JS_GetPropertyUint32(self.realm.context(), self.raw, index) })
    }

    /// Whether there is an own property at this index.
    pub(crate) fn has_own_index(&self, index: u32) -> Result<bool, Thrown> {
        let context = self.realm.context();
        // SAFETY: Live; without a descriptor to fill the engine only says whether it is there. The atom is
        // given back at once.
        let code = unsafe {
            let atom = qjs::JS_NewAtomUInt32(context, index);
            let code = qjs::JS_GetOwnProperty(context, std::ptr::null_mut(), self.raw, atom);
            qjs::JS_FreeAtom(context, atom);
            code
        };
        self.realm.check(code).map(|code| code > 0)
    }

    pub(crate) fn has(&self, key: &str) -> Result<bool, Thrown> {
        let atom = Atom::new(&self.realm, key)?;
        // SAFETY: Live.
        self.realm
            .check(unsafe { qjs::JS_HasProperty(self.realm.context(), self.raw, atom.raw) })
            .map(|code| code > 0)
    }

    /// Defines an own property, whatever prototypes say.
    pub(crate) fn define(&self, key: &CStr, value: Val, shown: Shown) -> Result<(), Thrown> {
        let flags = flags(shown);
        let raw = value.into_raw();
        // SAFETY: Live; the engine takes over the reference to the value.
        self.realm
            .check(unsafe {
                let context = self.realm.context();
                qjs::JS_DefinePropertyValueStr(context, self.raw, key.as_ptr(), raw, flags)
            })
            .map(drop)
    }

    /// Defines an own enumerable property under any key.
    pub(crate) fn define_text(&self, key: &str, value: Val) -> Result<(), Thrown> {
        let atom = Atom::new(&self.realm, key)?;
        let raw = value.into_raw();
        // SAFETY: Live; the engine takes over the reference to the value.
        self.realm
            .check(unsafe {
                let (context, flags) = (self.realm.context(), flags(Shown::Enumerable));
                qjs::JS_DefinePropertyValue(context, self.raw, atom.raw, raw, flags)
            })
            .map(drop)
    }

    pub(crate) fn define_index(&self, index: u32, value: Val) -> Result<(), Thrown> {
        let raw = value.into_raw();
        // SAFETY: Live; the engine takes over the reference to the value.
        self.realm
            .check(unsafe {
                let (context, flags) = (self.realm.context(), flags(Shown::Enumerable));
                qjs::JS_DefinePropertyValueUint32(context, self.raw, index, raw, flags)
            })
            .map(drop)
    }

    pub(crate) fn delete(&self, key: &str) -> Result<(), Thrown> {
        let atom = Atom::new(&self.realm, key)?;
        // SAFETY: Live.
        self.realm
            .check(unsafe { qjs::JS_DeleteProperty(self.realm.context(), self.raw, atom.raw, 0) })
            .map(drop)
    }

    pub(crate) fn length(&self) -> Result<u64, Thrown> {
        let mut length = 0_i64;
        // SAFETY: Live; the place is ours.
        let code = unsafe { qjs::JS_GetLength(self.realm.context(), self.raw, &raw mut length) };
        self.realm.check(code)?;
        Ok(u64::try_from(length).unwrap_or(0))
    }

    pub(crate) fn set_length(&self, length: u64) -> Result<(), Thrown> {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        // SAFETY: Live.
        self.realm
            .check(unsafe { qjs::JS_SetLength(self.realm.context(), self.raw, length) })
            .map(drop)
    }

    /// The own enumerable string keys, in the language's order.
    pub(crate) fn keys(&self) -> Result<Keys, Thrown> {
        let (mut table, mut length) = (std::ptr::null_mut(), 0_u32);
        let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY).cast_signed();
        // SAFETY: Live; `Keys` frees the table.
        self.realm.check(unsafe {
            let (table, length) = (&raw mut table, &raw mut length);
            qjs::JS_GetOwnPropertyNames(self.realm.context(), table, length, self.raw, flags)
        })?;
        Ok(Keys {
            realm: self.realm.clone(),
            table,
            length,
        })
    }

    pub(crate) fn call(&self, this: &Val, arguments: &[Val]) -> Result<Val, Thrown> {
        let mut raw: Vec<_> = arguments.iter().map(|value| value.raw).collect();
        let count = c_int::try_from(raw.len()).unwrap_or(c_int::MAX);
        // SAFETY: Live; the arguments are borrowed for the call.
        self.realm.outcome(unsafe {
            qjs::JS_Call(
                self.realm.context(),
                self.raw,
                this.raw,
                count,
                raw.as_mut_ptr(),
            )
        })
    }

    pub(crate) fn construct(&self, arguments: &[Val]) -> Result<Val, Thrown> {
        let mut raw: Vec<_> = arguments.iter().map(|value| value.raw).collect();
        let count = c_int::try_from(raw.len()).unwrap_or(c_int::MAX);
        // SAFETY: Live; the arguments are borrowed for the call.
        self.realm.outcome(unsafe {
            qjs::JS_CallConstructor(self.realm.context(), self.raw, count, raw.as_mut_ptr())
        })
    }

    /// The text of a string; other values are converted as the language does.
    pub(crate) fn text(&self) -> Result<Text, Thrown> {
        let mut length: qjs::size_t = 0;
        // SAFETY: Live; the engine's buffer is copied and given back at once.
        unsafe {
            let context = self.realm.context();
            let bytes = qjs::JS_ToCStringLen2(context, &raw mut length, self.raw, false);
            if bytes.is_null() {
                return Err(self.realm.exception());
            }
            let utf8 = std::slice::from_raw_parts(bytes.cast::<u8>(), length as usize);
            let text = std::str::from_utf8(utf8).map(str::to_owned);
            qjs::JS_FreeCString(context, bytes);
            if let Ok(text) = text {
                return Ok(Text::Utf8(text));
            }
            // Lone surrogates have no UTF-8.
            let units = qjs::JS_ToCStringLenUTF16(context, &raw mut length, self.raw);
            if units.is_null() {
                return Err(self.realm.exception());
            }
            let copy = std::slice::from_raw_parts(units, length as usize).to_vec();
            qjs::JS_FreeCStringUTF16(context, units);
            Ok(Text::Utf16(copy))
        }
    }

    /// The text of a string, with lone surrogates replaced; `None` for anything else.
    pub(crate) fn string(&self) -> Option<String> {
        if self.kind() != Kind::String {
            return None;
        }
        match self.text().ok()? {
            Text::Utf8(text) => Some(text),
            Text::Utf16(units) => Some(String::from_utf16_lossy(&units)),
        }
    }
}

impl Clone for Val {
    fn clone(&self) -> Self {
        // SAFETY: Live, Owned: the copy gets a reference of its own.
        let raw = unsafe { qjs::JS_DupValue(self.realm.context(), self.raw) };
        Self {
            raw,
            realm: self.realm.clone(),
        }
    }
}

impl Drop for Val {
    fn drop(&mut self) {
        // SAFETY: Owned: this is the one reference of this `Val`.
        unsafe { qjs::JS_FreeValue(self.realm.context(), self.raw) };
    }
}

/// The keys of an object, freed with this list.
pub(crate) struct Keys {
    realm: Realm,
    table: *mut qjs::JSPropertyEnum,
    length: u32,
}

impl Keys {
    pub(crate) fn len(&self) -> usize {
        self.length as usize
    }

    fn atom(&self, at: usize) -> qjs::JSAtom {
        assert!(at < self.len());
        // SAFETY: the table has `length` entries and `at` is below it.
        unsafe { (*self.table.add(at)).atom }
    }

    /// The key as a string value.
    pub(crate) fn key(&self, at: usize) -> Result<Val, Thrown> {
        // SAFETY: Live; the atom is held by the table.
        self.realm
            .outcome(unsafe { qjs::JS_AtomToString(self.realm.context(), self.atom(at)) })
    }

    /// Reads the property of this key.
    pub(crate) fn value(&self, object: &Val, at: usize) -> Result<Val, Thrown> {
        // SAFETY: Live; the atom is held by the table.
        self.realm.outcome(unsafe {
            qjs::JS_GetProperty(self.realm.context(), object.raw, self.atom(at))
        })
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // SAFETY: Owned: the table came from the engine with this length.
        unsafe { qjs::JS_FreePropertyEnum(self.realm.context(), self.table, self.length) };
    }
}

struct Atom<'a> {
    realm: &'a Realm,
    raw: qjs::JSAtom,
}

impl<'a> Atom<'a> {
    fn new(realm: &'a Realm, text: &str) -> Result<Self, Thrown> {
        // SAFETY: Live; pointer and length describe `text`.
        let raw = unsafe {
            qjs::JS_NewAtomLen(
                realm.context(),
                text.as_ptr().cast(),
                text.len() as qjs::size_t,
            )
        };
        if raw == 0 {
            Err(realm.exception())
        } else {
            Ok(Self { realm, raw })
        }
    }
}

impl Drop for Atom<'_> {
    fn drop(&mut self) {
        // SAFETY: Owned.
        unsafe { qjs::JS_FreeAtom(self.realm.context(), self.raw) };
    }
}

fn flags(shown: Shown) -> c_int {
    let flags = qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_WRITABLE;
    let flags = if shown == Shown::Enumerable {
        flags | qjs::JS_PROP_ENUMERABLE
    } else {
        flags
    };
    flags.cast_signed()
}

/// Every native function, by its number; a function must be listed here to be made.
const NATIVES: &[Native] = super::globals::NATIVES;

unsafe extern "C" fn trampoline(
    context: *mut qjs::JSContext,
    _this: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
    packed: c_int,
    data: *mut qjs::JSValue,
) -> qjs::JSValue {
    let body = || {
        // SAFETY: the engine calls with a context of ours, `count` arguments and the one datum that
        // `Realm::function` gave; each gets a reference of its own.
        let (realm, arguments, data) = unsafe {
            let realm = Realm::of(context);
            let own = |raw| realm.own(qjs::JS_DupValue(context, raw));
            let count = usize::try_from(count).unwrap_or(0);
            let arguments: Vec<Val> = (0..count).map(|at| own(*arguments.add(at))).collect();
            let data = own(*data);
            (realm, arguments, data)
        };
        let bound = Bound {
            magic: packed & 0xff,
            data,
        };
        let native = usize::try_from(packed >> 8)
            .ok()
            .and_then(|at| NATIVES.get(at));
        let outcome = match native {
            Some(native) => native(&realm, &arguments, &bound),
            None => Err(realm.error("InternalError", "unknown native function")),
        };
        match outcome {
            Ok(value) => value.into_raw(),
            // SAFETY: Live; the engine takes over the reference.
            Err(Thrown(value)) => unsafe { qjs::JS_Throw(context, value.into_raw()) },
        }
    };
    // A panic must not unwind into C.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(qjs::JS_EXCEPTION)
}

unsafe extern "C" fn call_job(
    context: *mut qjs::JSContext,
    _count: c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: `enqueue` gave one argument, a function; the engine holds it during the job.
    unsafe {
        qjs::JS_Call(
            context,
            *arguments,
            qjs::JS_UNDEFINED,
            0,
            std::ptr::null_mut(),
        )
    }
}

unsafe extern "C" fn fill_module(
    context: *mut qjs::JSContext,
    module: *mut qjs::JSModuleDef,
) -> c_int {
    // SAFETY: the engine calls with a context of ours and the module that `synthetic_module` made; the
    // private value is the object of exports.
    unsafe {
        let realm = Realm::of(context);
        let exports = realm.own(qjs::JS_GetModulePrivateValue(context, module));
        let Ok(keys) = exports.keys() else { return -1 };
        for at in 0..keys.len() {
            let (Ok(key), Ok(value)) = (keys.key(at), keys.value(&exports, at)) else {
                return -1;
            };
            let name = CString::new(key.string().unwrap_or_default()).unwrap_or_default();
            if qjs::JS_SetModuleExport(context, module, name.as_ptr(), value.into_raw()) < 0 {
                return -1;
            }
        }
        0
    }
}
