//! What a script finds on `globalThis`: the ECMAScript intrinsics, less what can evaluate text or share memory,
//! plus `structuredClone`, `queueMicrotask` and a `Math.random` that is seeded in every process.

use std::time::{SystemTime, UNIX_EPOCH};

use super::quickjs::{Bound, Kind, Native, Realm, Thrown, Val, Visibility};
use super::{fault, stack};

/// Every native function that a script can reach.
pub(crate) const NATIVES: &[Native] = &[
    call_host,
    invoked,
    structured_clone,
    queue_microtask,
    random,
    report,
    log,
    locate,
    thrown,
    caught,
    error_stack,
    capture_stack_trace,
];

/// The methods of the built-in console; a level's number is its place.
pub(crate) const LEVELS: [&str; 5] = ["log", "info", "warn", "error", "debug"];

/// What the engine brings and a script must not have.
const REMOVED: [&str; 4] = ["eval", "SharedArrayBuffer", "Atomics", "InternalError"];

/// The engine has an error of its own for sizes that it refuses; to a script it is a `RangeError`.
pub(crate) const RANGE_ERRORS: &str = "
    Object.setPrototypeOf(InternalError.prototype, RangeError.prototype);
    for (const key of Object.getOwnPropertyNames(InternalError.prototype)) {
        delete InternalError.prototype[key];
    }";

/// Hooks into the making of stack traces. Without them a script cannot forge the text that we read.
const REMOVED_FROM_ERROR: [&str; 2] = ["prepareStackTrace", "stackTraceLimit"];

/// Makes a fresh realm fit for scripts.
pub(crate) fn harden(realm: &Realm) -> Result<(), Thrown> {
    let global = realm.global();
    for name in REMOVED {
        global.delete(name)?;
    }
    let error = global.get(c"Error")?;
    for name in REMOVED_FROM_ERROR {
        error.delete(name)?;
    }
    let nothing = realm.undefined();
    let capture = realm.function("captureStackTrace", capture_stack_trace, 0, &nothing)?;
    error.define(c"captureStackTrace", capture, Visibility::Hidden)?;
    error.get(c"prototype")?.redefine_getter(
        "stack",
        &realm.function("get stack", error_stack, 0, &nothing)?,
    )?;
    let clone = realm.function("structuredClone", structured_clone, 0, &nothing)?;
    global.define(c"structuredClone", clone, Visibility::Hidden)?;
    let queue = realm.function("queueMicrotask", queue_microtask, 0, &nothing)?;
    global.define(c"queueMicrotask", queue, Visibility::Hidden)?;
    let math = global.get(c"Math")?;
    math.define(
        c"random",
        realm.function("random", random, 0, &nothing)?,
        Visibility::Hidden,
    )
}

/// Seeds `Math.random` of a realm.
pub(crate) fn seed(realm: &Realm) {
    let mut bytes = [0_u8; 8];
    // Without randomness from the system the time still tells two runs apart.
    if getrandom::fill(&mut bytes).is_err() {
        bytes = now().to_le_bytes();
    }
    realm.random_state().set(u64::from_le_bytes(bytes) | 1);
}

/// The console that is there when the caller brings none.
pub(crate) fn console(realm: &Realm) -> Result<Val, Thrown> {
    let console = realm.object()?;
    let nothing = realm.undefined();
    for (level, name) in (0..).zip(LEVELS) {
        console.define_text(name, realm.function(name, log, level, &nothing)?)?;
    }
    Ok(console)
}

/// The `report` bridge.
pub(crate) fn report_function(realm: &Realm) -> Result<Val, Thrown> {
    realm.function("report", report, 0, &realm.undefined())
}

/// Milliseconds since 1970.
pub(crate) fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |time| time.as_secs_f64() * 1000.0)
        .floor()
}

fn bound_number(bound: &Bound) -> u64 {
    match bound.data.kind() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "made from a counter"
        )]
        Kind::Number(number) => number as u64,
        _ => 0,
    }
}

fn first(realm: &Realm, arguments: &[Val]) -> Val {
    arguments
        .first()
        .cloned()
        .unwrap_or_else(|| realm.undefined())
}

fn no_run(realm: &Realm) -> Thrown {
    realm.error("Error", "no run is active")
}

pub(crate) fn call_host(realm: &Realm, arguments: &[Val], bound: &Bound) -> Result<Val, Thrown> {
    let run = realm.run_state().ok_or_else(|| no_run(realm))?;
    run.call_host(bound_number(bound), arguments, bound.magic == 1)
}

