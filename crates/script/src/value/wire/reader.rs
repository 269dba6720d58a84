//! Reads the bytes of a value, and trusts none of them.

use super::{TAGS, Tag, Text, WireError};

/// Takes a message apart.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(crate) fn finish(&self) -> Result<(), WireError> {
        if self.bytes.is_empty() {
            Ok(())
        } else {
            Err(WireError::Trailing)
        }
    }

    pub(crate) fn raw(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let (head, tail) = self
            .bytes
            .split_at_checked(length)
            .ok_or(WireError::Truncated)?;
        self.bytes = tail;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (head, tail) = self
            .bytes
            .split_first_chunk::<N>()
            .ok_or(WireError::Truncated)?;
        self.bytes = tail;
        Ok(*head)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, WireError> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn tag(&mut self) -> Result<Tag, WireError> {
        TAGS.get(usize::from(self.byte()?))
            .copied()
            .ok_or(WireError::UnknownTag)
    }

    pub(crate) fn peek_tag(&self) -> Option<Tag> {
        self.bytes
            .first()
            .and_then(|byte| TAGS.get(usize::from(*byte)))
            .copied()
    }

    pub(crate) fn uint(&mut self) -> Result<u64, WireError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(WireError::UnknownTag)
    }

    /// A length of things that take at least `each` bytes; refused if they cannot all be there.
    pub(crate) fn count(&mut self, each: usize) -> Result<usize, WireError> {
        let count = usize::try_from(self.uint()?).map_err(|_| WireError::Truncated)?;
        match count.checked_mul(each) {
            Some(bytes) if bytes <= self.bytes.len() => Ok(count),
            _ => Err(WireError::Truncated),
        }
    }

    pub(crate) fn float(&mut self) -> Result<f64, WireError> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    pub(crate) fn int(&mut self) -> Result<i32, WireError> {
        Ok(i32::from_le_bytes(self.array()?))
    }

    pub(crate) fn block(&mut self) -> Result<&'a [u8], WireError> {
        let length = self.count(1)?;
        self.raw(length)
    }

    pub(crate) fn text(&mut self) -> Result<Text<'a>, WireError> {
        Text::new(self.block()?)
    }

    /// Text that the other side never writes with lone surrogates.
    pub(crate) fn plain_text(&mut self) -> Result<&'a str, WireError> {
        std::str::from_utf8(self.block()?).map_err(|_| WireError::MalformedText)
    }

    pub(crate) fn utf16(&mut self) -> Result<Vec<u16>, WireError> {
        let count = self.count(2)?;
        let bytes = self.raw(count * 2)?;
        Ok(bytes
            .as_chunks::<2>()
            .0
            .iter()
            .map(|pair| u16::from_le_bytes(*pair))
            .collect())
    }
}
