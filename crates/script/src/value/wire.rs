//! The bytes of a value: tags, numbers and lengths, with limits on both sides.
//!
//! Every container gets the next ordinal when it begins; a reference names an ordinal that was given before.
//! The reader never trusts a length: it checks it against the bytes that remain before it allocates.

/// How large and how deep one message may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message.
    pub bytes: usize,
    /// Containers inside containers.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 16 << 20,
            depth: 400,
        }
    }
}

/// The tag that begins a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Tag {
    Undefined,
    Hole,
    Null,
    False,
    True,
    Number,
    Int,
    BigInt,
    Utf8,
    Utf16,
    Date,
    RegExp,
    Object,
    Array,
    Map,
    Set,
    Buffer,
    View,
    Error,
    ErrorWithCause,
    HostFunction,
    ScriptFunction,
    Promise,
    Ref,
}

const TAGS: [Tag; 24] = [
    Tag::Undefined,
    Tag::Hole,
    Tag::Null,
    Tag::False,
    Tag::True,
    Tag::Number,
    Tag::Int,
    Tag::BigInt,
    Tag::Utf8,
    Tag::Utf16,
    Tag::Date,
    Tag::RegExp,
    Tag::Object,
    Tag::Array,
    Tag::Map,
    Tag::Set,
    Tag::Buffer,
    Tag::View,
    Tag::Error,
    Tag::ErrorWithCause,
    Tag::HostFunction,
    Tag::ScriptFunction,
    Tag::Promise,
    Tag::Ref,
];

/// Which constructor a view has. The order of the typed arrays is the engine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are JavaScript's own")]
pub enum ViewKind {
    Uint8ClampedArray,
    Int8Array,
    Uint8Array,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    BigInt64Array,
    BigUint64Array,
    Float16Array,
    Float32Array,
    Float64Array,
    DataView,
}

impl ViewKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 13] = [
        Self::Uint8ClampedArray,
        Self::Int8Array,
        Self::Uint8Array,
        Self::Int16Array,
        Self::Uint16Array,
        Self::Int32Array,
        Self::Uint32Array,
        Self::BigInt64Array,
        Self::BigUint64Array,
        Self::Float16Array,
        Self::Float32Array,
        Self::Float64Array,
        Self::DataView,
    ];

    /// The name of its constructor.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uint8ClampedArray => "Uint8ClampedArray",
            Self::Int8Array => "Int8Array",
            Self::Uint8Array => "Uint8Array",
            Self::Int16Array => "Int16Array",
            Self::Uint16Array => "Uint16Array",
            Self::Int32Array => "Int32Array",
            Self::Uint32Array => "Uint32Array",
            Self::BigInt64Array => "BigInt64Array",
            Self::BigUint64Array => "BigUint64Array",
            Self::Float16Array => "Float16Array",
            Self::Float32Array => "Float32Array",
            Self::Float64Array => "Float64Array",
            Self::DataView => "DataView",
        }
    }

    /// Bytes of one element.
    pub fn element(self) -> usize {
        match self {
            Self::Uint8ClampedArray | Self::Int8Array | Self::Uint8Array | Self::DataView => 1,
            Self::Int16Array | Self::Uint16Array | Self::Float16Array => 2,
            Self::Int32Array | Self::Uint32Array | Self::Float32Array => 4,
            Self::BigInt64Array | Self::BigUint64Array | Self::Float64Array => 8,
        }
    }

    pub(crate) fn from_number(number: u64) -> Option<Self> {
        usize::try_from(number)
            .ok()
            .and_then(|n| Self::ALL.get(n))
            .copied()
    }
}

/// Why bytes are not a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The bytes end too early, or a length points past them.
    #[error("the message ends in the middle of a value")]
    Truncated,
    /// A tag, kind or flag that does not exist.
    #[error("the message has an unknown tag")]
    UnknownTag,
    /// Text that is not Unicode where it must be.
    #[error("the message has malformed text")]
    MalformedText,
    /// Containers inside containers beyond the limit.
    #[error("the message is nested deeper than {0} levels")]
    TooDeep(usize),
    /// More bytes than the limit.
    #[error("the message is larger than {0} bytes")]
    TooLarge(usize),
    /// A reference to a container that has not begun.
    #[error("the message refers to an object that is not in it")]
    DanglingReference,
    /// Bytes after the end.
    #[error("the message has bytes after its end")]
    Trailing,
}

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

    pub(crate) fn text(&mut self) -> Result<&'a str, WireError> {
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
