//! [`Value`] to bytes and back, on the host's side of the boundary.
//!
//! Decoding treats the bytes as hostile: nothing is allocated on the word of a length alone, depth is bounded,
//! and a reference may only name a container that has begun.

use std::collections::HashMap;
use std::sync::Arc;

use super::wire::{Reader, Tag, WireError, Writer};
use super::{BigInt, ErrorValue, Function, Identity, Limits, Shared, Value, View, ViewKind};
use crate::host::{HostFunction, HostPromise, ScriptFunction};

/// Why a message could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed value: {0}")]
pub struct DecodeError(#[from] pub(crate) WireError);

/// Why a value cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EncodeError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("a function of one run cannot be passed to another")]
    ForeignFunction,
    #[error("the value refers to an enclosing object that is not part of it")]
    DetachedReference,
}

/// Gives numbers to the functions and promises of the host that a value holds.
pub(crate) trait FunctionWriter {
    /// The number under which the script will call this function.
    fn host_function(&mut self, function: &HostFunction) -> u64;
    /// The number under which this promise will be settled.
    fn promise(&mut self, promise: &HostPromise) -> u64;
    /// The number of a function of this run's script; `None` if it belongs to another run.
    fn script_function(&mut self, function: &ScriptFunction) -> Option<u64>;
}

/// Makes callable handles from the script's functions that a message holds.
pub(crate) type FunctionReader<'a> = dyn FnMut(u64) -> ScriptFunction + 'a;

/// Writes one value.
pub(crate) fn encode(
    value: &Value,
    limits: Limits,
    functions: &mut dyn FunctionWriter,
) -> Result<Vec<u8>, EncodeError> {
    let writer = Writer::new(limits.bytes);
    let mut encoder = Encoder {
        writer,
        limits,
        functions,
        seen: HashMap::new(),
        next: 0,
    };
    encoder.value(value, 0)?;
    Ok(encoder.writer.finish())
}

/// Reads one value that must take all the bytes.
pub(crate) fn decode(
    bytes: &[u8],
    limits: Limits,
    functions: &mut FunctionReader<'_>,
) -> Result<Value, DecodeError> {
    let mut decoder = Decoder {
        reader: Reader::new(bytes),
        limits,
        functions,
        begun: Vec::new(),
    };
    let value = decoder.value(0)?;
    decoder.reader.finish()?;
    Ok(value)
}

struct Encoder<'a> {
    writer: Writer,
    limits: Limits,
    functions: &'a mut dyn FunctionWriter,
    seen: HashMap<Identity, u64>,
    next: u64,
}

