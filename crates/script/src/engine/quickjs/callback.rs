//! What the engine calls: the interrupt, native functions, queued calls, and modules that are filled in.
#![allow(unsafe_code)]

use std::ffi::{CString, c_int, c_void};
use std::sync::atomic::Ordering;

use rquickjs_sys as qjs;

use super::{Bound, Machine, Native, Realm, Thrown, Val};

pub(super) unsafe extern "C" fn interrupt(_: *mut qjs::JSRuntime, opaque: *mut c_void) -> c_int {
    // SAFETY: the machine registered itself and outlives its runtime.
    let machine = unsafe { &*opaque.cast::<Machine>() };
    c_int::from(machine.meter.exhausted() || machine.stop.load(Ordering::Relaxed))
}

/// Every native function, by its number; a function must be listed here to be made.
pub(super) const NATIVES: &[Native] = super::super::globals::NATIVES;

pub(super) unsafe extern "C" fn trampoline(
    context: *mut qjs::JSContext,
    this: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
    packed: c_int,
    data: *mut qjs::JSValue,
) -> qjs::JSValue {
    let body = || {
        // SAFETY: the engine calls with a context of ours, `count` arguments and the one datum that
        // `Realm::function` gave; each gets a reference of its own.
        let (realm, this, arguments, data) = unsafe {
            let realm = Realm::of(context);
            let own = |raw| realm.own(qjs::JS_DupValue(context, raw));
            let count = usize::try_from(count).unwrap_or(0);
            let arguments: Vec<Val> = (0..count).map(|at| own(*arguments.add(at))).collect();
            let (this, data) = (own(this), own(*data));
            (realm, this, arguments, data)
        };
        let bound = Bound {
            this,
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

pub(super) unsafe extern "C" fn call_job(
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

pub(super) unsafe extern "C" fn fill_module(
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

/// The engine tells of a promise that was rejected while nobody waited for it, and again if somebody does later.
pub(super) unsafe extern "C" fn rejection(
    context: *mut qjs::JSContext,
    promise: qjs::JSValue,
    reason: qjs::JSValue,
    is_handled: bool,
    _: *mut c_void,
) {
    // SAFETY: the engine calls with a context of ours and two values that live during the call; each gets a
    // reference of its own.
    let (realm, promise, reason) = unsafe {
        let realm = Realm::of(context);
        let own = |raw| realm.own(qjs::JS_DupValue(context, raw));
        let (promise, reason) = (own(promise), own(reason));
        (realm, promise, reason)
    };
    if let Some(run) = realm.run_state() {
        run.rejections.tell(&run, promise, reason, is_handled);
    }
}
