//! Writes the bytes of a value, up to a limit.

use super::{Limits, Tag, WireError, number_weight, object_weight, wtf8};

/// Appends to a message up to its limits.
#[derive(Debug)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
    limits: Limits,
    /// What the reader will hold for it beside the bytes.
    weight: usize,
    /// Bytes that were counted; they are kept unless counting is all that is asked for.
    count: usize,
    keeps: bool,
}

impl Writer {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            bytes: Vec::with_capacity(64),
            limits,
            weight: 0,
            count: 0,
            keeps: true,
        }
    }

    /// One that counts and keeps nothing.
    pub(crate) fn counting(limits: Limits) -> Self {
        Self {
            keeps: false,
            ..Self::new(limits)
        }
    }

    /// Bytes so far.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Counts what the other side will hold.
    fn weigh(&mut self, more: usize) -> Result<(), WireError> {
        self.weight = self.weight.saturating_add(more);
        if self.weight.saturating_add(self.count) > self.limits.held {
            return Err(WireError::TooLarge(self.limits.held));
        }
        Ok(())
    }

    /// Begins a plain object with so many entries.
    pub(crate) fn object(&mut self, entries: usize) -> Result<(), WireError> {
        self.tag(Tag::Object)?;
        self.weigh(object_weight(entries))?;
        self.uint(entries as u64)
    }

    /// Text that may have lone surrogates.
    pub(crate) fn units(&mut self, units: &[u16]) -> Result<(), WireError> {
        self.block(&wtf8::from_units(units))
    }

    /// The bytes, and what the other side will hold for them.
    pub(crate) fn finish(self) -> (Vec<u8>, usize) {
        (self.bytes, self.weight.saturating_add(self.count))
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        let count = self.count.saturating_add(bytes.len());
        if count > self.limits.bytes {
            return Err(WireError::TooLarge(self.limits.bytes));
        }
        if self.weight.saturating_add(count) > self.limits.held {
            return Err(WireError::TooLarge(self.limits.held));
        }
        self.count = count;
        if self.keeps {
            self.bytes.extend_from_slice(bytes);
        }
        Ok(())
    }

    pub(crate) fn byte(&mut self, byte: u8) -> Result<(), WireError> {
        self.raw(&[byte])
    }

    pub(crate) fn tag(&mut self, tag: Tag) -> Result<(), WireError> {
        self.weigh(tag.weight())?;
        self.byte(tag as u8)
    }

    pub(crate) fn uint(&mut self, mut value: u64) -> Result<(), WireError> {
        while value >= 0x80 {
            self.byte(low_bits(value) | 0x80)?;
            value >>= 7;
        }
        self.byte(low_bits(value))
    }

    pub(crate) fn float(&mut self, value: f64) -> Result<(), WireError> {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn block(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.weigh(0)?;
        self.uint(bytes.len() as u64)?;
        self.raw(bytes)
    }

    pub(crate) fn text(&mut self, text: &str) -> Result<(), WireError> {
        self.block(text.as_bytes())
    }

    pub(crate) fn number(&mut self, value: f64) -> Result<(), WireError> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "checked by converting back"
        )]
        let int = value as i32;
        // -0 is not an integer here: its bits differ from those of 0.
        if f64::from(int).to_bits() == value.to_bits() {
            self.tag(Tag::Int)?;
            return self.raw(&int.to_le_bytes());
        }
        self.tag(Tag::Number)?;
        self.weigh(number_weight(value))?;
        self.float(value)
    }

    pub(crate) fn utf16(&mut self, units: &[u16]) -> Result<(), WireError> {
        self.tag(Tag::Utf16)?;
        self.uint(units.len() as u64)?;
        for unit in units {
            self.raw(&unit.to_le_bytes())?;
        }
        Ok(())
    }
}

fn low_bits(value: u64) -> u8 {
    (value & 0x7f) as u8
}
