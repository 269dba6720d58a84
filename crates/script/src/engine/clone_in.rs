//! From bytes to a script's value. Host functions become callable proxies, host promises become promises.
//!
//! Properties are defined, never assigned, so that no setter on a prototype sees what comes in.

use std::rc::Rc;

use super::primordials::Primordials;
use super::quickjs::{Realm, Thrown, Val, Visibility};
use crate::value::wire::{ERROR_CAUSE, ERROR_ERRORS, Reader, Tag, WireError};
use crate::value::{Limits, ViewKind};

/// Makes the script's side of what only the host has.
pub(crate) trait Imports {
    /// A function that calls the host.
    fn host_function(&self, number: u64, waits: bool, name: &str) -> Result<Val, Thrown>;
    /// A promise that the host will settle.
    fn host_promise(&self, number: u64) -> Result<Val, Thrown>;
    /// A function of the script that comes back.
    fn script_function(&self, number: u64) -> Option<Val>;
}

/// Reads a whole message.
pub(crate) fn clone_in(
    bytes: &[u8],
    realm: &Realm,
    primordials: &Rc<Primordials>,
    limits: Limits,
    imports: &dyn Imports,
) -> Result<Val, Thrown> {
    let mut into = In {
        reader: Reader::new(bytes),
        realm,
        primordials,
        limits,
        imports,
        begun: Vec::new(),
    };
    let value = into.value(0)?;
    into.reader.finish().map_err(|error| into.broken(error))?;
    Ok(value)
}

struct In<'a> {
    reader: Reader<'a>,
    realm: &'a Realm,
    primordials: &'a Rc<Primordials>,
    limits: Limits,
    imports: &'a dyn Imports,
    begun: Vec<Option<Val>>,
}

impl<'a> In<'a> {
    fn broken(&self, error: WireError) -> Thrown {
        self.realm.error("SerializationError", &error.to_string())
    }

