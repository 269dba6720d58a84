//! The last frame: of what a program printed over itself, only what a terminal would still show.
//!
//! A progress bar goes back to the beginning of its line and prints that again, a spinner goes back
//! by a character, a manual page prints letters twice to make them bold. Line ends of two bytes are
//! none of that. Output of a program that moves about between lines is a picture, not lines: nothing of
//! it is left out.

use super::ansi::{Step, Strip};

/// A text without sequences and without what was printed over.
#[derive(Debug, Default)]
pub(super) struct Frame {
    left: Vec<u8>,
    /// For each byte that is left, how many bytes of the stream it took to get to it.
    behind: Vec<u32>,
    /// Where the line that is being printed begins.
    line: usize,
    cursor: Cursor,
    /// How many bytes of the line the cursor has gone back over, character by character.
    ahead: usize,
}

/// Where the next character of a line goes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Cursor {
    /// Behind the others.
    #[default]
    AtEnd,
    /// To the beginning of the line, by a byte that is also half of a line end.
    Returned,
    /// To the beginning of the line.
    AtStart,
}

const BACKSPACE: u8 = 0x08;

impl Frame {
    /// Whether anything in the bytes may print over something else.
    pub(super) fn is_needed(bytes: &[u8]) -> bool {
        memchr::memchr3(BACKSPACE, 0x1b, 0xc2, bytes).is_some()
            || memchr::memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1) != Some(&b'\n'))
    }

    /// What is left of a text.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut frame = Self::default();
        let mut moves_about = false;
        let behind = each_step(bytes, |step, behind| {
            moves_about |= step == Step::Elsewhere || frame.ahead > FARTHEST;
            if !moves_about {
                frame.take(step, behind);
            }
        });
        if moves_about {
            return Self::unreduced(bytes);
        }
        if frame.cursor == Cursor::Returned {
            frame.keep(b'\r', behind);
        }
        frame
    }

    /// A text without sequences alone.
    fn unreduced(bytes: &[u8]) -> Self {
        let mut frame = Self::default();
        each_step(bytes, |step, behind| {
            if let Step::Text(byte) = step {
                frame.keep(byte, behind);
            }
        });
        frame
    }

    /// The bytes that are left.
    pub(super) fn left(&self) -> &[u8] {
        &self.left
    }

    /// How many of the stream's bytes it took to be left with so many.
    pub(super) fn bytes_behind(&self, left: usize) -> usize {
        let last = left.checked_sub(1).and_then(|last| self.behind.get(last));
        last.map_or(0, |behind| *behind as usize)
    }

    fn take(&mut self, step: Step, behind: u32) {
        match step {
            Step::Text(b'\n') => {
                self.ahead = 0;
                if std::mem::take(&mut self.cursor) == Cursor::Returned {
                    self.keep(b'\r', behind);
                }
                self.keep(b'\n', behind);
                self.line = self.left.len();
            }
            Step::Text(b'\r') => self.cursor = Cursor::Returned,
            Step::LineStart => self.cursor = Cursor::AtStart,
            Step::Text(BACKSPACE) => self.back(),
            Step::Text(byte) => {
                if self.cursor != Cursor::AtEnd {
                    self.erase();
                }
                self.print(byte, behind);
            }
            Step::Elsewhere => {}
            Step::EraseRest if self.cursor == Cursor::AtEnd => {
                let rest = self.left.len() - std::mem::take(&mut self.ahead);
                self.left.truncate(rest);
                self.behind.truncate(rest);
            }
            Step::EraseRest | Step::EraseLine => self.erase(),
        }
    }

    fn keep(&mut self, byte: u8, behind: u32) {
        self.left.push(byte);
        self.behind.push(behind);
    }

    fn erase(&mut self) {
        self.cursor = Cursor::AtEnd;
        self.ahead = 0;
        self.left.truncate(self.line);
        self.behind.truncate(self.line);
    }

    /// Goes back by a character, which the next one replaces.
    fn back(&mut self) {
        while self.left.len() - self.ahead > self.line {
            self.ahead += 1;
            let at = self.left.len() - self.ahead;
            if !is_continuation(self.left[at]) {
                break;
            }
        }
    }

    /// Prints at the cursor, in the place of what is there.
    fn print(&mut self, byte: u8, behind: u32) {
        let at = self.left.len() - self.ahead;
        if self.ahead == 0 {
            self.keep(byte, behind);
        } else if is_continuation(byte) {
            // The rest of a character whose first byte has replaced another.
            let behind = self.behind[at];
            self.left.insert(at, byte);
            self.behind.insert(at, behind);
        } else {
            let rest = &self.left[at + 1..];
            let more = rest
                .iter()
                .take_while(|byte| is_continuation(**byte))
                .count();
            self.left[at] = byte;
            self.left.drain(at + 1..=at + more);
            self.behind.drain(at + 1..=at + more);
            self.ahead -= 1 + more;
        }
    }
}

