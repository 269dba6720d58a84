//! Writes the bytes of a value, up to a limit.

use super::{Tag, WireError};

/// Appends to a message up to a limit.
#[derive(Debug)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
    limit: usize,
}

impl Writer {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(64),
            limit,
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        if self.bytes.len() + bytes.len() > self.limit {
            return Err(WireError::TooLarge(self.limit));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    pub(crate) fn byte(&mut self, byte: u8) -> Result<(), WireError> {
        self.raw(&[byte])
    }

    pub(crate) fn tag(&mut self, tag: Tag) -> Result<(), WireError> {
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
