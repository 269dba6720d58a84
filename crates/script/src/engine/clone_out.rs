//! From a script's value to bytes: the structured clone, written without trusting anything that the script
//! could have changed.
//!
//! Getters may run script code in the middle; every object that was seen is held until the end, so that an
//! address is never taken for another object.

use std::collections::HashMap;
use std::rc::Rc;

use super::class;
use super::clone_fault::{CloneFault, path_part};
use super::primordials::Primordials;
use super::quickjs::{Kind, Text, Val};
use crate::value::wire::{Tag, WireError, Writer};
use crate::value::{Limits, ViewKind};

/// What becomes of the functions in a value.
pub(crate) enum Functions<'a> {
    /// They are refused, as in results.
    Refuse,
    /// Each becomes a handle with the number that this gives, as in arguments of host functions.
    Handle(&'a mut dyn FnMut(Val) -> u64),
    /// Whatever cannot cross is written as a description, as in log lines.
    Describe,
}

/// Arrays up to this length are looked at place by place; a longer one may be mostly holes.
const INDEXED: u64 = 1 << 16;

/// Writes `value` as bytes.
pub(crate) fn clone_out(
    value: &Val,
    primordials: &Rc<Primordials>,
    limits: Limits,
    functions: Functions<'_>,
) -> Result<Vec<u8>, CloneFault> {
    let mut out = Out::new(primordials, limits, functions);
    out.value(value, 0)?;
    Ok(out.writer.finish())
}

/// Writes an array of `values` that the script never sees as one.
pub(crate) fn clone_list_out(
    values: &[Val],
    primordials: &Rc<Primordials>,
    limits: Limits,
    functions: Functions<'_>,
) -> Result<Vec<u8>, CloneFault> {
    let mut out = Out::new(primordials, limits, functions);
    // The array itself has the first number.
    out.first = 1;
    out.writer.tag(Tag::Array)?;
    out.writer.uint(values.len() as u64)?;
    for (index, value) in values.iter().enumerate() {
        out.value(value, 1)
            .map_err(|fault| fault.at(|| format!("[{index}]")))?;
    }
    Ok(out.writer.finish())
}

struct Out<'a> {
    primordials: Rc<Primordials>,
    writer: Writer,
    limits: Limits,
    functions: Functions<'a>,
    seen: HashMap<usize, u64>,
    first: u64,
    held: Vec<Val>,
}

type Outcome = Result<(), CloneFault>;

impl<'a> Out<'a> {
    fn new(primordials: &Rc<Primordials>, limits: Limits, functions: Functions<'a>) -> Self {
        Self {
            primordials: Rc::clone(primordials),
            writer: Writer::new(limits.bytes),
            limits,
            functions,
            seen: HashMap::new(),
            first: 0,
            held: Vec::new(),
        }
    }

    fn value(&mut self, value: &Val, depth: usize) -> Outcome {
        match value.kind() {
            Kind::Undefined => self.writer.tag(Tag::Undefined)?,
            Kind::Null => self.writer.tag(Tag::Null)?,
            Kind::Bool(false) => self.writer.tag(Tag::False)?,
            Kind::Bool(true) => self.writer.tag(Tag::True)?,
            Kind::Number(number) => self.writer.number(number)?,
            Kind::String => match value.text()? {
                Text::Utf8(text) => self.text(Tag::Utf8, &text)?,
                Text::Utf16(units) => self.writer.utf16(&units)?,
            },
            Kind::BigInt => match value.text()? {
                Text::Utf8(text) => self.text(Tag::BigInt, &text)?,
                Text::Utf16(_) => return Err(CloneFault::refused("a malformed bigint")),
            },
            Kind::Symbol => return self.unable("a symbol cannot leave the script", "Symbol()"),
            Kind::Object => return self.object(value, depth),
        }
        Ok(())
    }

    fn text(&mut self, tag: Tag, text: &str) -> Outcome {
        self.writer.tag(tag)?;
        Ok(self.writer.text(text)?)
    }

    /// Refuses, or describes where that is asked for.
    fn unable(&mut self, why: &str, description: &str) -> Outcome {
        if matches!(self.functions, Functions::Describe) {
            return self.text(Tag::Utf8, description);
        }
        Err(CloneFault::refused(why))
    }

