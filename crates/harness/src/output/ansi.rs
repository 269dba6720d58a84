//! Escape sequences: what a program tells the terminal, in the middle of what it prints.
//!
//! Sequences are recognised as a terminal would, however the output was cut into reads: cursor
//! and colour (CSI), titles and links (OSC), device strings (DCS, SOS, PM, APC), shifts. Nothing
//! else is changed, not even bytes that are no text.

use std::borrow::Cow;

use serde::Deserialize;

/// What becomes of escape sequences in a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ansi {
    /// They are removed.
    Remove,
    /// They stay.
    Keep,
}

/// Takes escape sequences out of a stream.
#[derive(Debug, Default, Clone)]
pub(crate) struct Strip {
    state: State,
    /// The first number of the control sequence that is being read.
    number: u32,
}

/// What one byte of a stream comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// This byte of text.
    Text(u8),
    /// The cursor goes to the beginning of its line.
    LineStart,
    /// What is behind the cursor on its line is erased.
    EraseRest,
    /// All of the cursor's line is erased.
    EraseLine,
    /// The cursor goes to another line.
    Elsewhere,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After a byte that may begin a control character of two bytes, U+0080 to U+009F.
    Latin,
    /// After `ESC`.
    Escape,
    /// After `ESC` and an intermediate such as `(`.
    Intermediate,
    /// In a control sequence, `ESC [ …`.
    Sequence,
    /// In an operating-system command, `ESC ] …`.
    Command,
    /// In a device string or one of its relatives.
    String,
    /// Before the one character that a single shift is about.
    Shift,
}

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;
/// The first byte of U+0080 to U+00BF.
const LATIN: u8 = 0xc2;

impl Strip {
    /// The longest beginning of a sequence that is waited for, in bytes.
    pub(super) const LONGEST_BEGUN: usize = 4096;

    /// What is left of the next part of the stream.
    pub(crate) fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let begins = |byte: &u8| matches!(*byte, ESC | LATIN);
        if self.state == State::Text && !bytes.iter().any(begins) {
            return Cow::Borrowed(bytes);
        }
        let mut left = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            self.step(byte, |step| left.extend(step.text()));
        }
        Cow::Owned(left)
    }

    /// What was held back, at the end of the stream.
    pub(crate) fn finish(self) -> &'static [u8] {
        match self.state {
            State::Latin => &[LATIN],
            _ => &[],
        }
    }

    /// All of a text at once.
    pub(crate) fn whole(bytes: &[u8]) -> Cow<'_, [u8]> {
        let mut strip = Self::default();
        let left = strip.push(bytes);
        match strip.finish() {
            [] => left,
            held => Cow::Owned([&left, held].concat()),
        }
    }

    /// How many bytes at the end are the beginning of a sequence whose rest is missing. One that
    /// is longer than any real one does not count.
    pub(super) fn begun_sequence(bytes: &[u8]) -> usize {
        let last = &bytes[bytes.len().saturating_sub(Self::LONGEST_BEGUN)..];
        let Some(start) = last.iter().rposition(|byte| *byte == ESC) else {
            return 0;
        };
        let mut strip = Self::default();
        for &byte in &last[start..] {
            strip.step(byte, |_| {});
        }
        let open = !matches!(strip.state, State::Text | State::Latin);
        if open { last.len() - start } else { 0 }
    }

    /// Reads one byte on, and hands over what it comes to.
    pub(super) fn step(&mut self, byte: u8, mut keep: impl FnMut(Step)) {
        match (self.state, byte) {
            (State::Latin, _) => self.after_latin(byte, keep),
            (_, ESC) => self.state = State::Escape,
            (State::Text, LATIN) => self.state = State::Latin,
            (State::Text, _) => keep(Step::Text(byte)),
            (_, CAN | SUB) | (State::Command, BEL) => self.state = State::Text,
            (State::Escape, _) => self.escaped(byte, keep),
            // No title or link has a line break. A stray beginning costs one line, not all the rest.
            (State::Command, b'\n') => {
                keep(Step::Text(byte));
                self.state = State::Text;
            }
            (State::Sequence, b'0'..=b'9') => {
                let digit = u32::from(byte - b'0');
                self.number = self.number.saturating_mul(10).saturating_add(digit);
            }
            // Whatever has more than one number or a mark before it is none of those that matter.
            (State::Sequence, 0x20..=0x3f) => self.number = u32::MAX,
            (State::Command | State::String, _) | (State::Intermediate, 0x20..=0x2f) => {}
            // Control characters work in the middle of a sequence.
            (_, 0..0x20) => keep(Step::Text(byte)),
            (State::Sequence, 0x40..0x80) => {
                self.state = State::Text;
                if let Some(step) = Step::of_sequence(byte, self.number) {
                    keep(step);
                }
            }
            (State::Intermediate | State::Shift, 0x20..0x80) => self.state = State::Text,
            (State::Intermediate | State::Sequence | State::Shift, 0x80..) => {
                self.not_a_sequence(byte, keep);
            }
        }
    }

    fn not_a_sequence(&mut self, byte: u8, keep: impl FnMut(Step)) {
        self.state = State::Text;
        self.step(byte, keep);
    }

    fn after_latin(&mut self, byte: u8, mut keep: impl FnMut(Step)) {
        if let Some(state) = latin_control(byte) {
            self.state = state;
            self.number = 0;
        } else {
            keep(Step::Text(LATIN));
            self.not_a_sequence(byte, keep);
        }
    }

    /// After `ESC`.
    fn escaped(&mut self, byte: u8, mut keep: impl FnMut(Step)) {
        self.number = 0;
        self.state = match byte {
            b'[' => State::Sequence,
            b']' => State::Command,
            b'P' | b'X' | b'^' | b'_' => State::String,
            b'N' | b'O' => State::Shift,
            0x20..=0x2f => State::Intermediate,
            0..0x20 => return keep(Step::Text(byte)),
            0x80.. => return self.not_a_sequence(byte, keep),
            _ => State::Text,
        };
    }
}

