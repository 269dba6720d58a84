//! A line as it is typed: keys in, and what they amount to. Knows nothing of terminals.
//!
//! What is shown of the line is the line: nothing is skipped, so that a word with something else
//! around it is not that word.

/// No answer is as long as this.
const LONGEST: usize = 64;

const INTERRUPT: u8 = 0x03;
const END: u8 = 0x04;
const ERASE_WORD: u8 = 0x17;
const ERASE_LINE: u8 = 0x15;
const ESCAPE: u8 = 0x1b;

/// What keys amount to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// The line is not finished.
    Unfinished,
    /// Enter, after this line and before nothing else.
    Line(Vec<u8>),
    /// More than a person types at once.
    Pasted,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or Esc by itself.
    Refused,
}

/// How a change of the line is shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineChange {
    /// One more character.
    Added(char),
    /// So many characters are gone from its end.
    Erased(usize),
}

/// A line that is being typed.
#[derive(Debug, Default)]
pub(super) struct Editor {
    line: Vec<u8>,
    state: State,
}

/// Where in a sequence of bytes that make one key we are.
#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Plain,
    /// After an escape.
    Escape,
    /// In a control sequence, with its parameters so far.
    Control(Vec<u8>),
    /// So many bytes of a key or of a mouse's report are to come.
    Rest(u8),
    /// In a text that a terminal sends about itself, up to its end.
    Report,
    /// In a marked paste, with as much of its end as was seen.
    Paste(Vec<u8>),
}

/// What ends a marked paste.
const PASTE_END: &[u8] = b"\x1b[201~";

impl Editor {
    /// Takes keys that came at once. `show` is told how the line changes.
    pub(super) fn take(&mut self, burst: &[u8], mut show: impl FnMut(LineChange)) -> Typed {
        for (at, byte) in burst.iter().enumerate() {
            match self.key(*byte, &mut show) {
                Typed::Unfinished => {}
                Typed::Line(line) => {
                    let rest = &burst[at + 1..];
                    let rest = rest.strip_prefix(b"\n").unwrap_or(rest);
                    if rest.contains(&INTERRUPT) {
                        return Typed::Interrupt;
                    }
                    return if rest.is_empty() {
                        Typed::Line(line)
                    } else {
                        Typed::Pasted
                    };
                }
                other => return other,
            }
        }
        Typed::Unfinished
    }

    /// Whether more bytes of the same key are expected.
    pub(super) fn is_within_a_key(&self) -> bool {
        !matches!(self.state, State::Plain | State::Paste(_))
    }

    /// They did not come: an escape was the key of that name, and anything else is none.
    pub(super) fn nothing_followed(&mut self) -> Typed {
        match std::mem::take(&mut self.state) {
            State::Escape => Typed::Refused,
            _ => Typed::Unfinished,
        }
    }

    fn key(&mut self, byte: u8, show: &mut impl FnMut(LineChange)) -> Typed {
        // Whatever else is going on, this one is meant.
        if byte == INTERRUPT {
            return Typed::Interrupt;
        }
        match std::mem::take(&mut self.state) {
            State::Plain => return self.plain(byte, show),
            State::Escape => match byte {
                b'[' => self.state = State::Control(Vec::new()),
                b'O' => self.state = State::Rest(1),
                b']' | b'P' | b'X' | b'^' | b'_' => self.state = State::Report,
                ESCAPE => return Typed::Refused,
                // A key with Alt.
                _ => {}
            },
            State::Control(mut parameters) => match byte {
                b'~' if parameters == b"200" => self.state = State::Paste(Vec::new()),
                b'M' if parameters.is_empty() => self.state = State::Rest(3),
                0x40..=0x7e => {}
                _ => {
                    parameters.push(byte);
                    parameters.truncate(LONGEST);
                    self.state = State::Control(parameters);
                }
            },
            State::Rest(left) if left > 1 => self.state = State::Rest(left - 1),
            State::Rest(_) => {}
            State::Report => match byte {
                0x07 => {}
                // What follows the escape that ends it is taken like a key with Alt.
                ESCAPE => self.state = State::Rest(1),
                _ => self.state = State::Report,
            },
            State::Paste(mut end) => {
                end.push(byte);
                if end == PASTE_END {
                    return Typed::Pasted;
                }
                if !PASTE_END.starts_with(&end) {
                    end.clear();
                    end.extend((byte == ESCAPE).then_some(byte));
                }
                self.state = State::Paste(end);
            }
        }
        Typed::Unfinished
    }

