//! Making a realm, and making values in it.
#![allow(unsafe_code)]
#![allow(clippy::cast_possible_truncation, reason = "`size_t` is `usize`")]

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_int, c_void};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rquickjs_sys as qjs;

use super::super::meter::{self, Meter};
use super::super::run_state::RunState;
use super::{Inner, Intrinsics, Machine, Native, Realm, Thrown, Val, Visibility, callback};

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
        unsafe {
            qjs::JS_SetInterruptHandler(runtime, Some(callback::interrupt), pointer);
            qjs::JS_SetHostPromiseRejectionTracker(runtime, Some(callback::rejection), pointer);
        }
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
        let (run, random) = (RefCell::new(Weak::new()), Cell::new(0));
        let realm = Self(Rc::new(Inner {
            context,
            machine,
            run,
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

    pub(crate) fn attach(&self, run: &Rc<RunState>) {
        *self.0.run.borrow_mut() = Rc::downgrade(run);
    }

    pub(crate) fn run_state(&self) -> Option<Rc<RunState>> {
        self.0.run.borrow().upgrade()
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

    pub(super) fn check(&self, code: c_int) -> Result<c_int, Thrown> {
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

    /// Where the last exception was thrown, or the last error made, as the engine writes stacks; told once.
    pub(crate) fn take_back_trace(&self) -> Val {
        /// The number of this question.
        const ERROR_BACK_TRACE: c_int = 2;
        let mut raw = qjs::JS_UNDEFINED;
        // SAFETY: Live; this question takes a context and a place for one value, whose reference is then ours.
        unsafe { qjs::js_std_cmd(ERROR_BACK_TRACE, self.context(), &raw mut raw) };
        self.own(raw)
    }

    /// An error that knows where the engine is now.
    pub(crate) fn here(&self) -> Option<Val> {
        // SAFETY: Live.
        self.outcome(unsafe { qjs::JS_NewError(self.context()) })
            .ok()
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
        let pointer = callback::NATIVES
            .iter()
            .position(|known| std::ptr::fn_addr_eq(*known, native));
        let packed = i32::try_from(pointer.unwrap_or(0)).unwrap_or(0) << 8 | (magic & 0xff);
        let mut data = [data.raw];
        // SAFETY: Live; the engine takes its own references to name and data.
        self.outcome(unsafe {
            let data = data.as_mut_ptr();
            qjs::JS_NewCFunctionData2(
                self.context(),
                Some(callback::trampoline),
                name.as_ptr(),
                0,
                packed,
                1,
                data,
            )
        })
    }

    /// An error object of a standard kind.
    pub(crate) fn error(&self, name: &str, message: &str) -> Thrown {
        // SAFETY: Live.
        let error = self.own(unsafe { qjs::JS_NewError(self.context()) });
        let define = |key: &CStr, text: &str| {
            if let Ok(text) = self.string(text) {
                let _ = error.define(key, text, Visibility::Hidden);
            }
        };
        define(c"message", message);
        define(c"name", name);
        Thrown(error)
    }
}
