//! Collections on their way out: plain objects, arrays, maps and sets, with what they hold.

use std::rc::Rc;

use super::super::clone_fault::{CloneFault, path_part};
use super::super::quickjs::{Kind, Val};
use super::{Out, Outcome};
use crate::value::wire::{Tag, WireError};

/// Arrays up to this length are looked at place by place; a longer one may be mostly holes.
const INDEXED: u64 = 1 << 16;

impl Out<'_> {
    pub(super) fn plain(&mut self, value: &Val, depth: usize) -> Outcome {
        let keys = value.keys()?;
        self.writer.object(keys.len())?;
        for at in 0..keys.len() {
            let key = keys.key(at)?;
            self.any_text(&key)?;
            let part = || path_part(&key.string().unwrap_or_default());
            let item = keys.value(value, at)?;
            self.value(&item, depth + 1)
                .map_err(|fault| fault.at(part))?;
        }
        Ok(())
    }

    pub(super) fn array(&mut self, value: &Val, depth: usize) -> Outcome {
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

    pub(super) fn map(&mut self, value: &Val, depth: usize) -> Outcome {
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

    pub(super) fn set(&mut self, value: &Val, depth: usize) -> Outcome {
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
}