    fn plain(&mut self, byte: u8, show: &mut impl FnMut(LineChange)) -> Typed {
        match byte {
            b'\r' | b'\n' => return Typed::Line(std::mem::take(&mut self.line)),
            END => return Typed::Refused,
            ESCAPE => self.state = State::Escape,
            0x7f | 0x08 => {
                let left = self.line.len().saturating_sub(1);
                self.erase_to(left, show);
            }
            ERASE_LINE | ERASE_WORD => self.erase_to(0, show),
            other if self.line.len() < LONGEST => {
                self.line.push(other);
                let seen = matches!(other, b' '..=b'~');
                show(LineChange::Added(if seen {
                    char::from(other)
                } else {
                    '?'
                }));
            }
            _ => {}
        }
        Typed::Unfinished
    }

    fn erase_to(&mut self, left: usize, show: &mut impl FnMut(LineChange)) {
        let count = self.line.len() - left;
        self.line.truncate(left);
        if count > 0 {
            show(LineChange::Erased(count));
        }
    }

    /// The line so far, as it is shown.
    pub(super) fn shown(&self) -> String {
        let seen = |byte: &u8| matches!(byte, b' '..=b'~');
        let shown = |byte: &u8| if seen(byte) { char::from(*byte) } else { '?' };
        self.line.iter().map(shown).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What bursts amount to, one after the other, each followed by a pause; the last one counts.
    fn typed(bursts: &[&str]) -> Typed {
        let mut editor = Editor::default();
        for burst in bursts {
            let mut typed = editor.take(burst.as_bytes(), |_| {});
            if typed == Typed::Unfinished && editor.is_within_a_key() {
                typed = editor.nothing_followed();
            }
            if typed != Typed::Unfinished {
                return typed;
            }
        }
        Typed::Unfinished
    }

    #[test]
    fn a_line_is_what_was_typed_and_nothing_else() {
        let line = |text: &str| Typed::Line(text.as_bytes().to_vec());
        for (bursts, expected) in [
            (&["yes\r"][..], line("yes")),
            (&["y", "e", "s", "\n"], line("yes")),
            (&["yes\r\n"], line("yes")),
            (&["why?\r"], line("why?")),
            (&["y\u{15}n\r"], line("n")),
            (&["yex\u{7f}s\r"], line("yes")),
            (&["yex\u{8}s\r"], line("yes")),
            (&["\u{7f}\u{7f}no\r"], line("no")),
            // Nothing is skipped.
            (&["\0y\r"], line("\0y")),
            (&["0123 y\r"], line("0123 y")),
            (&["ä\r"], line("ä")),
            // Arrows, Home, F1, Alt-y, the mouse, a focus, what a terminal says about itself.
            (&["\u{1b}[A\u{1b}OB\u{1b}[1;5Cno\r"], line("no")),
            (&["\u{1b}yno\r"], line("no")),
            (&["\u{1b}[Myesno\r"], line("no")),
            (&["\u{1b}[<0;3;4Mno\r"], line("no")),
            (&["\u{1b}[I\u{1b}[Ono\r"], line("no")),
            (&["\u{1b}]lyes\u{1b}\\no\r"], line("no")),
            (&["\u{1b}]0;yes\rx\u{7}no\r"], line("no")),
            (&["\u{1b}P1$ryes\r\u{1b}\\no\r"], line("no")),
            (&["\u{1b}[", "no\r"], line("no")),
            (&["ye", "\u{1b}"], Typed::Refused),
            (&["\u{1b}\u{1b}"], Typed::Refused),
            (&["ye\u{4}"], Typed::Refused),
            (&["ye\u{3}"], Typed::Interrupt),
            (&["yes\r\u{3}"], Typed::Interrupt),
            (&["\u{1b}]\u{3}"], Typed::Interrupt),
            (&["yes\rno\r"], Typed::Pasted),
            (&["docker system df\rgit diff\r"], Typed::Pasted),
            (&["yes\r\r"], Typed::Pasted),
            (&["\u{1b}[200~yes\r\u{1b}[201~"], Typed::Pasted),
            (&["\u{1b}[200~yes\r", "yes\r"], Typed::Unfinished),
            (&["\u{1b}[200~a\u{1b}\u{1b}[201~"], Typed::Pasted),
        ] {
            assert_eq!(typed(bursts), expected, "{bursts:?}");
        }
    }

    #[test]
    fn what_is_shown_is_the_line() {
        let mut editor = Editor::default();
        let mut shown = Vec::new();
        editor.take(b"ab\0\x7fc", |change| shown.push(change));
        assert_eq!(editor.shown(), "abc");
        assert_eq!(
            shown,
            [
                LineChange::Added('a'),
                LineChange::Added('b'),
                LineChange::Added('?'),
                LineChange::Erased(1),
                LineChange::Added('c'),
            ]
        );
        editor.take(&[b'x'; 500], |_| {});
        assert_eq!(editor.shown().len(), LONGEST);
    }
}
