//! [`Value`] to bytes, on the host's side of the boundary.

use std::collections::HashMap;

use super::wire::{ERROR_CAUSE, ERROR_ERRORS, Tag, WireError, Writer};
use super::{ErrorValue, Function, Identity, Limits, Value};
use crate::host::{HostFunction, HostPromise, ScriptFunction};

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

/// Writes one value.
pub(crate) fn encode(
    value: &Value,
    limits: Limits,
    functions: &mut dyn FunctionWriter,
) -> Result<Vec<u8>, EncodeError> {
    let writer = Writer::new(limits);
    let mut encoder = Encoder {
        writer,
        limits,
        functions,
        seen: HashMap::new(),
        next: 0,
    };
    encoder.value(value, 0)?;
    Ok(encoder.writer.finish().0)
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
                self.writer.object(entries.len())?;
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
            Value::Error(error) => self.error(error, depth)?,
            _ => {}
        }
        Ok(())
    }

    fn error(&mut self, error: &ErrorValue, depth: usize) -> Result<(), EncodeError> {
        let more = [(ERROR_CAUSE, &error.cause), (ERROR_ERRORS, &error.errors)];
        let flags = more
            .iter()
            .filter(|(_, value)| value.is_some())
            .fold(0, |flags, (flag, _)| flags | flag);
        let tag = if flags == 0 {
            Tag::Error
        } else {
            Tag::ErrorWith
        };
        self.tagged_text(tag, &error.name)?;
        self.writer.text(&error.message)?;
        if flags != 0 {
            self.writer.byte(flags)?;
        }
        for value in more.iter().filter_map(|(_, value)| value.as_ref()) {
            self.value(value, depth + 1)?;
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
