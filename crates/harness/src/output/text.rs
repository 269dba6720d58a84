//! Bytes as text: where a character is cut off, and how many bytes a piece of mended text stands
//! for.

/// How many bytes at the end are the beginning of a character whose rest is missing. Bytes that
/// can never become a character do not count.
pub(super) fn begun_character(bytes: &[u8]) -> usize {
    // The longest character has four bytes, so that at most three can be without their last.
    let last = &bytes[bytes.len().saturating_sub(3)..];
    (1..=last.len())
        .find(|length| {
            let end = &last[last.len() - length..];
            std::str::from_utf8(end)
                .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
        })
        .unwrap_or(0)
}

/// How many bytes at the start can only be the end of a character that began before them.
pub(super) fn ended_character(bytes: &[u8]) -> usize {
    let continues = |byte: &&u8| **byte & 0xc0 == 0x80;
    bytes.iter().take(3).take_while(continues).count()
}

/// How many of the bytes the first so many bytes of their mended text stand for. The text must
/// end between two characters there.
pub(super) fn bytes_behind(bytes: &[u8], mut text_length: usize) -> usize {
    let mut behind = 0;
    for chunk in bytes.utf8_chunks() {
        if text_length <= chunk.valid().len() {
            return behind + text_length;
        }
        behind += chunk.valid().len() + chunk.invalid().len();
        text_length -= chunk.valid().len() + '\u{fffd}'.len_utf8();
        if text_length == 0 {
            return behind;
        }
    }
    behind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_still_become_a_character_counts() {
        for (bytes, expected) in [
            (&b""[..], 0),
            (b"abc", 0),
            ("ä€𝄞".as_bytes(), 0),
            (b"a\xc3", 1),
            (b"a\xe2\x82", 2),
            (b"a\xf0\x9d\x84", 3),
            // A continuation without a beginning, and beginnings that lead nowhere.
            (b"a\x82", 0),
            (b"\xff", 0),
            (b"\xc0", 0),
            (b"\xed\xa0", 0),
            (b"\xf0\x9d\x84\x9e\x84", 0),
        ] {
            assert_eq!(begun_character(bytes), expected, "{bytes:02x?}");
        }
    }

    #[test]
    fn a_broken_character_stands_for_the_bytes_that_it_replaces() {
        let bytes = b"a\xe2\x82b\xff\xffc";
        let mended = String::from_utf8_lossy(bytes).into_owned();
        let behind: Vec<usize> = mended
            .char_indices()
            .map(|(at, _)| bytes_behind(bytes, at))
            .collect();
        assert_eq!(behind, [0, 1, 3, 4, 5, 6]);
        assert_eq!(bytes_behind(bytes, mended.len()), bytes.len());
    }
}
