//! From a script's value to bytes: the structured clone, written without trusting anything that the script
//! could have changed.
//!
//! Getters may run script code in the middle; every object that was seen is held until the end, so that an
//! address is never taken for another object.

mod binary;
mod collection;

use std::collections::HashMap;
use std::rc::Rc;

use super::class;
use super::clone_fault::CloneFault;
use super::primordials::Primordials;
use super::quickjs::{Kind, Text, Val};
use crate::value::Limits;
use crate::value::wire::{ERROR_CAUSE, ERROR_ERRORS, Tag, WireError, Writer};

/// What becomes of the functions in a value.
pub(crate) enum Functions<'a> {
    /// They are refused, as in results.
    Refuse,
    /// Each becomes a handle with the number that this gives, as in arguments of host functions.
    Handle(&'a mut dyn FnMut(Val) -> u64),
    /// Whatever cannot cross is written as a description, as in log lines.
    Describe,
}

/// Writes `value` as bytes.
pub(crate) fn clone_out(
    value: &Val,
    primordials: &Rc<Primordials>,
    limits: Limits,
    functions: Functions<'_>,
) -> Result<Vec<u8>, CloneFault> {
    weighed_out(value, primordials, limits, functions).map(|(bytes, _)| bytes)
}

/// The same, with what the other side will hold for it.
pub(crate) fn weighed_out(
    value: &Val,
    primordials: &Rc<Primordials>,
    limits: Limits,
    functions: Functions<'_>,
) -> Result<(Vec<u8>, usize), CloneFault> {
    let mut out = Out::new(primordials, Writer::new(limits), limits, functions);
    out.value(value, 0)?;
    Ok(out.writer.finish())
}

/// How many bytes `value` would take, which are not kept.
pub(crate) fn size_of(
    value: &Val,
    primordials: &Rc<Primordials>,
    limits: Limits,
    functions: Functions<'_>,
) -> Result<usize, CloneFault> {
    let mut out = Out::new(primordials, Writer::counting(limits), limits, functions);
    out.value(value, 0)?;
    Ok(out.writer.count())
}

/// Writes an array of `values` that the script never sees as one.
pub(crate) fn clone_list_out(
    values: &[Val],
    primordials: &Rc<Primordials>,
    limits: Limits,
    functions: Functions<'_>,
) -> Result<Vec<u8>, CloneFault> {
    weighed_list_out(values, primordials, limits, functions).map(|(bytes, _)| bytes)
}

/// The same, with what the other side will hold for it.
pub(crate) fn weighed_list_out(
    values: &[Val],
    primordials: &Rc<Primordials>,
    limits: Limits,
    functions: Functions<'_>,
) -> Result<(Vec<u8>, usize), CloneFault> {
    let mut out = Out::new(primordials, Writer::new(limits), limits, functions);
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
    fn new(
        primordials: &Rc<Primordials>,
        writer: Writer,
        limits: Limits,
        functions: Functions<'a>,
    ) -> Self {
        Self {
            primordials: Rc::clone(primordials),
            writer,
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

    /// The text of a string, whatever units it has.
    fn any_text(&mut self, text: &Val) -> Outcome {
        match text.text()? {
            Text::Utf8(text) => self.writer.text(&text)?,
            Text::Utf16(units) => self.writer.units(&units)?,
        }
        Ok(())
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
        let source = self.primordials.regexp_source.call(value, &[])?;
        let flags = self.primordials.regexp_flags.call(value, &[])?;
        self.forget_last();
        self.writer.tag(Tag::RegExp)?;
        self.any_text(&source)?;
        self.any_text(&flags)
    }

    fn forget_last(&mut self) {
        if let Some(held) = self.held.pop() {
            self.seen.remove(&held.address());
        }
    }

    fn error(&mut self, value: &Val, depth: usize) -> Outcome {
        let field = |key, otherwise: &str| {
            let text = value.get(key).ok();
            let text = text.filter(|text| text.kind() == Kind::String);
            text.map_or_else(|| value.realm().string(otherwise), Ok)
        };
        let (name, message) = (field(c"name", "Error")?, field(c"message", "")?);
        let with = [
            (ERROR_CAUSE, c"cause", ".cause"),
            (ERROR_ERRORS, c"errors", ".errors"),
        ];
        let there = [value.has("cause")?, value.has_own("errors")?];
        let flags = with
            .iter()
            .zip(there)
            .filter(|(_, there)| *there)
            .fold(0, |flags, ((flag, ..), _)| flags | flag);
        self.writer.tag(if flags == 0 {
            Tag::Error
        } else {
            Tag::ErrorWith
        })?;
        self.any_text(&name)?;
        self.any_text(&message)?;
        if flags != 0 {
            self.writer.byte(flags)?;
        }
        for (flag, key, part) in with {
            if flags & flag != 0 {
                self.value(&value.get(key)?, depth + 1)
                    .map_err(|fault| fault.at(|| part.to_owned()))?;
            }
        }
        Ok(())
    }
}
