//! The names of properties.
#![allow(unsafe_code)]
#![allow(clippy::cast_possible_truncation, reason = "`size_t` is `usize`")]

use std::ffi::c_int;

use rquickjs_sys as qjs;

use super::{Realm, Thrown, Val, Visibility};

/// The keys of an object, freed with this list.
pub(crate) struct Keys {
    pub(super) realm: Realm,
    pub(super) table: *mut qjs::JSPropertyEnum,
    pub(super) length: u32,
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

pub(super) struct Atom<'a> {
    realm: &'a Realm,
    pub(super) raw: qjs::JSAtom,
}

impl<'a> Atom<'a> {
    pub(super) fn new(realm: &'a Realm, text: &str) -> Result<Self, Thrown> {
        // SAFETY: Live; pointer and length describe `text`.
        let raw = unsafe {
            qjs::JS_NewAtomLen(
                realm.context(),
                text.as_ptr().cast(),
                text.len() as qjs::size_t,
            )
        };
        Self::made(realm, raw)
    }

    /// The atom of a string value.
    pub(super) fn of(key: &'a Val) -> Result<Self, Thrown> {
        // SAFETY: Live.
        let raw = unsafe { qjs::JS_ValueToAtom(key.realm.context(), key.raw) };
        Self::made(&key.realm, raw)
    }

    fn made(realm: &'a Realm, raw: qjs::JSAtom) -> Result<Self, Thrown> {
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

pub(super) fn flags(visibility: Visibility) -> c_int {
    let flags = qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_WRITABLE;
    let flags = if visibility == Visibility::Enumerable {
        flags | qjs::JS_PROP_ENUMERABLE
    } else {
        flags
    };
    flags.cast_signed()
}
