//! The bytes of a value: tags, numbers and lengths, with limits on both sides.
//!
//! Every container gets the next ordinal when it begins; a reference names an ordinal that was given before.
//! The reader never trusts a length: it checks it against the bytes that remain before it allocates.

mod reader;
mod writer;
mod wtf8;

pub(crate) use reader::Reader;
pub(crate) use writer::Writer;
pub(crate) use wtf8::Text;

/// How large and how deep one message may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message.
    pub bytes: usize,
    /// Containers inside containers.
    pub depth: usize,
    /// What one message may take in memory once it has been read, as JSON at its worst.
    pub held: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 16 << 20,
            depth: 400,
            held: 64 << 20,
        }
    }
}

/// What a value takes on the host's side beside its text, as a value or as JSON, whichever is more.
const VALUE: usize = 48;
/// What an object of JSON takes for every eleven entries: they are kept in a tree whose nodes have so many.
const NODE: usize = 640;
const NODE_ENTRIES: usize = 11;

/// What an object with so many entries takes beside them.
pub(crate) fn object_weight(entries: usize) -> usize {
    entries.div_ceil(NODE_ENTRIES).saturating_mul(NODE)
}

/// What a number takes beside what its tag does: those that JSON lacks are objects there.
pub(crate) fn number_weight(number: f64) -> usize {
    let plain = number.is_finite() && !(number == 0.0 && number.is_sign_negative());
    if plain { 0 } else { NODE }
}

impl Tag {
    /// What a value with this tag takes beside its text and its parts.
    pub(crate) fn weight(self) -> usize {
        match self {
            Self::Null
            | Self::False
            | Self::True
            | Self::Number
            | Self::Int
            | Self::Utf8
            | Self::Utf16
            | Self::Object
            | Self::Array => VALUE,
            // JSON lacks these: they are written as objects.
            _ => VALUE + NODE,
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
    /// An error with a cause, inner errors, or both, as a byte of flags says.
    ErrorWith,
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
    Tag::ErrorWith,
    Tag::HostFunction,
    Tag::ScriptFunction,
    Tag::Promise,
    Tag::Ref,
];

/// The flags of [`Tag::ErrorWith`], in the order in which the values follow.
pub(crate) const ERROR_CAUSE: u8 = 1;
pub(crate) const ERROR_ERRORS: u8 = 2;

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