    fn object(&mut self, value: &Val, depth: usize) -> Outcome {
        if depth > self.limits.depth {
            return match self.functions {
                Functions::Describe => self.text(Tag::Utf8, "[…]"),
                _ => Err(WireError::TooDeep(self.limits.depth).into()),
            };
        }
        if value.is_proxy() {
            return self.unable("a Proxy cannot leave the script", "[Proxy]");
        }
        if value.is_function() {
            return self.function(value);
        }
        if value.promise_state().is_some() {
            return self.unable(
                "a promise cannot leave the script; await it first",
                "[Promise]",
            );
        }
        if let Some(&ordinal) = self.seen.get(&value.address()) {
            self.writer.tag(Tag::Ref)?;
            return Ok(self.writer.uint(ordinal)?);
        }
        self.hold(value);
        if let Some(kind) = value.typed_array_kind() {
            return self.typed_array(value, kind, depth);
        }
        if value.is_error() {
            return self.error(value, depth);
        }
        match value.class_id() {
            class::OBJECT
            | class::ARGUMENTS
            | class::MAPPED_ARGUMENTS
            | class::MODULE_NAMESPACE => self.plain(value, depth),
            class::ARRAY => self.array(value, depth),
            class::MAP => self.map(value, depth),
            class::SET => self.set(value, depth),
            class::DATE => self.date(value),
            class::REGEXP => self.regexp(value),
            class::ARRAY_BUFFER => self.buffer(value),
            class::DATA_VIEW => self.data_view(value, depth),
            class::WEAK_MAP => self.unowned("a WeakMap"),
            class::WEAK_SET => self.unowned("a WeakSet"),
            _ => self.unowned("an object of this kind"),
        }
    }

    /// Numbers an object and keeps it alive, so that its address stays its own.
    fn hold(&mut self, value: &Val) {
        let ordinal = self.first + self.seen.len() as u64;
        self.seen.insert(value.address(), ordinal);
        self.held.push(value.clone());
    }

    /// Gives up on an object that [`Out::hold`] has numbered: a description is not a container.
    fn unowned(&mut self, what: &str) -> Outcome {
        if let Some(held) = self.held.pop() {
            self.seen.remove(&held.address());
        }
        self.unable(
            &format!("{what} cannot leave the script"),
            &format!("[{what}]"),
        )
    }

    fn function(&mut self, value: &Val) -> Outcome {
        match &mut self.functions {
            Functions::Handle(handle) => {
                let number = handle(value.clone());
                self.writer.tag(Tag::ScriptFunction)?;
                Ok(self.writer.uint(number)?)
            }
            Functions::Refuse => Err(CloneFault::refused("a function cannot leave the script")),
            Functions::Describe => {
                let name = value.get(c"name").ok().and_then(|name| name.string());
                let name = name
                    .filter(|name| !name.is_empty())
                    .unwrap_or_else(|| "anonymous".into());
                self.text(Tag::Utf8, &format!("[Function: {name}]"))
            }
        }
    }

    fn plain(&mut self, value: &Val, depth: usize) -> Outcome {
        let keys = value.keys()?;
        self.writer.tag(Tag::Object)?;
        self.writer.uint(keys.len() as u64)?;
        for at in 0..keys.len() {
            let key = keys.key(at)?.string().unwrap_or_default();
            self.writer.text(&key)?;
            let part = || path_part(&key);
            let item = keys.value(value, at)?;
            self.value(&item, depth + 1)
                .map_err(|fault| fault.at(part))?;
        }
        Ok(())
    }

    fn array(&mut self, value: &Val, depth: usize) -> Outcome {
        let length = value.length()?;
        self.writer.tag(Tag::Array)?;
        self.writer.uint(length)?;
        if length > self.limits.bytes as u64 {
            return Err(WireError::TooLarge(self.limits.bytes).into());
        }
        if length <= INDEXED {
            return self.indexed(value, u32::try_from(length).unwrap_or(0), depth);
        }
        let keys = value.keys()?;
        let mut next = 0_u64;
        for at in 0..keys.len() {
            let index = keys
                .key(at)?
                .string()
                .and_then(|key| key.parse::<u64>().ok());
            let Some(index) = index.filter(|&index| index >= next && index < length) else {
                continue;
            };
            self.holes(index - next)?;
            next = index + 1;
            let item = keys.value(value, at)?;
            self.value(&item, depth + 1)
                .map_err(|fault| fault.at(|| format!("[{index}]")))?;
        }
        self.holes(length - next)
    }

    /// An array whose places are looked at one by one: no list of keys is made.
    fn indexed(&mut self, value: &Val, length: u32, depth: usize) -> Outcome {
        for index in 0..length {
            if !value.has_own_index(index)? {
                self.holes(1)?;
                continue;
            }
            let item = value.get_index(index)?;
            self.value(&item, depth + 1)
                .map_err(|fault| fault.at(|| format!("[{index}]")))?;
        }
        Ok(())
    }

    fn holes(&mut self, count: u64) -> Outcome {
        for _ in 0..count {
            self.writer.tag(Tag::Hole)?;
        }
        Ok(())
    }

    fn map(&mut self, value: &Val, depth: usize) -> Outcome {
        let primordials = Rc::clone(&self.primordials);
        let pairs = self.iterate(value, &primordials.map_entries, &primordials.map_next)?;
        self.writer.tag(Tag::Map)?;
        self.writer.uint(pairs.len() as u64)?;
        for (at, pair) in pairs.iter().enumerate() {
            let (key, item) = (pair.get_index(0)?, pair.get_index(1)?);
            self.value(&key, depth + 1)
                .map_err(|fault| fault.at(|| format!(".key({at})")))?;
            self.value(&item, depth + 1)
                .map_err(|fault| fault.at(|| format!(".value({at})")))?;
        }
        Ok(())
    }