pub(crate) fn invoked(realm: &Realm, arguments: &[Val], bound: &Bound) -> Result<Val, Thrown> {
    let run = realm.run_state().ok_or_else(|| no_run(realm))?;
    run.answer(
        bound_number(bound),
        &first(realm, arguments),
        bound.magic == 1,
    )?;
    Ok(realm.undefined())
}

fn structured_clone(realm: &Realm, arguments: &[Val], _: &Bound) -> Result<Val, Thrown> {
    let run = realm.run_state().ok_or_else(|| no_run(realm))?;
    let Some(value) = arguments.first() else {
        return Err(realm.error("TypeError", "structuredClone needs a value"));
    };
    run.structured_clone(value)
}

fn queue_microtask(realm: &Realm, arguments: &[Val], _: &Bound) -> Result<Val, Thrown> {
    let function = first(realm, arguments);
    if !function.is_function() {
        return Err(realm.error("TypeError", "queueMicrotask needs a function"));
    }
    realm.enqueue(&function)?;
    Ok(realm.undefined())
}

/// xorshift64*, as in the engine, but with a state that we can seed after a fork.
#[expect(clippy::unnecessary_wraps, reason = "the type of every native")]
fn random(realm: &Realm, _: &[Val], _: &Bound) -> Result<Val, Thrown> {
    let state = realm.random_state();
    let mut x = state.get();
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    state.set(x);
    let bits = x.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11;
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit exactly")]
    Ok(realm.number(bits as f64 / (1_u64 << 53) as f64))
}

fn report(realm: &Realm, arguments: &[Val], _: &Bound) -> Result<Val, Thrown> {
    let run = realm.run_state().ok_or_else(|| no_run(realm))?;
    run.report(&first(realm, arguments))?;
    Ok(realm.undefined())
}

/// Where in the source a stack began, as `line:column`; undefined if no line of it is the script's.
pub(crate) fn locate(realm: &Realm, arguments: &[Val], _: &Bound) -> Result<Val, Thrown> {
    let run = realm.run_state().ok_or_else(|| no_run(realm))?;
    let text = first(realm, arguments).string().unwrap_or_default();
    match stack::top_of_shown(&text, &run.graph.borrow()) {
        Some(at) => realm.string(&format!("{}:{}", at.line, at.column)),
        None => Ok(realm.undefined()),
    }
}

/// A value is about to be thrown here.
pub(crate) fn thrown(realm: &Realm, arguments: &[Val], _: &Bound) -> Result<Val, Thrown> {
    let run = realm.run_state().ok_or_else(|| no_run(realm))?;
    let value = first(realm, arguments);
    run.rejections.thrown_here(&run, &value);
    Ok(value)
}

/// A value was caught: says what the engine leaves out of its message.
pub(crate) fn caught(realm: &Realm, arguments: &[Val], _: &Bound) -> Result<Val, Thrown> {
    let run = realm.run_state().ok_or_else(|| no_run(realm))?;
    let value = first(realm, arguments);
    fault::complete(&value, &run);
    Ok(value)
}

/// `error.stack`: what happened, and the lines of the source that was written.
fn error_stack(realm: &Realm, _: &[Val], bound: &Bound) -> Result<Val, Thrown> {
    let error = &bound.this;
    match realm.run_state() {
        Some(run) if error.kind() == Kind::Object && error.is_error() => {
            realm.string(&stack::shown(error, &run))
        }
        _ => Ok(realm.undefined()),
    }
}

/// `Error.captureStackTrace`: gives an object a stack of where it is called, or of where `above` was.
fn capture_stack_trace(realm: &Realm, arguments: &[Val], _: &Bound) -> Result<Val, Thrown> {
    let run = realm.run_state().ok_or_else(|| no_run(realm))?;
    let target = first(realm, arguments);
    let capture = &run.primordials.capture_stack;
    capture.call(&realm.undefined(), arguments)?;
    let raw = target.get(c"stack")?.string().unwrap_or_default();
    let frames = stack::frames(&raw, &run.graph.borrow());
    let field = |key| target.get(key).ok().and_then(|text| text.string());
    let name = field(c"name").unwrap_or_else(|| "Error".to_owned());
    let text = stack::text(&name, &field(c"message").unwrap_or_default(), &frames);
    target.define(c"stack", realm.string(&text)?, Visibility::Hidden)?;
    Ok(realm.undefined())
}

fn log(realm: &Realm, arguments: &[Val], bound: &Bound) -> Result<Val, Thrown> {
    let run = realm.run_state().ok_or_else(|| no_run(realm))?;
    run.log(u8::try_from(bound.magic).unwrap_or(0), arguments)?;
    Ok(realm.undefined())
}