/// As far as a cursor goes back to print over something; one that goes farther draws a picture.
const FARTHEST: usize = 4096;

fn is_continuation(byte: u8) -> bool {
    (0x80..=0xbf).contains(&byte)
}

/// Hands over what each byte comes to, with how many bytes were read by then, and says how many there are.
fn each_step(bytes: &[u8], mut take: impl FnMut(Step, u32)) -> u32 {
    let mut strip = Strip::default();
    let mut behind = 0;
    for &byte in bytes {
        behind += 1;
        strip.step(byte, |step| take(step, behind));
    }
    for &byte in strip.finish() {
        take(Step::Text(byte), behind);
    }
    behind
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_a_terminal_would_still_show_is_left() {
        for (printed, left) in [
            ("plain\n", "plain\n"),
            ("two\r\nlines\r\n", "two\r\nlines\r\n"),
            ("1%\r50%\r100%\ndone\n", "100%\ndone\n"),
            ("1%\r50%\r100%\r\n", "100%\r\n"),
            ("\r1%\r2%", "2%"),
            // The cursor waits at the beginning, and nothing has been printed over yet.
            ("50%\r", "50%\r"),
            ("a\n50%\r\x1b[Kdone\n", "a\ndone\n"),
            ("50%\r\x1b[K\nnext", "\nnext"),
            ("50%\x1b[2K\x1b[1Gdone", "done"),
            ("fetch 1\x1b[0Gfetch 2\x1b[Gfetch 3\n", "fetch 3\n"),
            // To the right of the text there is nothing to erase.
            ("text\x1b[K\n", "text\n"),
            ("b\x08bo\x08ol\x08ld\x08d _\x08u\n", "bold u\n"),
            ("|\x08/\x08-\x08ok\n", "ok\n"),
            ("日\x08本\x08\x08\x08x", "x"),
            ("abc\x08\x08\x08x", "xbc"),
            ("a日b\x08\x08é!", "aé!"),
            // The cursor goes back, and nothing is printed there.
            ("keys\x08", "keys"),
            ("keys\x08\x1b[K", "key"),
            ("keys\x08\nnext", "keys\nnext"),
            ("first\n\x08\x08x", "first\nx"),
            ("\x1b[31mred\x1b[0m\n", "red\n"),
            // Other columns, and other lines: not frames of one line.
            ("a\x1b[10Gb\n", "ab\n"),
            ("a\nb\x1b[1Ac", "a\nbc"),
            ("1%\r2%\x1b[1;1Hnote\rtext", "1%\r2%note\rtext"),
        ] {
            let frame = Frame::of(printed.as_bytes());
            assert_eq!(String::from_utf8_lossy(frame.left()), left, "{printed:?}");
        }
    }

    fn printed() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            "[a-z日\n\r\x08]{0,6}".prop_map(String::into_bytes),
            "\x1b\\[[0-9;]{0,2}[GKAm]".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..4),
        ];
        prop::collection::vec(part, 0..20).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn bytes_are_traced_back_in_order(bytes in printed()) {
            let frame = Frame::of(&bytes);
            let traced: Vec<usize> = (0..=frame.left().len()).map(|left| frame.bytes_behind(left)).collect();
            prop_assert!(traced.is_sorted());
            prop_assert!(traced.iter().all(|behind| *behind <= bytes.len()));
        }

        #[test]
        fn text_that_prints_over_nothing_is_the_same(text in "[a-z日£\r]{0,3}(\r\n|\n|[a-z]){0,20}") {
            if !Frame::is_needed(text.as_bytes()) {
                let frame = Frame::of(text.as_bytes());
                prop_assert_eq!(frame.left(), text.as_bytes());
            }
        }
    }
}
