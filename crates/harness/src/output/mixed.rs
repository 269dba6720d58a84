//! Text with data in between: the text is shown, and each stretch of data counted.
//!
//! Data of any kind has a few bytes in a row that happen to be letters. What counts as text is long
//! enough not to be that, or stands alone on its line.

use std::fmt::Write as _;

/// So many bytes of text in a row are no accident.
const LONG: usize = 16;
/// So many are none if a line begins and ends with them.
const LINE: usize = 4;

/// The text with a notice in the place of each stretch of data, and how many bytes those stand for;
/// nothing if there is no text to speak of.
pub(super) fn text_in(bytes: &[u8]) -> Option<(String, u64)> {
    let mut shown = String::new();
    let (mut data, mut left_out, mut any) = (0_u64, 0_u64, false);
    for stretch in stretches(bytes) {
        match stretch {
            Stretch::Data(length) => data += length,
            Stretch::Text(text) => {
                left_out += notice(&mut shown, std::mem::take(&mut data));
                shown.push_str(text);
                any = true;
            }
        }
    }
    left_out += notice(&mut shown, data);
    any.then_some((shown, left_out))
}

fn notice(shown: &mut String, data: u64) -> u64 {
    if data > 0 {
        let _ = write!(shown, "[{data} bytes of data]");
    }
    data
}

enum Stretch<'a> {
    Text(&'a str),
    Data(u64),
}

fn stretches(bytes: &[u8]) -> impl Iterator<Item = Stretch<'_>> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let invalid = chunk.invalid().len() as u64;
        printable(chunk.valid()).chain((invalid > 0).then_some(Stretch::Data(invalid)))
    })
}

/// Valid characters, of which those that are not printed are data, and so is what is too short.
fn printable(valid: &str) -> impl Iterator<Item = Stretch<'_>> {
    let is_data = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\x08' | '\x1b');
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = valid.get(at..).filter(|rest| !rest.is_empty())?;
        let text = rest.find(is_data).unwrap_or(rest.len());
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let length = if text == 0 { first } else { text };
        at += length;
        let piece = &rest[..length];
        Some(if text > 0 && reads(piece) {
            Stretch::Text(piece)
        } else {
            Stretch::Data(length as u64)
        })
    })
}

/// Whether it is text that somebody meant.
fn reads(piece: &str) -> bool {
    let words = piece.trim();
    words.len() >= LONG || (words.len() >= LINE && piece.ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_shown_and_data_counted() {
        let png = [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0"[..], &[0xff; 20]].concat();
        for (bytes, shown) in [
            (&b"\0\0\0\0"[..], None),
            (&png, None),
            (b"ab\0cd\0ef\0", None),
            (
                b"hello\n\0\x01\x02\xff\xfe\xfd",
                Some(("hello\n[6 bytes of data]", 6)),
            ),
            (
                b"\0\0\0error: no such file\n\0\0",
                Some(("[3 bytes of data]error: no such file\n[2 bytes of data]", 5)),
            ),
            (
                &[b"before\n", &png[..], b"\nafter it came this\n"].concat(),
                Some(("before\n[38 bytes of data]\nafter it came this\n", 38)),
            ),
        ] {
            let found = text_in(bytes);
            let found = found.as_ref().map(|(text, left_out)| (&**text, *left_out));
            assert_eq!(found, shown, "{bytes:?}");
        }
    }

    #[test]
    fn what_is_shown_and_what_is_counted_is_everything() {
        let noise: Vec<u8> = (0_u32..20_000)
            .map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[2])
            .collect();
        assert_eq!(text_in(&noise), None);
        let mixed = [&noise[..], b"\0a line in the middle\n\0", &noise].concat();
        let (text, left_out) = text_in(&mixed).unwrap();
        assert!(text.contains("a line in the middle\n"), "{text}");
        assert_eq!(left_out, 40_002);
    }
}
