//! Text for a reply: whole if it fits, otherwise its beginning and its end with a line between
//! that says what is missing.

use super::HeadTail;

/// Text for a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The text.
    pub text: String,
    /// Bytes of the output that the text leaves out.
    pub omitted_bytes: u64,
    /// Lines of output before the cut, if there is one.
    pub lines_before_cut: Option<u64>,
}

impl Excerpt {
    /// Cuts what a buffer kept to at most this many characters, the marker not counted.
    pub fn of(buffer: &HeadTail, most_chars: usize) -> Self {
        let head = String::from_utf8_lossy(buffer.head()).into_owned();
        let tail_bytes = buffer.tail();
        if buffer.dropped() == 0 {
            let whole = [buffer.head(), &tail_bytes].concat();
            return Self::of_text(&String::from_utf8_lossy(&whole), most_chars);
        }
        // The tail begins in the middle of something: a character, at the worst.
        let start = tail_bytes
            .iter()
            .take(3)
            .take_while(|byte| **byte & 0xc0 == 0x80)
            .count();
        let tail = String::from_utf8_lossy(&tail_bytes[start..]).into_owned();
        Self::joined(&head, &tail, most_chars, buffer.dropped() + start as u64)
    }

    /// Cuts a text to at most this many characters, the marker not counted.
    pub fn of_text(text: &str, most_chars: usize) -> Self {
        if text.chars().count() <= most_chars {
            return Self {
                text: text.to_owned(),
                omitted_bytes: 0,
                lines_before_cut: None,
            };
        }
        Self::joined(text, text, most_chars, 0)
    }

    /// The beginning of one text and the end of another, half of the room for each. Where both are
    /// the same text, what lies between counts as missing.
    fn joined(head: &str, tail: &str, most_chars: usize, between: u64) -> Self {
        let half = most_chars / 2;
        let start = &head[..line_border_before(head, half)];
        let end = &tail[line_border_after(tail, half)..];
        let same = std::ptr::eq(head, tail);
        let omitted = if same {
            head.len() - start.len() - end.len()
        } else {
            head.len() - start.len() + tail.len() - end.len()
        } as u64
            + between;
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
    if cut == 0 {
        return 0;
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

    proptest! {
        #[test]
        fn every_byte_is_either_shown_or_counted(text in "[a-zü\n]{0,300}", most in 0usize..80, room in 600usize..700) {
            let cut = excerpt(text.as_bytes(), room, most);
            let kept = if cut.lines_before_cut.is_none() {
                vec![cut.text.len()]
            } else {
                let marker = format!("[… {} bytes of output left out …]\n", cut.omitted_bytes);
                let (start, end) = cut.text.split_once(&marker).unwrap();
                prop_assert!(text.ends_with(end));
                // The marker gets a line of its own: the new line before it may not be the text's.
                let bare = start.strip_suffix('\n').unwrap_or(start);
                prop_assert!(text.starts_with(bare));
                vec![start.len() + end.len(), bare.len() + end.len()]
            };
            let counted: Vec<u64> =
                kept.iter().map(|kept| *kept as u64 + cut.omitted_bytes).collect();
            prop_assert!(counted.contains(&(text.len() as u64)), "{:?} of {}", counted, text.len());
        }
    }
}
