//! Bytes to a [`Value`], on the host's side of the boundary.
//!
//! The bytes are hostile: nothing is allocated on the word of a length alone, depth is bounded, and a reference may
//! only name a container that has begun.

use std::sync::Arc;

use super::wire::{Reader, Tag, WireError};
use super::{BigInt, ErrorValue, Function, Identity, Limits, Shared, Value, View, ViewKind};
use crate::host::ScriptFunction;

/// Why a message could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed value: {0}")]
pub struct DecodeError(#[from] pub(crate) WireError);

/// Makes callable handles from the script's functions that a message holds.
pub(crate) type FunctionReader<'a> = dyn FnMut(u64) -> ScriptFunction + 'a;

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
