//! Commands to the terminal that never end.
//!
//! The emulator's parser collects an operating-system command (`ESC ] … BEL`) in memory until it
//! ends. What comes from inside the fence may never end it, so that it is cut off here.

/// The longest such command that is passed on, in bytes.
const LONGEST: usize = 4096;

/// Where in the stream we are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overlong {
    #[default]
    Elsewhere,
    /// After `ESC`.
    Escaped,
    /// In a command, of which so many bytes have come.
    Inside(usize),
    /// In the rest of a command that was too long.
    Dropping,
}

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

impl Overlong {
    /// Passes on what came, without the rest of commands that are too long.
    pub(super) fn pass(&mut self, bytes: &[u8], mut pass_on: impl FnMut(&[u8])) {
        let mut start = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            let before = *self;
            *self = before.after(byte);
            if *self == Self::Dropping && before != Self::Dropping {
                pass_on(&bytes[start..at]);
                // The parser takes this as the end of the command.
                pass_on(&[CAN]);
            }
            if before == Self::Dropping || *self == Self::Dropping {
                // The byte that ends it is dropped too, unless it begins something new.
                start = if byte == ESC { at } else { at + 1 };
            }
        }
        pass_on(&bytes[start..]);
    }

    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (_, ESC) => Self::Escaped,
            (_, CAN | SUB) | (Self::Inside(_) | Self::Dropping, BEL) => Self::Elsewhere,
            (Self::Escaped, b']') => Self::Inside(0),
            // The parser lets control characters pass here, and goes on waiting.
            (Self::Escaped, 0..0x20 | 0x7f) => Self::Escaped,
            (Self::Inside(length), _) if length < LONGEST => Self::Inside(length + 1),
            (Self::Inside(_) | Self::Dropping, _) => Self::Dropping,
            (Self::Escaped | Self::Elsewhere, _) => Self::Elsewhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn passed(chunks: &[&[u8]]) -> Vec<u8> {
        let mut overlong = Overlong::default();
        let mut passed = Vec::new();
        for chunk in chunks {
            overlong.pass(chunk, |bytes| passed.extend_from_slice(bytes));
        }
        passed
    }

    #[test]
    fn only_what_is_too_long_is_cut() {
        let long = vec![b'x'; LONGEST + 100];
        let kept = [b"a\x1b]0;", &long[..LONGEST - 2], b"\x18"].concat();
        for (input, expected) in [
            (
                &b"plain \x1b[31mred\x1b[m"[..],
                b"plain \x1b[31mred\x1b[m".to_vec(),
            ),
            (b"\x1b]0;title\x07text", b"\x1b]0;title\x07text".to_vec()),
            (
                &[b"a\x1b]0;", &long[..], b"\x07b"].concat(),
                [&kept[..], b"b"].concat(),
            ),
            (
                &[b"a\x1b]0;", &long[..], b"\x1b\\b"].concat(),
                [&kept[..], b"\x1b\\b"].concat(),
            ),
            (&[b"a\x1b]0;", &long[..]].concat(), kept),
        ] {
            assert_eq!(passed(&[input]), expected);
            let bytes: Vec<&[u8]> = input.chunks(1).collect();
            assert_eq!(passed(&bytes), expected);
        }
    }

    proptest! {
        #[test]
        fn short_output_passes_unchanged(
            chunks in prop::collection::vec(
                prop::collection::vec(
                    prop_oneof![Just(ESC), Just(b']'), Just(BEL), Just(CAN), any::<u8>()],
                    0..20,
                ),
                0..20,
            ),
        ) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(passed(&chunks), chunks.concat());
        }
    }
}
