//! An encoded value in a message.

use std::ops::Deref;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An encoded value, not yet looked at. It travels as one block: byte by byte would be slow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Encoded(Vec<u8>);

impl From<Vec<u8>> for Encoded {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl Deref for Encoded {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Serialize for Encoded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Encoded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Block;
        impl Visitor<'_> for Block {
            type Value = Encoded;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a block of bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Encoded, E> {
                Ok(Encoded(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Block)
    }
}