    fn read<T>(
        &mut self,
        read: impl FnOnce(&mut Reader<'a>) -> Result<T, WireError>,
    ) -> Result<T, Thrown> {
        read(&mut self.reader).map_err(|error| self.broken(error))
    }

    fn value(&mut self, depth: usize) -> Result<Val, Thrown> {
        if depth > self.limits.depth {
            return Err(self.broken(WireError::TooDeep(self.limits.depth)));
        }
        let tag = self.read(Reader::tag)?;
        match tag {
            Tag::Undefined | Tag::Hole => Ok(self.realm.undefined()),
            Tag::Null => Ok(self.realm.null()),
            Tag::False => Ok(self.realm.bool(false)),
            Tag::True => Ok(self.realm.bool(true)),
            Tag::Number => Ok(self.realm.number(self.read(Reader::float)?)),
            Tag::Int => Ok(self.realm.number(f64::from(self.read(Reader::int)?))),
            Tag::BigInt => {
                let digits = self.text()?;
                self.primordials
                    .big_int
                    .call(&self.realm.undefined(), &[digits])
            }
            Tag::Utf8 => self.text(),
            Tag::Utf16 => {
                let units = self.read(Reader::utf16)?;
                self.realm.string16(&units)
            }
            Tag::Date => {
                let time = self.read(Reader::float)?;
                self.realm.date(time)
            }
            Tag::RegExp => {
                let arguments = [self.text()?, self.text()?];
                self.primordials.regexp.construct(&arguments)
            }
            Tag::HostFunction => {
                let number = self.read(Reader::uint)?;
                let waits = self.read(Reader::byte)? == 0;
                let name = self.read(|reader| Ok(reader.plain_text()?.to_owned()))?;
                self.imports.host_function(number, waits, &name)
            }
            Tag::Promise => {
                let number = self.read(Reader::uint)?;
                self.imports.host_promise(number)
            }
            Tag::ScriptFunction => {
                let number = self.read(Reader::uint)?;
                let function = self.imports.script_function(number);
                function.ok_or_else(|| self.broken(WireError::DanglingReference))
            }
            Tag::Ref => {
                let ordinal = self.read(Reader::uint)?;
                let begun = usize::try_from(ordinal)
                    .ok()
                    .and_then(|at| self.begun.get(at).cloned());
                begun
                    .flatten()
                    .ok_or_else(|| self.broken(WireError::DanglingReference))
            }
            container => self.container(container, depth),
        }
    }

    fn text(&mut self) -> Result<Val, Thrown> {
        let realm = self.realm;
        match self.read(Reader::text)?.exact() {
            Ok(text) => realm.string(text),
            Err(units) => realm.string16(&units),
        }
    }

    fn container(&mut self, tag: Tag, depth: usize) -> Result<Val, Thrown> {
        let ordinal = self.begun.len();
        self.begun.push(None);
        let begin = |this: &mut Self, value: &Val| this.begun[ordinal] = Some(value.clone());
        match tag {
            Tag::Object => {
                let object = self.realm.object()?;
                begin(self, &object);
                for _ in 0..self.read(|reader| reader.count(2))? {
                    let key = self.read(Reader::text)?;
                    let value = self.value(depth + 1)?;
                    match key.exact() {
                        Ok(key) => object.define_text(key, value)?,
                        Err(units) => object.define_key(&self.realm.string16(&units)?, value)?,
                    }
                }
                Ok(object)
            }
            Tag::Array => {
                let array = self.realm.array()?;
                begin(self, &array);
                self.items(&array, depth)?;
                Ok(array)
            }
            Tag::Map => {
                let map = self.primordials.map.construct(&[])?;
                begin(self, &map);
                for _ in 0..self.read(|reader| reader.count(2))? {
                    let entry = [self.value(depth + 1)?, self.value(depth + 1)?];
                    self.primordials.map_set.call(&map, &entry)?;
                }
                Ok(map)
            }
            Tag::Set => {
                let set = self.primordials.set.construct(&[])?;
                begin(self, &set);
                for _ in 0..self.read(|reader| reader.count(1))? {
                    let item = self.value(depth + 1)?;
                    self.primordials.set_add.call(&set, &[item])?;
                }
                Ok(set)
            }
            Tag::Buffer => {
                let realm = self.realm;
                let bytes = self.read(|reader| Ok(reader.block()?.to_vec()))?;
                let buffer = realm.array_buffer(&bytes)?;
                begin(self, &buffer);
                Ok(buffer)
            }
            Tag::View => {
                let view = self.view(depth)?;
                begin(self, &view);
                Ok(view)
            }
            Tag::Error | Tag::ErrorWith => {
                let error = self.error()?;
                begin(self, &error);
                let flags = if tag == Tag::Error {
                    0
                } else {
                    self.read(Reader::byte)?
                };
                for (flag, key) in [(ERROR_CAUSE, c"cause"), (ERROR_ERRORS, c"errors")] {
                    if flags & flag != 0 {
                        let value = self.value(depth + 1)?;
                        error.define(key, value, Visibility::Hidden)?;
                    }
                }
                Ok(error)
            }
            _ => Err(self.broken(WireError::UnknownTag)),
        }
    }

    fn items(&mut self, array: &Val, depth: usize) -> Result<(), Thrown> {
        let count = self.read(|reader| reader.count(1))?;
        for index in 0..count {
            // A hole is skipped; the length that is set at the end makes up for holes behind the last item.
            if self.peek() == Some(Tag::Hole) {
                self.read(Reader::tag)?;
                continue;
            }
            let item = self.value(depth + 1)?;
            array.define_index(u32::try_from(index).unwrap_or(u32::MAX), item)?;
        }
        array.set_length(count as u64)
    }

    fn peek(&self) -> Option<Tag> {
        self.reader.peek_tag()
    }

    fn view(&mut self, depth: usize) -> Result<Val, Thrown> {
        let kind = self.read(Reader::byte)?;
        let offset = self.read(Reader::uint)?;
        let length = self.read(Reader::uint)?;
        let buffer = self.value(depth + 1)?;
        let kind_of = ViewKind::from_number(kind.into());
        let kind_of = kind_of.ok_or_else(|| self.broken(WireError::UnknownTag))?;
        #[expect(clippy::cast_precision_loss, reason = "lengths are below 2^53")]
        let arguments = [
            buffer,
            self.realm.number(offset as f64),
            self.realm
                .number((length / kind_of.element() as u64) as f64),
        ];
        if kind_of == ViewKind::DataView {
            return self.primordials.data_view.construct(&arguments);
        }
        self.realm.typed_array(kind, &arguments)
    }

    fn error(&mut self) -> Result<Val, Thrown> {
        let (name, message) = (self.text()?, self.text()?);
        let known = self
            .primordials
            .errors
            .iter()
            .find(|(known, _)| name.string().as_deref() == Some(*known));
        let constructor = known.or_else(|| self.primordials.errors.first());
        let (found, constructor) = constructor.ok_or_else(|| self.broken(WireError::UnknownTag))?;
        let error = if *found == "AggregateError" {
            constructor.construct(&[self.realm.array()?, message])?
        } else {
            constructor.construct(&[message])?
        };
        if known.is_none() {
            error.define(c"name", name, Visibility::Hidden)?;
        }
        Ok(error)
    }
}
