//! Text for a reply: whole if it fits, otherwise its beginning and its end with a line between
//! that says what is missing.

use std::borrow::Cow;

use super::frame::Frame;
use super::{Ansi, HeadTail, text};

/// Text for a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The text.
    pub text: String,
    /// Bytes of the output that the text leaves out.
    pub omitted_bytes: u64,
    /// Lines of output before the cut, if there is one.
    pub lines_before_cut: Option<u64>,
}

impl Excerpt {
    /// Cuts what a buffer kept to at most this many characters, the marker not counted.
    pub(crate) fn of(buffer: &HeadTail, most_chars: usize) -> Self {
        Self::shown(buffer, most_chars, Ansi::Keep)
    }

    /// The same, with or without escape sequences. Those that are removed count neither as
    /// characters nor as missing.
    pub(crate) fn shown(buffer: &HeadTail, most_chars: usize, ansi: Ansi) -> Self {
        let (head, tail) = (buffer.head(), buffer.tail());
        if buffer.dropped() == 0 {
            return Self::of_bytes(&[head, &tail].concat(), most_chars, ansi);
        }
        // The head ends and the tail begins in the middle of something: a character, at the worst.
        let head = &head[..head.len() - text::begun_character(head)];
        let tail = &tail[text::ended_character(&tail)..];
        Self::joined(
            &PlainText::of(head, ansi),
            &PlainText::of(tail, ansi),
            buffer.total(),
            most_chars,
        )
    }

    /// Cuts a text to at most this many characters, the marker not counted.
    pub(crate) fn of_text(text: &str, most_chars: usize) -> Self {
        Self::of_bytes(text.as_bytes(), most_chars, Ansi::Keep)
    }

    fn of_bytes(bytes: &[u8], most_chars: usize, ansi: Ansi) -> Self {
        let whole = PlainText::of(bytes, ansi);
        if whole.text.chars().count() <= most_chars {
            return Self {
                text: whole.text.into_owned(),
                omitted_bytes: 0,
                lines_before_cut: None,
            };
        }
        Self::joined(&whole, &whole, bytes.len() as u64, most_chars)
    }

    /// The beginning of one text and the end of another, half of the room for each.
    fn joined(head: &PlainText<'_>, tail: &PlainText<'_>, total: u64, most_chars: usize) -> Self {
        let half = most_chars / 2;
        let (start, start_bytes) = head.before(line_border_before(&head.text, half));
        let (end, end_bytes) = tail.after(line_border_after(&tail.text, half));
        let omitted = total - (start_bytes + end_bytes) as u64;
        let gap = if start.is_empty() || start.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        Self {
            text: format!("{start}{gap}[… {omitted} bytes of output left out …]\n{end}"),
            omitted_bytes: omitted,
            lines_before_cut: Some(start.lines().count() as u64),
        }
    }
}

/// Bytes, and the text that is shown for them.
struct PlainText<'a> {
    bytes: &'a [u8],
    /// The bytes without what is not to be shown, if anything was taken out.
    frame: Option<Frame>,
    text: Cow<'a, str>,
}

impl<'a> PlainText<'a> {
    fn of(bytes: &'a [u8], ansi: Ansi) -> Self {
        if ansi == Ansi::Keep || !Frame::is_needed(bytes) {
            return Self {
                bytes,
                frame: None,
                text: String::from_utf8_lossy(bytes),
            };
        }
        let frame = Frame::of(bytes);
        Self {
            bytes,
            text: Cow::Owned(String::from_utf8_lossy(frame.left()).into_owned()),
            frame: Some(frame),
        }
    }

    /// The text before a border, and how many bytes it stands for.
    fn before(&self, border: usize) -> (&str, usize) {
        (&self.text[..border], self.bytes_before(border))
    }

    /// The text after a border, and how many bytes it stands for.
    fn after(&self, border: usize) -> (&str, usize) {
        let bytes = self.bytes.len() - self.bytes_before(border);
        (&self.text[border..], bytes)
    }

    fn bytes_before(&self, border: usize) -> usize {
        match &self.frame {
            None => text::bytes_behind(self.bytes, border),
            Some(frame) => frame.bytes_behind(text::bytes_behind(frame.left(), border)),
        }
    }
}

/// The byte offset that keeps at most so many characters from the start, at the end of a line if
/// there is one in the second half of that.
fn line_border_before(text: &str, most_chars: usize) -> usize {
    let cut = text
        .char_indices()
        .nth(most_chars)
        .map_or(text.len(), |(at, _)| at);
    match text[..cut].rfind('\n') {
        Some(line) if line + 1 > cut / 2 => line + 1,
        _ => cut,
    }
}

