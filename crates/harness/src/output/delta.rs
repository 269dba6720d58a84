//! Deltas: what a command prints, as pieces of text that are handed on while it runs.
//!
//! A piece is always whole characters: one that was split between two reads is held back until
//! the rest of it has come. Bytes that are no text become U+FFFD, exactly as if the whole stream
//! had been converted at once. Pieces are bounded in size and in number, and what the bounds left
//! out is counted. Where deltas go, and when a command is read, is not decided here.

use super::{Stream, text};

/// The bounds of the deltas of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeltaLimits {
    /// The most bytes of text in one piece. A single character always fits.
    pub piece_bytes: usize,
    /// The most pieces.
    pub pieces: usize,
}

/// Something to hand on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta<'a> {
    /// The next piece of a stream.
    Text {
        /// Which of the two.
        stream: Stream,
        /// The text, never empty.
        text: &'a str,
    },
    /// The last one, if there was more than the bounds allow.
    NotStreamed {
        /// How many bytes of output no piece has.
        bytes: u64,
    },
}

/// The deltas of one call, in the making.
#[derive(Debug)]
pub struct Deltas {
    limits: DeltaLimits,
    /// The beginning of a character whose rest has not come yet, for either stream.
    held: [Vec<u8>; 2],
    sent: usize,
    not_streamed: u64,
}

impl Deltas {
    /// For a call that has not printed anything yet.
    pub fn new(limits: DeltaLimits) -> Self {
        Self {
            limits,
            held: [Vec::new(), Vec::new()],
            sent: 0,
            not_streamed: 0,
        }
    }

