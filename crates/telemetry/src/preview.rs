//! What a command printed, as far as telemetry has it.

/// As many bytes are kept.
const BYTES: usize = 2_048;
/// As many lines.
const LINES: usize = 50;
/// What says that there was more.
const CUT: &str = "[output truncated]";

/// The beginning of an output.
#[derive(Debug, Default)]
pub(crate) struct Preview {
    text: String,
    lines: usize,
    is_cut: bool,
}

impl Preview {
    /// Takes in a piece, as far as there is room.
    pub(crate) fn push(&mut self, piece: &str) {
        for character in piece.chars() {
            if self.is_cut {
                return;
            }
            if self.lines >= LINES || self.text.len() + character.len_utf8() > BYTES {
                self.is_cut = true;
                return;
            }
            self.lines += usize::from(character == '\n');
            self.text.push(character);
        }
    }

    /// The text, with a word at its end if it is not all.
    pub(crate) fn finish(mut self) -> String {
        if self.is_cut {
            if !self.text.ends_with('\n') && !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(CUT);
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn of(pieces: &[&str]) -> String {
        let mut preview = Preview::default();
        for piece in pieces {
            preview.push(piece);
        }
        preview.finish()
    }

    #[test]
    fn a_preview_ends_at_its_bytes_and_at_its_lines() {
        assert_eq!(of(&["one\n", "two"]), "one\ntwo");
        assert_eq!(of(&[]), "");
        let exact = "x".repeat(BYTES);
        assert_eq!(of(&[&exact]), exact);
        assert_eq!(of(&[&exact, "y"]), format!("{exact}\n{CUT}"));
        let lines = "a\n".repeat(LINES);
        assert_eq!(of(&[&lines]), lines);
        assert_eq!(of(&[&lines, "b"]), format!("{lines}{CUT}"));
        // A character is whole or not there.
        let almost = "x".repeat(BYTES - 1);
        assert_eq!(of(&[&almost, "é"]), format!("{almost}\n{CUT}"));
    }
}