impl Step {
    /// The byte, if it is one of text.
    pub(super) fn text(self) -> Option<u8> {
        match self {
            Self::Text(byte) => Some(byte),
            Self::LineStart | Self::EraseRest | Self::EraseLine | Self::Elsewhere => None,
        }
    }

    /// What a control sequence that ends like this does within its line.
    fn of_sequence(end: u8, number: u32) -> Option<Self> {
        match (end, number) {
            (b'G', 0 | 1) => Some(Self::LineStart),
            (b'K', 0) => Some(Self::EraseRest),
            (b'K', 2) => Some(Self::EraseLine),
            (b'A' | b'B' | b'E' | b'F' | b'H' | b'd' | b'f', _) => Some(Self::Elsewhere),
            _ => None,
        }
    }
}

/// What the control characters above ASCII begin. The others of them are left alone.
fn latin_control(second: u8) -> Option<State> {
    match second {
        0x9b => Some(State::Sequence),
        0x9d => Some(State::Command),
        0x90 | 0x98 | 0x9e | 0x9f => Some(State::String),
        0x8e | 0x8f => Some(State::Shift),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sequences_go_and_text_stays() {
        for (printed, left) in [
            ("plain\n", "plain\n"),
            ("\x1b[1;31mred\x1b[0m\n", "red\n"),
            ("\x1b[38:2::1:2:3mtrue\x1b[m", "true"),
            ("a\x1b[2K\rb", "a\rb"),
            ("\x1b]0;a title\x07text", "text"),
            ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\!", "link!"),
            ("\x1bPq#0;2;0;0;0~-\x1b\\after", "after"),
            ("\x1b_app\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\x", "x"),
            ("\x1b(0lqk\x1b(B", "lqk"),
            ("\x1b7\x1b[H\x1b8\x1bM\x1b=x", "x"),
            ("\x1bOAup \x1bNx", "up "),
            // Cut short, cancelled, and not sequences at all.
            ("a\x1b[31\x18b", "ab"),
            ("a\x1b[3\nb", "a\n"),
            ("a\x1b[3é", "aé"),
            ("a\x1bé", "aé"),
            ("a\x1b]0;no end\nnext", "a\nnext"),
            ("a\x1b[", "a"),
            ("\x1b\x1b[1mx", "x"),
            // Control characters of two bytes, and letters that look like them.
            ("\u{9b}1mbold\u{9d}0;t\u{7}", "bold"),
            ("£ © é 日 \u{85}", "£ © é 日 \u{85}"),
        ] {
            let stripped = Strip::whole(printed.as_bytes());
            assert_eq!(String::from_utf8_lossy(&stripped), left, "{printed:?}");
        }
        assert_eq!(*Strip::whole(b"\xff\xc2\x1b[mx\xc2"), *b"\xff\xc2x\xc2");
    }

    #[test]
    fn only_a_sequence_whose_rest_is_missing_counts() {
        for (printed, begun) in [
            ("plain", 0),
            ("\x1b[31mred", 0),
            ("red\x1b", 1),
            ("red\x1b[3", 3),
            ("\x1b[31mred\x1b]0;ti", 6),
            ("\x1b]0;title\x07", 0),
            ("\x1b]0;title\x1b\\", 0),
            ("\x1b]0;line\nnext", 0),
        ] {
            assert_eq!(
                Strip::begun_sequence(printed.as_bytes()),
                begun,
                "{printed:?}"
            );
        }
        let endless = [b"\x1bP", &[b'x'; 5000][..]].concat();
        assert_eq!(Strip::begun_sequence(&endless), 0);
    }

    fn printed() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            "[a-z£日\n]{0,6}".prop_map(String::into_bytes),
            "\x1b[\\[\\]PXNO(7_][0-9;]{0,4}[a-zA-Z\x07\x1b\\\\]?".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..4),
        ];
        prop::collection::vec(part, 0..20).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_output_was_read(bytes in printed(), piece in 1usize..7) {
            let mut strip = Strip::default();
            let mut left = Vec::new();
            for piece in bytes.chunks(piece) {
                left.extend_from_slice(&strip.push(piece));
            }
            left.extend_from_slice(strip.finish());
            prop_assert_eq!(&left, &*Strip::whole(&bytes));
            prop_assert!(!left.contains(&ESC));
        }
    }
}
