//! Text that comes in pieces, broken between words where a line would not hold them. What stands in a code fence is
//! left as it is.

use std::io::IsTerminal;

/// A text on its way to a terminal.
#[derive(Debug)]
pub(super) struct Wrap {
    /// How many characters a line holds; none where nothing is broken.
    width: Option<usize>,
    column: usize,
    /// The word that may go on.
    word: String,
    /// The spaces before it.
    gap: String,
    /// What the line begins with, as far as that can be the mark of a fence.
    line: String,
    fenced: bool,
}

impl Wrap {
    /// For standard output as it is now.
    pub(super) fn for_stdout() -> Self {
        let stdout = std::io::stdout();
        let width = stdout.is_terminal().then(|| {
            let columns = rustix::termios::tcgetwinsize(&stdout).map_or(80, |size| size.ws_col);
            if columns == 0 {
                80
            } else {
                usize::from(columns).clamp(20, 120)
            }
        });
        Self::new(width)
    }

    fn new(width: Option<usize>) -> Self {
        Self {
            width,
            column: 0,
            word: String::new(),
            gap: String::new(),
            line: String::new(),
            fenced: false,
        }
    }

    /// Takes in a piece; gives what can be printed of it.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let Some(width) = self.width else {
            return piece.to_owned();
        };
        let mut out = String::new();
        for character in piece.chars() {
            match character {
                '\n' => {
                    self.put_word(width, &mut out);
                    self.gap.clear();
                    out.push('\n');
                    self.column = 0;
                    if self.line.trim_start().starts_with("```") {
                        self.fenced = !self.fenced;
                    }
                    self.line.clear();
                }
                ' ' if !self.fenced => {
                    self.put_word(width, &mut out);
                    self.gap.push(' ');
                    self.line.push(' ');
                }
                other => {
                    self.word.push(other);
                    if self.line.len() < 16 {
                        self.line.push(other);
                    }
                }
            }
        }
        out
    }

    /// The rest.
    pub(super) fn finish(&mut self) -> String {
        let mut out = String::new();
        if let Some(width) = self.width {
            self.put_word(width, &mut out);
        }
        out
    }

    fn put_word(&mut self, width: usize, out: &mut String) {
        if self.word.is_empty() {
            return;
        }
        let length = self.word.chars().count();
        let is_beside = self.column > 0;
        if !self.fenced && is_beside && self.column + self.gap.len() + length > width {
            out.push('\n');
            self.column = 0;
        } else {
            out.push_str(&self.gap);
            self.column += self.gap.len();
        }
        self.gap.clear();
        out.push_str(&self.word);
        self.column += length;
        self.word.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_however_the_text_comes() {
        let text = "one two three four\n  five sixsevenEightNine ten\n```\na b c d e f g h i j\n```\nlast words here";
        let expected = "one two\nthree four\n  five\nsixsevenEightNine\nten\n```\na b c d e f g h i j\n```\nlast words\nhere";
        for most in 1..=text.len() {
            let mut wrap = Wrap::new(Some(10));
            let characters: Vec<char> = text.chars().collect();
            let mut shown = String::new();
            for piece in characters.chunks(most) {
                shown += &wrap.push(&piece.iter().collect::<String>());
            }
            shown += &wrap.finish();
            assert_eq!(shown, expected, "in pieces of {most}");
        }
        assert_eq!(Wrap::new(None).push("as it is"), "as it is");
    }
}
