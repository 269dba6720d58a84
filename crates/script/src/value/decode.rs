//! Bytes to a [`Value`], on the host's side of the boundary.
//!
//! The bytes are hostile: nothing is allocated on the word of a length alone, depth is bounded, and a reference may
//! only name a container that has begun.

use std::sync::Arc;

use super::wire::{
    ERROR_CAUSE, ERROR_ERRORS, Reader, Tag, WireError, number_weight, object_weight,
};
use super::{BigInt, ErrorValue, Function, Identity, Limits, Shared, Value, View, ViewKind};
use crate::host::ScriptFunction;

/// Why a message could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed value: {0}")]
pub struct DecodeError(#[from] pub(crate) WireError);

/// Makes callable handles from the script's functions that a message holds.
pub(crate) type FunctionReader<'a> = dyn FnMut(u64) -> ScriptFunction + 'a;

/// Reads one value that must take all the bytes, and says what it takes at its worst.
pub(crate) fn decode(
    bytes: &[u8],
    limits: Limits,
    functions: &mut FunctionReader<'_>,
) -> Result<(Value, usize), DecodeError> {
    let mut decoder = Decoder {
        reader: Reader::new(bytes),
        limits,
        functions,
        begun: Vec::new(),
        weight: bytes.len(),
    };
    let value = decoder.value(0)?;
    decoder.reader.finish()?;
    Ok((value, decoder.weight))
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
    weight: usize,
}

/// Places that are made on the word of a length; further ones come as the items do.
const AT_ONCE: usize = 1024;

impl Decoder<'_, '_> {
    fn value(&mut self, depth: usize) -> Result<Value, WireError> {
        if depth > self.limits.depth {
            return Err(WireError::TooDeep(self.limits.depth));
        }
        let tag = self.reader.tag()?;
        self.weigh(tag.weight())?;
        Ok(match tag {
            Tag::Undefined => Value::Undefined,
            Tag::Hole => Value::Hole,
            Tag::Null => Value::Null,
            Tag::False => Value::Bool(false),
            Tag::True => Value::Bool(true),
            Tag::Number => {
                let number = self.reader.float()?;
                self.weigh(number_weight(number))?;
                Value::Number(number)
            }
            Tag::Int => Value::Number(f64::from(self.reader.int()?)),
            Tag::BigInt => {
                let text = self.reader.plain_text()?;
                Value::BigInt(BigInt::parse(text).ok_or(WireError::MalformedText)?)
            }
            Tag::Utf8 => match self.reader.text()?.exact() {
                Ok(text) => Value::String(text.into()),
                Err(units) => Value::Utf16(units.into()),
            },
            Tag::Utf16 => {
                let units = self.reader.utf16()?;
                match String::from_utf16(&units) {
                    Ok(text) => Value::String(text.into()),
                    Err(_) => Value::Utf16(units.into()),
                }
            }
            Tag::Date => Value::Date(self.reader.float()?),
            Tag::RegExp => {
                let source = self.text()?.into();
                Value::RegExp {
                    source,
                    flags: self.text()?.into(),
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
                self.weigh(object_weight(count))?;
                let mut entries: Vec<(Arc<str>, Value)> = Vec::with_capacity(count.min(AT_ONCE));
                for _ in 0..count {
                    let key = self.text()?.into();
                    entries.push((key, self.value(depth + 1)?));
                }
                Value::Object(Shared::with_identity(identity, entries))
            }
            Tag::Array => Value::Array(Shared::with_identity(identity, self.items(depth)?)),
            Tag::Set => Value::Set(Shared::with_identity(identity, self.items(depth)?)),
            Tag::Map => {
                let count = self.reader.count(2)?;
                let mut entries = Vec::with_capacity(count.min(AT_ONCE));
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
            Tag::Error | Tag::ErrorWith => {
                let error = self.error(tag, depth)?;
                Value::Error(Shared::with_identity(identity, error))
            }
            _ => return Err(WireError::UnknownTag),
        })
    }

    fn error(&mut self, tag: Tag, depth: usize) -> Result<ErrorValue, WireError> {
        let (name, message) = (self.text()?, self.text()?);
        let flags = if tag == Tag::Error {
            0
        } else {
            self.reader.byte()?
        };
        let mut with = |flag: u8| {
            let there = flags & flag != 0;
            there.then(|| self.value(depth + 1)).transpose()
        };
        Ok(ErrorValue {
            name,
            message,
            cause: with(ERROR_CAUSE)?,
            errors: with(ERROR_ERRORS)?,
        })
    }

    /// Text as the host can hold it.
    fn text(&mut self) -> Result<String, WireError> {
        Ok(self.reader.text()?.lossy().into_owned())
    }

    /// Counts what will be held.
    fn weigh(&mut self, more: usize) -> Result<(), WireError> {
        self.weight = self.weight.saturating_add(more);
        if self.weight > self.limits.held {
            return Err(WireError::TooLarge(self.limits.held));
        }
        Ok(())
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Value>, WireError> {
        let count = self.reader.count(1)?;
        let mut items = Vec::with_capacity(count.min(AT_ONCE));
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