    fn set(&mut self, value: &Val, depth: usize) -> Outcome {
        let primordials = Rc::clone(&self.primordials);
        let items = self.iterate(value, &primordials.set_values, &primordials.set_next)?;
        self.writer.tag(Tag::Set)?;
        self.writer.uint(items.len() as u64)?;
        for (at, item) in items.iter().enumerate() {
            self.value(item, depth + 1)
                .map_err(|fault| fault.at(|| format!(".value({at})")))?;
        }
        Ok(())
    }

    /// All that an intrinsic iterator gives, taken before anything else can change the collection.
    fn iterate(&self, value: &Val, begin: &Val, next: &Val) -> Result<Vec<Val>, CloneFault> {
        let iterator = begin.call(value, &[])?;
        let mut items = Vec::new();
        loop {
            let step = next.call(&iterator, &[])?;
            if step.get(c"done")?.kind() == Kind::Bool(true) {
                return Ok(items);
            }
            items.push(step.get(c"value")?);
            if items.len() > self.limits.bytes {
                return Err(WireError::TooLarge(self.limits.bytes).into());
            }
        }
    }

    fn date(&mut self, value: &Val) -> Outcome {
        let time = self.primordials.date_get_time.call(value, &[])?;
        // A date is no container: it takes no number.
        self.forget_last();
        self.writer.tag(Tag::Date)?;
        let Kind::Number(time) = time.kind() else {
            return Err(CloneFault::refused("a broken Date"));
        };
        Ok(self.writer.float(time)?)
    }

    fn regexp(&mut self, value: &Val) -> Outcome {
        let source = self.primordials.regexp_source.call(value, &[])?.string();
        let flags = self.primordials.regexp_flags.call(value, &[])?.string();
        self.forget_last();
        let (Some(source), Some(flags)) = (source, flags) else {
            return Err(CloneFault::refused("a broken RegExp"));
        };
        self.text(Tag::RegExp, &source)?;
        Ok(self.writer.text(&flags)?)
    }

    fn forget_last(&mut self) {
        if let Some(held) = self.held.pop() {
            self.seen.remove(&held.address());
        }
    }

    fn buffer(&mut self, value: &Val) -> Outcome {
        self.writer.tag(Tag::Buffer)?;
        let writer = &mut self.writer;
        let written = value.with_buffer(|bytes| writer.block(bytes));
        Ok(written
            .map_err(|_| CloneFault::refused("a detached ArrayBuffer cannot leave the script"))??)
    }

    fn typed_array(&mut self, value: &Val, kind: u8, depth: usize) -> Outcome {
        let detached = |_| CloneFault::refused("a detached typed array cannot leave the script");
        let (buffer, offset, length) = value.typed_array_buffer().map_err(detached)?;
        self.view(kind, &buffer, offset, length, depth)
    }

    fn data_view(&mut self, value: &Val, depth: usize) -> Outcome {
        let primordials = Rc::clone(&self.primordials);
        let detached = |_| CloneFault::refused("a detached DataView cannot leave the script");
        let buffer = primordials.view_buffer.call(value, &[]).map_err(detached)?;
        let size = |getter: &Val| -> Result<usize, CloneFault> {
            match getter.call(value, &[]).map_err(detached)?.kind() {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a length"
                )]
                Kind::Number(number) => Ok(number as usize),
                _ => Err(CloneFault::refused("a broken DataView")),
            }
        };
        let (offset, length) = (
            size(&primordials.view_offset)?,
            size(&primordials.view_length)?,
        );
        self.view(ViewKind::DataView as u8, &buffer, offset, length, depth)
    }

    fn view(
        &mut self,
        kind: u8,
        buffer: &Val,
        offset: usize,
        length: usize,
        depth: usize,
    ) -> Outcome {
        self.writer.tag(Tag::View)?;
        self.writer.byte(kind)?;
        self.writer.uint(offset as u64)?;
        self.writer.uint(length as u64)?;
        self.object(buffer, depth + 1)
    }

    fn error(&mut self, value: &Val, depth: usize) -> Outcome {
        let field = |key| value.get(key).ok().and_then(|text| text.string());
        let name = field(c"name").unwrap_or_else(|| "Error".to_owned());
        let message = field(c"message").unwrap_or_default();
        let has_cause = value.has("cause")?;
        self.text(
            if has_cause {
                Tag::ErrorWithCause
            } else {
                Tag::Error
            },
            &name,
        )?;
        self.writer.text(&message)?;
        if has_cause {
            let cause = value.get(c"cause")?;
            self.value(&cause, depth + 1)
                .map_err(|fault| fault.at(|| ".cause".to_owned()))?;
        }
        Ok(())
    }
}