impl Encoder<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), EncodeError> {
        if depth > self.limits.depth {
            return Err(WireError::TooDeep(self.limits.depth).into());
        }
        if let Some(identity) = value.container() {
            if let Some(&ordinal) = self.seen.get(&identity) {
                return self.reference(ordinal);
            }
            self.seen.insert(identity, self.next);
            self.next += 1;
        }
        match value {
            Value::Undefined => self.writer.tag(Tag::Undefined)?,
            Value::Hole => self.writer.tag(Tag::Hole)?,
            Value::Null => self.writer.tag(Tag::Null)?,
            Value::Bool(false) => self.writer.tag(Tag::False)?,
            Value::Bool(true) => self.writer.tag(Tag::True)?,
            Value::Number(number) => self.writer.number(*number)?,
            Value::BigInt(number) => self.tagged_text(Tag::BigInt, number.as_str())?,
            Value::String(text) => self.tagged_text(Tag::Utf8, text)?,
            Value::Utf16(units) => self.writer.utf16(units)?,
            Value::Date(time) => {
                self.writer.tag(Tag::Date)?;
                self.writer.float(*time)?;
            }
            Value::RegExp { source, flags } => {
                self.tagged_text(Tag::RegExp, source)?;
                self.writer.text(flags)?;
            }
            Value::Function(function) => self.function(function)?,
            Value::Promise(promise) => {
                self.writer.tag(Tag::Promise)?;
                let number = self.functions.promise(promise);
                self.writer.uint(number)?;
            }
            Value::Back(identity) => {
                let ordinal = *self
                    .seen
                    .get(identity)
                    .ok_or(EncodeError::DetachedReference)?;
                self.reference(ordinal)?;
            }
            container => self.container(container, depth)?,
        }
        Ok(())
    }

    fn container(&mut self, value: &Value, depth: usize) -> Result<(), EncodeError> {
        match value {
            Value::Object(entries) => {
                self.begin(Tag::Object, entries.len())?;
                for (key, value) in entries.iter() {
                    self.writer.text(key)?;
                    self.value(value, depth + 1)?;
                }
            }
            Value::Array(items) | Value::Set(items) => {
                let tag = if matches!(value, Value::Array(_)) {
                    Tag::Array
                } else {
                    Tag::Set
                };
                self.begin(tag, items.len())?;
                for item in items.iter() {
                    self.value(item, depth + 1)?;
                }
            }
            Value::Map(entries) => {
                self.begin(Tag::Map, entries.len())?;
                for (key, value) in entries.iter() {
                    self.value(key, depth + 1)?;
                    self.value(value, depth + 1)?;
                }
            }
            Value::Buffer(bytes) => {
                self.writer.tag(Tag::Buffer)?;
                self.writer.block(bytes)?;
            }
            Value::View(view) => {
                self.writer.tag(Tag::View)?;
                self.writer.byte(view.kind as u8)?;
                self.writer.uint(view.offset as u64)?;
                self.writer.uint(view.length as u64)?;
                self.value(&Value::Buffer(view.buffer.clone()), depth + 1)?;
            }
            Value::Error(error) => {
                let tag = if error.cause.is_some() {
                    Tag::ErrorWithCause
                } else {
                    Tag::Error
                };
                self.tagged_text(tag, &error.name)?;
                self.writer.text(&error.message)?;
                if let Some(cause) = &error.cause {
                    self.value(cause, depth + 1)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, tag: Tag, length: usize) -> Result<(), EncodeError> {
        self.writer.tag(tag)?;
        Ok(self.writer.uint(length as u64)?)
    }

    fn tagged_text(&mut self, tag: Tag, text: &str) -> Result<(), EncodeError> {
        self.writer.tag(tag)?;
        Ok(self.writer.text(text)?)
    }

    fn reference(&mut self, ordinal: u64) -> Result<(), EncodeError> {
        self.writer.tag(Tag::Ref)?;
        Ok(self.writer.uint(ordinal)?)
    }

    fn function(&mut self, function: &Function) -> Result<(), EncodeError> {
        match function {
            Function::Host(function) => {
                let number = self.functions.host_function(function);
                self.writer.tag(Tag::HostFunction)?;
                self.writer.uint(number)?;
                self.writer.byte(u8::from(function.is_async()))?;
                self.writer.text(function.name())?;
            }
            Function::Script(function) => {
                let number = self
                    .functions
                    .script_function(function)
                    .ok_or(EncodeError::ForeignFunction)?;
                self.writer.tag(Tag::ScriptFunction)?;
                self.writer.uint(number)?;
            }
        }
        Ok(())
    }
}

/// A container that has begun, and its value once it has ended.
struct Begun {
    identity: Identity,
    value: Option<Value>,
}

struct Decoder<'a, 'f> {
    reader: Reader<'a>,
    limits: Limits,
    functions: &'f mut FunctionReader<'f>,
    begun: Vec<Begun>,
}

impl Decoder<'_, '_> {
    fn value(&mut self, depth: usize) -> Result<Value, WireError> {
        if depth > self.limits.depth {
            return Err(WireError::TooDeep(self.limits.depth));
        }
        Ok(match self.reader.tag()? {
            Tag::Undefined => Value::Undefined,
            Tag::Hole => Value::Hole,
            Tag::Null => Value::Null,
            Tag::False => Value::Bool(false),
            Tag::True => Value::Bool(true),
            Tag::Number => Value::Number(self.reader.float()?),
            Tag::Int => Value::Number(f64::from(self.reader.int()?)),
            Tag::BigInt => {
                let text = self.reader.text()?;
                Value::BigInt(BigInt::parse(text).ok_or(WireError::MalformedText)?)
            }
            Tag::Utf8 => Value::String(self.reader.text()?.into()),
            Tag::Utf16 => {
                let units = self.reader.utf16()?;
                match String::from_utf16(&units) {
                    Ok(text) => Value::String(text.into()),
                    Err(_) => Value::Utf16(units.into()),
                }
            }
            Tag::Date => Value::Date(self.reader.float()?),
            Tag::RegExp => {
                let source = self.reader.text()?.into();
                Value::RegExp {
                    source,
                    flags: self.reader.text()?.into(),
                }
            }
            Tag::ScriptFunction => {
                let number = self.reader.uint()?;
                Value::Function(Function::Script((self.functions)(number)))
            }
            // The script has no functions or promises of the host to give back.
            Tag::HostFunction | Tag::Promise => return Err(WireError::UnknownTag),
            Tag::Ref => self.reference()?,
            container => self.container(container, depth)?,
        })
    }

    fn reference(&mut self) -> Result<Value, WireError> {
        let ordinal = usize::try_from(self.reader.uint()?).map_err(|_| WireError::Truncated)?;
        let begun = self
            .begun
            .get(ordinal)
            .ok_or(WireError::DanglingReference)?;
        Ok(begun.value.clone().unwrap_or(Value::Back(begun.identity)))
    }

    fn container(&mut self, tag: Tag, depth: usize) -> Result<Value, WireError> {
        let identity = Identity::fresh();
        let ordinal = self.begun.len();
        self.begun.push(Begun {
            identity,
            value: None,
        });
        let value = self.content(tag, identity, depth)?;
        if let Some(begun) = self.begun.get_mut(ordinal) {
            begun.value = Some(value.clone());
        }
        Ok(value)
    }

    fn content(&mut self, tag: Tag, identity: Identity, depth: usize) -> Result<Value, WireError> {
        Ok(match tag {
            Tag::Object => {
                let count = self.reader.count(2)?;
                let mut entries: Vec<(Arc<str>, Value)> = Vec::with_capacity(count.min(1024));
                for _ in 0..count {
                    let key = self.reader.text()?.into();
                    entries.push((key, self.value(depth + 1)?));
                }
                Value::Object(Shared::with_identity(identity, entries))
            }
            Tag::Array => Value::Array(Shared::with_identity(identity, self.items(depth)?)),
            Tag::Set => Value::Set(Shared::with_identity(identity, self.items(depth)?)),
            Tag::Map => {
                let count = self.reader.count(2)?;
                let mut entries = Vec::with_capacity(count.min(1024));
                for _ in 0..count {
                    entries.push((self.value(depth + 1)?, self.value(depth + 1)?));
                }
                Value::Map(Shared::with_identity(identity, entries))
            }
            Tag::Buffer => Value::Buffer(Shared::with_identity(
                identity,
                self.reader.block()?.to_vec(),
            )),
            Tag::View => self.view(identity, depth)?,
            Tag::Error | Tag::ErrorWithCause => {
                let name = self.reader.text()?.to_owned();
                let message = self.reader.text()?.to_owned();
                let cause = if tag == Tag::Error {
                    None
                } else {
                    Some(self.value(depth + 1)?)
                };
                Value::Error(Shared::with_identity(
                    identity,
                    ErrorValue {
                        name,
                        message,
                        cause,
                    },
                ))
            }
            _ => return Err(WireError::UnknownTag),
        })
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Value>, WireError> {
        let count = self.reader.count(1)?;
        let mut items = Vec::with_capacity(count.min(1024));
        for _ in 0..count {
            items.push(self.value(depth + 1)?);
        }
        Ok(items)
    }

    fn view(&mut self, identity: Identity, depth: usize) -> Result<Value, WireError> {
        let kind = u64::from(self.reader.byte()?);
        let kind = ViewKind::from_number(kind).ok_or(WireError::UnknownTag)?;
        let offset = usize::try_from(self.reader.uint()?).map_err(|_| WireError::Truncated)?;
        let length = usize::try_from(self.reader.uint()?).map_err(|_| WireError::Truncated)?;
        let Value::Buffer(buffer) = self.value(depth + 1)? else {
            return Err(WireError::UnknownTag);
        };
        let inside = offset
            .checked_add(length)
            .is_some_and(|end| end <= buffer.len());
        if !inside
            || !offset.is_multiple_of(kind.element())
            || !length.is_multiple_of(kind.element())
        {
            return Err(WireError::Truncated);
        }
        Ok(Value::View(Shared::with_identity(
            identity,
            View {
                kind,
                buffer,
                offset,
                length,
            },
        )))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct NoFunctions;

    impl FunctionWriter for NoFunctions {
        fn host_function(&mut self, _: &HostFunction) -> u64 {
            0
        }
        fn promise(&mut self, _: &HostPromise) -> u64 {
            0
        }
        fn script_function(&mut self, _: &ScriptFunction) -> Option<u64> {
            None
        }
    }

    fn read(bytes: &[u8]) -> Result<Value, DecodeError> {
        let (requests, _) = tokio::sync::mpsc::unbounded_channel();
        let mut functions = |number| ScriptFunction::new(number, requests.clone());
        decode(bytes, Limits::default(), &mut functions)
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Undefined),
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<f64>().prop_map(Value::Number),
            any::<i32>().prop_map(Value::from),
            any::<i64>().prop_map(|number| Value::BigInt(number.into())),
            any::<String>().prop_map(Value::from),
            any::<i32>().prop_map(|time| Value::Date(time.into())),
            any::<Vec<u8>>().prop_map(Value::bytes),
            any::<Vec<u8>>().prop_map(|bytes| Value::Buffer(Shared::new(bytes))),
            Just(Value::RegExp {
                source: "a+".into(),
                flags: "g".into()
            }),
        ];
        leaf.prop_recursive(6, 64, 8, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::array),
                proptest::collection::vec((any::<String>(), inner.clone()), 0..8).prop_map(unique),
                proptest::collection::vec((inner.clone(), inner.clone()), 0..8)
                    .prop_map(|entries| Value::Map(Shared::new(entries))),
                proptest::collection::vec(inner.clone(), 0..8)
                    .prop_map(|items| Value::Set(Shared::new(items))),
                inner
                    .clone()
                    .prop_map(|twice| Value::array([twice.clone(), twice])),
                (any::<String>(), any::<String>(), inner).prop_map(|(name, message, cause)| {
                    let cause = Some(cause);
                    Value::Error(Shared::new(ErrorValue {
                        name,
                        message,
                        cause,
                    }))
                }),
            ]
        })
    }

    fn unique(entries: Vec<(String, Value)>) -> Value {
        let entries: std::collections::BTreeMap<_, _> = entries.into_iter().collect();
        Value::object(entries)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_a_value_or_an_error(bytes: Vec<u8>) {
            let _ = read(&bytes);
        }

        #[test]
        fn values_come_back_as_they_were(value in any_value()) {
            let bytes = encode(&value, Limits::default(), &mut NoFunctions).unwrap();
            let again = read(&bytes).unwrap();
            prop_assert_eq!(again.to_json(), value.to_json());
            prop_assert_eq!(Value::from_json(&value.to_json()).unwrap().to_json(), value.to_json());
        }

        #[test]
        fn changed_bytes_are_a_value_or_an_error(
            value in any_value(),
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        ) {
            let mut bytes = encode(&value, Limits::default(), &mut NoFunctions).unwrap();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Ok(value) = read(&bytes) {
                let _ = value.to_json();
            }
        }

        #[test]
        fn cut_bytes_are_an_error(value in any_value(), at: prop::sample::Index) {
            let bytes = encode(&value, Limits::default(), &mut NoFunctions).unwrap();
            prop_assert!(read(&bytes[..at.index(bytes.len())]).is_err());
        }
    }

    #[test]
    fn lengths_are_not_believed() {
        // An array, a map, a buffer and a text that claim to be huge.
        for tag in [
            Tag::Object,
            Tag::Array,
            Tag::Map,
            Tag::Set,
            Tag::Buffer,
            Tag::Utf8,
            Tag::Utf16,
        ] {
            let bytes = [&[tag as u8][..], &[0xff; 9], &[0x01]].concat();
            assert!(read(&bytes).is_err());
        }
    }

    #[test]
    fn depth_is_bounded() {
        let bytes = [Tag::Array as u8, 1].repeat(100_000);
        assert_eq!(
            read(&bytes).unwrap_err(),
            DecodeError(WireError::TooDeep(400))
        );
    }

    #[test]
    fn references_to_what_has_not_begun_are_refused() {
        let bytes = [Tag::Array as u8, 1, Tag::Ref as u8, 1];
        assert_eq!(
            read(&bytes).unwrap_err(),
            DecodeError(WireError::DanglingReference)
        );
    }

    #[test]
    fn a_part_without_its_whole_cannot_be_sent() {
        let whole = read(&[Tag::Array as u8, 1, Tag::Ref as u8, 0]).unwrap();
        let part = whole.as_array().unwrap()[0].clone();
        let sent = encode(&part, Limits::default(), &mut NoFunctions);
        assert_eq!(sent.unwrap_err(), EncodeError::DetachedReference);
    }
}
