//! A place in a message.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place in a message, before a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The byte, counted from zero.
    pub byte: usize,
    /// The line, counted from one.
    pub line: usize,
    /// The character in the line, counted from one.
    pub column: usize,
}

impl Position {
    /// The beginning.
    pub const START: Self = Self {
        byte: 0,
        line: 1,
        column: 1,
    };

    /// The place behind these bytes.
    pub fn after(self, bytes: &[u8]) -> Self {
        let mut here = self;
        here.byte += bytes.len();
        for byte in bytes {
            if *byte == b'\n' {
                here.line += 1;
                here.column = 1;
            } else if byte & 0b1100_0000 != 0b1000_0000 {
                // Bytes that continue a character don't begin another.
                here.column += 1;
            }
        }
        here
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}