/// The byte offset that keeps at most so many characters at the end, at the start of a line if
/// there is one in the first half of that.
fn line_border_after(text: &str, most_chars: usize) -> usize {
    let chars = text.chars().count();
    let cut = text
        .char_indices()
        .nth(chars.saturating_sub(most_chars))
        .map_or(text.len(), |(at, _)| at);
    if cut == 0 || text[..cut].ends_with('\n') {
        return cut;
    }
    match text[cut..].find('\n') {
        Some(line) if line < (text.len() - cut) / 2 => cut + line + 1,
        _ => cut,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn excerpt(bytes: &[u8], room: usize, most: usize) -> Excerpt {
        let mut buffer = HeadTail::new(room);
        buffer.push(bytes);
        Excerpt::of(&buffer, most)
    }

    #[test]
    fn what_fits_is_left_alone() {
        let whole = excerpt("grün\n".as_bytes(), 1024, 100);
        assert_eq!(whole.text, "grün\n");
        assert_eq!((whole.omitted_bytes, whole.lines_before_cut), (0, None));
    }

    #[test]
    fn cuts_fall_on_line_borders_and_say_what_is_missing() {
        let lines = (0..100)
            .map(|n| format!("line {n}\n"))
            .collect::<Vec<_>>()
            .concat();
        let cut = excerpt(lines.as_bytes(), 1 << 20, 60);
        assert!(cut.text.starts_with("line 0\nline 1\n"), "{}", cut.text);
        assert!(cut.text.ends_with("line 98\nline 99\n"), "{}", cut.text);
        let marker = format!("[… {} bytes of output left out …]", cut.omitted_bytes);
        assert!(cut.text.contains(&marker), "{}", cut.text);
        assert_eq!(cut.lines_before_cut, Some(4));
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let cut = excerpt("ü".repeat(1000).as_bytes(), 100, 20);
        assert!(!cut.text.contains('\u{fffd}'), "{}", cut.text);
        assert_eq!(cut.text.matches('ü').count(), 20);
    }

    #[test]
    fn a_character_at_the_edge_of_what_was_kept_is_left_out() {
        let cut = excerpt("€".repeat(100).as_bytes(), 20, 1000);
        let expected = "€€€\n[… 282 bytes of output left out …]\n€€€";
        assert_eq!((cut.text.as_str(), cut.omitted_bytes), (expected, 282));
    }

    #[test]
    fn sequences_are_neither_shown_nor_counted_as_missing() {
        let line = "\x1b[31mred\x1b[0m\n";
        let mut buffer = HeadTail::new(1 << 20);
        buffer.push(line.repeat(100).as_bytes());
        let cut = Excerpt::shown(&buffer, 16, Ansi::Remove);
        let missing = 96 * line.len();
        let expected = format!("red\nred\n[… {missing} bytes of output left out …]\nred\nred\n");
        assert_eq!(cut.text, expected);
    }

    proptest! {
        /// The text is that of so many first bytes, the marker, and that of so many last ones;
        /// all that lies between is counted.
        #[test]
        fn every_byte_is_either_shown_or_counted(
            parts in prop::collection::vec(
                prop_oneof![
                    4 => "[a-zü€\n]{0,40}".prop_map(String::into_bytes),
                    1 => prop::collection::vec(any::<u8>(), 0..6),
                ],
                0..12,
            ),
            most in 0usize..80,
            room in 0usize..300,
        ) {
            let bytes = parts.concat();
            let cut = excerpt(&bytes, room, most);
            let Some(lines) = cut.lines_before_cut else {
                prop_assert_eq!(cut.text, String::from_utf8_lossy(&bytes));
                prop_assert_eq!(cut.omitted_bytes, 0);
                return Ok(());
            };
            let marker = format!("[… {} bytes of output left out …]\n", cut.omitted_bytes);
            let (start, end) = cut.text.split_once(&marker).unwrap();
            let kept = bytes.len() - usize::try_from(cut.omitted_bytes).unwrap();
            let shown = (0..=kept).any(|first| {
                let before = String::from_utf8_lossy(&bytes[..first]);
                let after = String::from_utf8_lossy(&bytes[bytes.len() - (kept - first)..]);
                // The marker has a line of its own: the new line before it may not be the text's.
                let same = start == before || start.strip_suffix('\n') == Some(&before);
                same && end == after
            });
            prop_assert!(shown, "{:?} of {:?}", cut, bytes);
            prop_assert_eq!(lines, start.lines().count() as u64);
            prop_assert!(start.chars().count() + end.chars().count() <= most + 1);
        }
    }
}
