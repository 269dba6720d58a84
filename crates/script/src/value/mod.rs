//! A value that crosses between the host and a script: the structured clone, as a Rust type.
//!
//! Containers are immutable and shared (`Arc`), so that one object that is referred to twice stays one
//! object. A reference back to an enclosing container, which `Arc` cannot hold without leaking, is kept as
//! [`Value::Back`] with the identity of that container.
//!
//! This module knows nothing of the engine or of frames: `codec` has the bytes, `json` the `$` notation.

mod base64;
#[cfg(test)]
mod codec_tests;
mod date;
mod decode;
mod encode;
mod json;
mod view_kind;
pub(crate) mod wire;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use decode::DecodeError;
pub(crate) use decode::decode;
pub(crate) use encode::{FunctionWriter, encode};
pub use json::{JsonError, JsonFunctions};
pub use view_kind::ViewKind;
pub use wire::Limits;

use crate::host::{HostFunction, HostPromise, ScriptFunction};

/// A structured clone of a JavaScript value.
#[derive(Clone, Debug)]
pub enum Value {
    /// `undefined`
    Undefined,
    /// A hole in an array. It only occurs among the items of an array.
    Hole,
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, with NaN, the infinities and -0.
    Number(f64),
    /// A bigint.
    BigInt(BigInt),
    /// A string that is valid Unicode.
    String(Arc<str>),
    /// A string with lone surrogates.
    Utf16(Arc<[u16]>),
    /// A `Date`, in milliseconds since 1970; NaN for an invalid one.
    Date(f64),
    /// A `RegExp`.
    RegExp {
        /// What stands between the slashes.
        source: Arc<str>,
        /// `g`, `i`, and so on.
        flags: Arc<str>,
    },
    /// A plain object.
    Object(Shared<Vec<(Arc<str>, Value)>>),
    /// An array.
    Array(Shared<Vec<Value>>),
    /// A `Map`.
    Map(Shared<Vec<(Value, Value)>>),
    /// A `Set`.
    Set(Shared<Vec<Value>>),
    /// An `ArrayBuffer`.
    Buffer(Shared<Vec<u8>>),
    /// A typed array or `DataView`.
    View(Shared<View>),
    /// An `Error`.
    Error(Shared<ErrorValue>),
    /// A function of the host (going in) or of the script (coming out).
    Function(Function),
    /// A promise of the host; it settles inside the script when the host's future does.
    Promise(HostPromise),
    /// A reference to a container that encloses this place.
    Back(Identity),
}

/// A container with an identity of its own; clones refer to the same container.
pub struct Shared<T>(Arc<Node<T>>);

struct Node<T> {
    identity: Identity,
    content: T,
}

/// What tells one container from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity(u64);

/// A bigint as decimal text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BigInt(Arc<str>);

/// A window on a buffer.
#[derive(Clone, Debug)]
pub struct View {
    /// Which constructor made it.
    pub kind: ViewKind,
    /// The whole buffer below it.
    pub buffer: Shared<Vec<u8>>,
    /// Where it starts, in bytes.
    pub offset: usize,
    /// How long it is, in bytes.
    pub length: usize,
}

/// An error object as it crosses: no stack of the other side.
#[derive(Clone, Debug)]
pub struct ErrorValue {
    /// `TypeError`, `MyError`, …
    pub name: String,
    /// What it says.
    pub message: String,
    /// Its `cause`, if it has one.
    pub cause: Option<Value>,
    /// The errors that it is made of, as in an `AggregateError`: an array.
    pub errors: Option<Value>,
}

/// A function that crosses the boundary.
#[derive(Clone, Debug)]
pub enum Function {
    /// A closure of the host.
    Host(HostFunction),
    /// A function of the script, callable while its run lives.
    Script(ScriptFunction),
}

impl<T> Shared<T> {
    /// A new container.
    pub fn new(content: T) -> Self {
        Self::with_identity(Identity::fresh(), content)
    }

    pub(crate) fn with_identity(identity: Identity, content: T) -> Self {
        Self(Arc::new(Node { identity, content }))
    }

    /// What tells this container from another.
    pub fn identity(&self) -> Identity {
        self.0.identity
    }
}

impl<T> std::ops::Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0.content
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.content.fmt(f)
    }
}

impl Identity {
    pub(crate) fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl BigInt {
    /// Reads decimal digits with an optional minus sign.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let well_formed = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let negative_zero = text.starts_with('-') && digits.bytes().all(|b| b == b'0');
        (well_formed && !negative_zero).then(|| Self(text.into()))
    }

    /// The decimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<i64> for BigInt {
    fn from(value: i64) -> Self {
        Self(value.to_string().into())
    }
}

impl View {
    /// The bytes that the view shows.
    pub fn bytes(&self) -> &[u8] {
        self.buffer
            .get(self.offset..self.offset.saturating_add(self.length))
            .unwrap_or(&[])
    }
}

impl Value {
    /// A plain object from its entries, in this order.
    pub fn object<K: Into<Arc<str>>, V: Into<Value>>(
        entries: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let entries = entries
            .into_iter()
            .map(|(key, value)| (key.into(), value.into()));
        Self::Object(Shared::new(entries.collect()))
    }

    /// An array.
    pub fn array<V: Into<Value>>(items: impl IntoIterator<Item = V>) -> Self {
        Self::Array(Shared::new(items.into_iter().map(Into::into).collect()))
    }

    /// A `Uint8Array` with these bytes.
    pub fn bytes(bytes: Vec<u8>) -> Self {
        let length = bytes.len();
        let buffer = Shared::new(bytes);
        Self::View(Shared::new(View {
            kind: ViewKind::Uint8Array,
            buffer,
            offset: 0,
            length,
        }))
    }

    /// The text, if this is a string that is valid Unicode.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// The text of any string; a lone surrogate in it becomes U+FFFD.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::String(text) => Some(Cow::Borrowed(text)),
            Self::Utf16(units) => Some(Cow::Owned(String::from_utf16_lossy(units))),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub fn as_number(&self) -> Option<f64> {
        if let Self::Number(number) = self {
            Some(*number)
        } else {
            None
        }
    }

    /// The function, if this is one.
    pub fn as_function(&self) -> Option<&Function> {
        if let Self::Function(function) = self {
            Some(function)
        } else {
            None
        }
    }

    /// The items, if this is an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        if let Self::Array(items) = self {
            Some(items)
        } else {
            None
        }
    }

    /// The property of this name, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let Self::Object(entries) = self else {
            return None;
        };
        entries
            .iter()
            .find(|(name, _)| &**name == key)
            .map(|(_, value)| value)
    }

    pub(crate) fn container(&self) -> Option<Identity> {
        Some(match self {
            Self::Object(node) => node.identity(),
            Self::Array(node) | Self::Set(node) => node.identity(),
            Self::Map(node) => node.identity(),
            Self::Buffer(node) => node.identity(),
            Self::View(node) => node.identity(),
            Self::Error(node) => node.identity(),
            _ => return None,
        })
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Number(f64::from(value))
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Number(f64::from(value))
    }
}

impl From<()> for Value {
    fn from((): ()) -> Self {
        Self::Undefined
    }
}

impl From<HostFunction> for Value {
    fn from(function: HostFunction) -> Self {
        Self::Function(Function::Host(function))
    }
}

impl From<HostPromise> for Value {
    fn from(promise: HostPromise) -> Self {
        Self::Promise(promise)
    }
}
