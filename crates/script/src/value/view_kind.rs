//! Which constructor a view of a buffer has.

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