    /// Takes in what a stream gave, and hands on what is complete.
    pub fn push(&mut self, stream: Stream, bytes: &[u8], mut hand_on: impl FnMut(Delta<'_>)) {
        let held = std::mem::take(self.held(stream));
        if held.is_empty() {
            self.pieces(stream, bytes, &mut hand_on);
        } else {
            self.pieces(stream, &[&held, bytes].concat(), &mut hand_on);
        }
    }

    /// Ends the call: hands on what was held back, and says what was left out.
    pub fn finish(mut self, mut hand_on: impl FnMut(Delta<'_>)) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let held = std::mem::take(self.held(stream));
            if !held.is_empty() {
                let lossy = String::from_utf8_lossy(&held);
                self.piece(stream, &lossy, held.len(), &mut hand_on);
            }
        }
        if self.not_streamed > 0 {
            hand_on(Delta::NotStreamed {
                bytes: self.not_streamed,
            });
        }
    }

    fn held(&mut self, stream: Stream) -> &mut Vec<u8> {
        match stream {
            Stream::Stdout => &mut self.held[0],
            Stream::Stderr => &mut self.held[1],
        }
    }

    fn pieces(&mut self, stream: Stream, bytes: &[u8], hand_on: &mut impl FnMut(Delta<'_>)) {
        let (whole, begun) = bytes.split_at(bytes.len() - text::begun_character(bytes));
        self.held(stream).extend_from_slice(begun);
        match std::str::from_utf8(whole) {
            Ok(mut rest) => {
                while !rest.is_empty() && self.sent < self.limits.pieces {
                    let (piece, after) = rest.split_at(self.border(rest));
                    self.piece(stream, piece, piece.len(), hand_on);
                    rest = after;
                }
                self.not_streamed += rest.len() as u64;
            }
            Err(_) => self.mended(stream, whole, hand_on),
        }
    }

    /// Pieces of bytes that are not all text. How many bytes a piece stands for is counted apart,
    /// since what replaces a broken character is longer than it.
    fn mended(&mut self, stream: Stream, bytes: &[u8], hand_on: &mut impl FnMut(Delta<'_>)) {
        let mut piece = String::new();
        let mut stands_for = 0;
        for chunk in bytes.utf8_chunks() {
            let broken = (!chunk.invalid().is_empty()).then_some('\u{fffd}');
            let whole = chunk.valid().chars().map(|c| (c, c.len_utf8()));
            for (c, length) in whole.chain(broken.map(|c| (c, chunk.invalid().len()))) {
                if !piece.is_empty() && piece.len() + c.len_utf8() > self.limits.piece_bytes {
                    self.piece(stream, &piece, stands_for, hand_on);
                    piece.clear();
                    stands_for = 0;
                }
                piece.push(c);
                stands_for += length;
            }
        }
        if !piece.is_empty() {
            self.piece(stream, &piece, stands_for, hand_on);
        }
    }

    fn piece(
        &mut self,
        stream: Stream,
        text: &str,
        stands_for: usize,
        hand_on: &mut impl FnMut(Delta<'_>),
    ) {
        if self.sent < self.limits.pieces {
            self.sent += 1;
            hand_on(Delta::Text { stream, text });
        } else {
            self.not_streamed += stands_for as u64;
        }
    }

    /// The last border between characters that a piece may end at.
    fn border(&self, text: &str) -> usize {
        match text.floor_char_boundary(self.limits.piece_bytes) {
            0 => text.ceil_char_boundary(1),
            border => border,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bytes with all that can go wrong: long and short characters, broken ones, plain ones.
    fn stream_bytes() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            "[a-z\n]{0,6}".prop_map(String::into_bytes),
            "[äß€日𝄞]{1,3}".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..4),
            Just(vec![0xf0, 0x9f]),
            Just(vec![0xed, 0xa0, 0x80]),
        ];
        prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
    }

    struct Streamed {
        pieces: Vec<(Stream, String)>,
        not_streamed: u64,
    }

    fn stream(reads: &[(Stream, &[u8])], limits: DeltaLimits) -> Streamed {
        let mut streamed = Streamed {
            pieces: Vec::new(),
            not_streamed: 0,
        };
        let mut take = |delta: Delta<'_>| match delta {
            Delta::Text { stream, text } => streamed.pieces.push((stream, text.to_owned())),
            Delta::NotStreamed { bytes } => streamed.not_streamed += bytes,
        };
        let mut deltas = Deltas::new(limits);
        for (stream, bytes) in reads {
            deltas.push(*stream, bytes, &mut take);
        }
        deltas.finish(&mut take);
        streamed
    }

    fn joined(streamed: &Streamed, stream: Stream) -> String {
        let of_stream = streamed.pieces.iter().filter(|(own, _)| *own == stream);
        of_stream.map(|(_, text)| text.as_str()).collect()
    }

    proptest! {
        #[test]
        fn reads_of_any_size_give_the_text_of_the_whole(
            out in stream_bytes(),
            err in stream_bytes(),
            sizes in prop::collection::vec(1usize..7, 1..60),
            piece_bytes in 1usize..20,
        ) {
            let mut reads = Vec::new();
            let (mut out_rest, mut err_rest) = (&out[..], &err[..]);
            for size in sizes.iter().cycle() {
                let (stream, rest) = match (out_rest.is_empty(), err_rest.is_empty()) {
                    (true, true) => break,
                    (false, true) => (Stream::Stdout, &mut out_rest),
                    (true, false) => (Stream::Stderr, &mut err_rest),
                    _ if size % 2 == 0 => (Stream::Stdout, &mut out_rest),
                    _ => (Stream::Stderr, &mut err_rest),
                };
                let (read, after) = rest.split_at((*size).min(rest.len()));
                reads.push((stream, read));
                *rest = after;
            }
            let streamed = stream(&reads, DeltaLimits { piece_bytes, pieces: usize::MAX });
            prop_assert_eq!(joined(&streamed, Stream::Stdout), String::from_utf8_lossy(&out));
            prop_assert_eq!(joined(&streamed, Stream::Stderr), String::from_utf8_lossy(&err));
            prop_assert_eq!(streamed.not_streamed, 0);
            for (_, text) in &streamed.pieces {
                prop_assert!(!text.is_empty());
                prop_assert!(text.len() <= piece_bytes || text.chars().count() == 1);
            }
        }

        #[test]
        fn what_is_not_streamed_is_counted_to_the_byte(
            bytes in stream_bytes(),
            split in any::<prop::sample::Index>(),
            piece_bytes in 1usize..8,
            pieces in 0usize..6,
        ) {
            let (first, second) = bytes.split_at(split.index(bytes.len() + 1));
            let reads = [(Stream::Stdout, first), (Stream::Stdout, second)];
            let streamed = stream(&reads, DeltaLimits { piece_bytes, pieces });
            prop_assert!(streamed.pieces.len() <= pieces);
            // What was streamed is the text of the bytes that were not counted as left out.
            let kept = bytes.len() - usize::try_from(streamed.not_streamed).unwrap();
            let shown = joined(&streamed, Stream::Stdout);
            prop_assert_eq!(shown, String::from_utf8_lossy(&bytes[..kept]));
        }
    }

    #[test]
    fn a_character_waits_for_its_rest() {
        let mut deltas = Deltas::new(DeltaLimits {
            piece_bytes: 8192,
            pieces: 10,
        });
        let mut seen = Vec::new();
        for byte in "a€".bytes() {
            deltas.push(Stream::Stdout, &[byte], |delta| {
                if let Delta::Text { text, .. } = delta {
                    seen.push(text.to_owned());
                }
            });
        }
        assert_eq!(seen, ["a", "€"]);
    }
}
