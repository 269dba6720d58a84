//! The bytes of a value: tags, numbers and lengths, with limits on both sides.
//!
//! Every container gets the next ordinal when it begins; a reference names an ordinal that was given before.
//! The reader never trusts a length: it checks it against the bytes that remain before it allocates.

mod reader;
mod writer;

pub(crate) use reader::Reader;
pub(crate) use writer::Writer;

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
