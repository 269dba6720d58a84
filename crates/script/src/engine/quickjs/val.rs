//! Looking into a value, and changing it.
#![allow(unsafe_code)]
#![allow(clippy::cast_possible_truncation, reason = "`size_t` is `usize`")]

use std::ffi::{CStr, CString, c_int};

use rquickjs_sys as qjs;

use super::keys::{Atom, Keys, flags};
use super::{Kind, ModuleRef, PromiseState, Realm, Text, Thrown, Val, Visibility};

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

    /// What it inherits from; `None` at the end of the chain, and for a proxy whose handler throws.
    pub(crate) fn prototype(&self) -> Option<Val> {
        // SAFETY: Live; the reference is ours.
        let prototype = unsafe { qjs::JS_GetPrototype(self.realm.context(), self.raw) };
        let prototype = self.realm.outcome(prototype).ok()?;
        (prototype.kind() == Kind::Object).then_some(prototype)
    }

    /// Whether two values are the same one.
    pub(crate) fn is_same(&self, other: &Val) -> bool {
        // SAFETY: Live; neither value is changed.
        unsafe { qjs::JS_IsSameValue(self.realm.context(), self.raw, other.raw) }
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

    /// Whether there is an own property of this name.
    pub(crate) fn has_own(&self, key: &str) -> Result<bool, Thrown> {
        let atom = Atom::new(&self.realm, key)?;
        // SAFETY: Live; without a descriptor to fill the engine only says whether it is there.
        let code = unsafe {
            let nothing = std::ptr::null_mut();
            qjs::JS_GetOwnProperty(self.realm.context(), nothing, self.raw, atom.raw)
        };
        self.realm.check(code).map(|code| code > 0)
    }

    /// The text of an own property that is a string, without running any code of the script.
    pub(crate) fn own_string(&self, key: &str) -> Option<String> {
        let atom = Atom::new(&self.realm, key).ok()?;
        let nothing = self.realm.undefined();
        let mut found = qjs::JSPropertyDescriptor {
            flags: 0,
            value: nothing.raw,
            getter: nothing.raw,
            setter: nothing.raw,
        };
        // SAFETY: Live; the descriptor is ours.
        let code = unsafe {
            qjs::JS_GetOwnProperty(self.realm.context(), &raw mut found, self.raw, atom.raw)
        };
        if self.realm.check(code).ok()? <= 0 {
            return None;
        }
        // The engine has filled in all three, and each reference is ours now.
        let [value, _, _] =
            [found.value, found.getter, found.setter].map(|raw| self.realm.own(raw));
        (value.kind() == Kind::String).then(|| value.string())?
    }

    pub(crate) fn has(&self, key: &str) -> Result<bool, Thrown> {
        let atom = Atom::new(&self.realm, key)?;
        // SAFETY: Live.
        self.realm
            .check(unsafe { qjs::JS_HasProperty(self.realm.context(), self.raw, atom.raw) })
            .map(|code| code > 0)
    }

    /// Defines an own property, whatever prototypes say.
    pub(crate) fn define(
        &self,
        key: &CStr,
        value: Val,
        visibility: Visibility,
    ) -> Result<(), Thrown> {
        let flags = flags(visibility);
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
        self.define_atom(&Atom::new(&self.realm, key)?, value)
    }

    /// Defines an own enumerable property whose key is a string of the script's.
    pub(crate) fn define_key(&self, key: &Val, value: Val) -> Result<(), Thrown> {
        self.define_atom(&Atom::of(key)?, value)
    }

    fn define_atom(&self, atom: &Atom<'_>, value: Val) -> Result<(), Thrown> {
        let raw = value.into_raw();
        // SAFETY: Live; the engine takes over the reference to the value.
        self.realm
            .check(unsafe {
                let (context, flags) = (self.realm.context(), flags(Visibility::Enumerable));
                qjs::JS_DefinePropertyValue(context, self.raw, atom.raw, raw, flags)
            })
            .map(drop)
    }

    pub(crate) fn define_index(&self, index: u32, value: Val) -> Result<(), Thrown> {
        let raw = value.into_raw();
        // SAFETY: Live; the engine takes over the reference to the value.
        self.realm
            .check(unsafe {
                let (context, flags) = (self.realm.context(), flags(Visibility::Enumerable));
                qjs::JS_DefinePropertyValueUint32(context, self.raw, index, raw, flags)
            })
            .map(drop)
    }

    /// Gives an accessor another getter and leaves its setter alone.
    pub(crate) fn redefine_getter(&self, key: &str, getter: &Val) -> Result<(), Thrown> {
        let atom = Atom::new(&self.realm, key)?;
        // SAFETY: Live; the engine takes its own reference to the getter.
        self.realm
            .check(unsafe {
                let (nothing, flags) = (qjs::JS_UNDEFINED, qjs::JS_PROP_HAS_GET.cast_signed());
                let context = self.realm.context();
                qjs::JS_DefineProperty(
                    context, self.raw, atom.raw, nothing, getter.raw, nothing, flags,
                )
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
