//! The engine's allocator: the C heap behind a meter that knows the use, the peak and the limit.
//!
//! That a script ran out of memory is read from here, never from an exception that it may have caught.
#![allow(clippy::cast_possible_truncation, reason = "`size_t` is `usize`")]

use std::cell::Cell;
use std::ffi::c_void;

use rquickjs_sys as qjs;

/// Counts what the engine holds. It lives as long as the runtime that allocates through it.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    used: Cell<usize>,
    peak: Cell<usize>,
    limit: Cell<usize>,
    exhausted: Cell<bool>,
}

impl Meter {
    pub(crate) fn new() -> Self {
        let meter = Self::default();
        meter.limit.set(usize::MAX);
        meter
    }

    /// A run begins with this limit; the peak of what was before it does not count.
    pub(crate) fn begin(&self, limit: usize) {
        self.peak.set(self.used.get());
        self.set_limit(limit);
    }

    /// From now on the engine may hold so many bytes.
    pub(crate) fn set_limit(&self, bytes: usize) {
        self.limit.set(bytes);
    }

    /// How many bytes the engine may hold.
    pub(crate) fn limit(&self) -> usize {
        self.limit.get()
    }

    /// Whether an allocation was refused.
    pub(crate) fn exhausted(&self) -> bool {
        self.exhausted.get()
    }

    /// The most bytes that were held at once.
    pub(crate) fn peak(&self) -> usize {
        self.peak.get()
    }

    /// Once something was refused, everything is: a script that catches the exception gets no further by it. A limit
    /// that is lifted ends that.
    fn admit(&self, bytes: usize) -> bool {
        let limit = self.limit.get();
        if self.exhausted.get() && limit != usize::MAX {
            return false;
        }
        let fits = self
            .used
            .get()
            .checked_add(bytes)
            .is_some_and(|total| total <= limit);
        if !fits {
            self.exhausted.set(true);
        }
        fits
    }

    fn add(&self, bytes: usize) {
        let used = self.used.get().saturating_add(bytes);
        self.used.set(used);
        self.peak.set(self.peak.get().max(used));
    }

    fn remove(&self, bytes: usize) {
        self.used.set(self.used.get().saturating_sub(bytes));
    }
}

/// The functions that the engine allocates with; their opaque pointer must be a live [`Meter`].
pub(crate) static FUNCTIONS: qjs::JSMallocFunctions = qjs::JSMallocFunctions {
    js_calloc: Some(calloc),
    js_malloc: Some(malloc),
    js_free: Some(free),
    js_realloc: Some(realloc),
    js_malloc_usable_size: Some(usable_size),
};

/// What the C heap keeps beside each block.
const OVERHEAD: usize = 8;

#[allow(unsafe_code)]
fn meter<'a>(opaque: *mut c_void) -> &'a Meter {
    // SAFETY: the runtime was made with a pointer to a boxed `Meter` that it owns and outlives every
    // allocation; only shared references to it exist.
    unsafe { &*opaque.cast::<Meter>() }
}

#[allow(unsafe_code)]
fn size_of_block(block: *const c_void) -> usize {
    // SAFETY: every caller passes null or a live block of the C heap.
    let usable = unsafe { libc::malloc_usable_size(block.cast_mut()) };
    if block.is_null() {
        0
    } else {
        usable + OVERHEAD
    }
}

#[allow(unsafe_code)]
unsafe extern "C" fn calloc(
    opaque: *mut c_void,
    count: qjs::size_t,
    size: qjs::size_t,
) -> *mut c_void {
    let meter = meter(opaque);
    let Some(bytes) = (count as usize).checked_mul(size as usize) else {
        meter.exhausted.set(true);
        return std::ptr::null_mut();
    };
    if !meter.admit(bytes) {
        return std::ptr::null_mut();
    }
    // SAFETY: plain C allocation.
    let block = unsafe { libc::calloc(count as usize, size as usize) };
    meter.add(size_of_block(block));
    block
}

#[allow(unsafe_code)]
unsafe extern "C" fn malloc(opaque: *mut c_void, size: qjs::size_t) -> *mut c_void {
    let meter = meter(opaque);
    if !meter.admit(size as usize) {
        return std::ptr::null_mut();
    }
    // SAFETY: plain C allocation.
    let block = unsafe { libc::malloc(size as usize) };
    if block.is_null() {
        meter.exhausted.set(true);
    }
    meter.add(size_of_block(block));
    block
}

#[allow(unsafe_code)]
unsafe extern "C" fn free(opaque: *mut c_void, block: *mut c_void) {
    meter(opaque).remove(size_of_block(block));
    // SAFETY: the engine frees only what it got from the functions of this module, once.
    unsafe { libc::free(block) };
}

#[allow(unsafe_code)]
unsafe extern "C" fn realloc(
    opaque: *mut c_void,
    block: *mut c_void,
    size: qjs::size_t,
) -> *mut c_void {
    let meter = meter(opaque);
    let before = size_of_block(block);
    if !meter.admit((size as usize).saturating_sub(before)) {
        return std::ptr::null_mut();
    }
    // SAFETY: `block` is null or a live block from this module.
    let moved = unsafe { libc::realloc(block, size as usize) };
    if moved.is_null() && size != 0 {
        meter.exhausted.set(true);
        return moved;
    }
    meter.remove(before);
    meter.add(size_of_block(moved));
    moved
}

#[allow(unsafe_code)]
unsafe extern "C" fn usable_size(block: *const c_void) -> qjs::size_t {
    // SAFETY: the engine asks only about its own live blocks.
    (unsafe { libc::malloc_usable_size(block.cast_mut()) }) as qjs::size_t
}
