//! A buffer of fixed size that keeps the beginning and the end of what goes through it.

use super::{Strip, text};

/// The first and the last bytes of a stream. Half of the room is for each.
#[derive(Debug, Clone)]
pub struct HeadTail {
    head: Vec<u8>,
    /// A ring: once full, `next` is both the oldest byte and the next one to be overwritten.
    tail: Vec<u8>,
    next: usize,
    half: usize,
    total: u64,
}

/// How much a drain takes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drain {
    /// Whole characters and escape sequences: the beginning of one whose rest has not come yet
    /// stays in.
    Characters,
    /// All there is, for the last time.
    Everything,
}

impl HeadTail {
    /// A buffer that keeps at most this many bytes.
    pub fn new(room: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: Vec::new(),
            next: 0,
            half: room / 2,
            total: 0,
        }
    }

    /// Takes bytes in.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let for_head = bytes.len().min(self.half - self.head.len());
        let (first, rest) = bytes.split_at(for_head);
        self.head.extend_from_slice(first);
        // Of what is longer than the ring only the end can stay.
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let growing = rest.len().min(self.half - self.tail.len());
        let (grow, over) = rest.split_at(growing);
        self.tail.extend_from_slice(grow);
        let to_end = over.len().min(self.half - self.next);
        let (until_end, wrapped) = over.split_at(to_end);
        self.tail[self.next..self.next + to_end].copy_from_slice(until_end);
        self.tail[..wrapped.len()].copy_from_slice(wrapped);
        if self.half > 0 {
            self.next = (self.next + over.len()) % self.half;
        }
    }

    /// Takes out what came since the last drain, as a buffer of its own that knows what was
    /// dropped. Each byte is taken out, or counted as dropped, exactly once.
    pub fn drain(&mut self, drain: Drain) -> Self {
        let begun = match drain {
            Drain::Characters => self.begun(),
            Drain::Everything => Vec::new(),
        };
        let empty = Self::new(self.half * 2);
        let mut taken = std::mem::replace(self, empty);
        taken.tail = taken.tail();
        taken.next = 0;
        let of_tail = begun.len().min(taken.tail.len());
        taken.tail.truncate(taken.tail.len() - of_tail);
        let of_head = begun.len() - of_tail;
        taken.head.truncate(taken.head.len() - of_head);
        taken.total -= begun.len() as u64;
        self.push(&begun);
        taken
    }

    /// The beginning of something whose rest has not come yet.
    fn begun(&self) -> Vec<u8> {
        let mut last = self.tail();
        if self.dropped() == 0 {
            last.splice(..0, self.head.iter().copied());
        }
        let begun = text::begun_character(&last).max(Strip::begun_sequence(&last));
        last.split_off(last.len() - begun)
    }

    /// Whether a drain of whole characters would give anything.
    pub fn has_characters(&self) -> bool {
        // The ring is put in order only where it is short.
        self.total > Strip::LONGEST_BEGUN as u64 || self.total > self.begun().len() as u64
    }

    /// How many bytes went through since the last drain.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many of them were dropped from the middle.
    pub fn dropped(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// The beginning.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The end, in order. Follows the beginning directly if nothing was dropped.
    pub fn tail(&self) -> Vec<u8> {
        let (newer, older) = self.tail.split_at(self.next.min(self.tail.len()));
        [older, newer].concat()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_drain_leaves_a_begun_character_for_the_next() {
        let mut buffer = HeadTail::new(64);
        buffer.push(b"a\xe2\x82");
        assert_eq!(buffer.drain(Drain::Characters).head(), b"a");
        buffer.push(b"\xac");
        assert_eq!(buffer.drain(Drain::Characters).head(), "€".as_bytes());
        buffer.push(b"b\x1b[3");
        assert_eq!(buffer.drain(Drain::Characters).head(), b"b");
        assert!(!buffer.has_characters());
        buffer.push(b"1mred");
        assert_eq!(buffer.drain(Drain::Characters).head(), b"\x1b[31mred");
        buffer.push(b"\xe2\x82");
        assert_eq!(buffer.drain(Drain::Everything).head(), b"\xe2\x82");
        assert_eq!(buffer.drain(Drain::Everything).total(), 0);
    }

    proptest! {
        #[test]
        fn keeps_what_a_plain_copy_has_at_both_ends(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..40),
            room in 0usize..64,
        ) {
            let all: Vec<u8> = chunks.concat();
            let mut buffer = HeadTail::new(room);
            for chunk in &chunks {
                buffer.push(chunk);
            }
            let half = room / 2;
            prop_assert_eq!(buffer.total(), all.len() as u64);
            let head = &all[..all.len().min(half)];
            let rest = &all[head.len()..];
            prop_assert_eq!(buffer.head(), head);
            prop_assert_eq!(buffer.tail(), &rest[rest.len().saturating_sub(half)..]);
            let kept = head.len() + rest.len().min(half);
            prop_assert_eq!(buffer.dropped(), (all.len() - kept) as u64);
        }

        #[test]
        fn drains_give_each_byte_exactly_once(
            steps in prop::collection::vec(
                prop_oneof![
                    4 => prop::collection::vec(any::<u8>(), 0..30).prop_map(Some),
                    2 => "[a-zä€𝄞\x1b\\[;0-9]{0,9}".prop_map(|text| Some(text.into_bytes())),
                    2 => Just(None),
                ],
                0..40,
            ),
            room in 0usize..64,
        ) {
            let mut buffer = HeadTail::new(room);
            // The model: what has come and was not taken out yet, all of it.
            let mut waiting: Vec<u8> = Vec::new();
            let last = [(None, Drain::Everything)];
            for (step, drain) in steps.into_iter().map(|step| (step, Drain::Characters)).chain(last) {
                let Some(bytes) = step.filter(|_| drain == Drain::Characters) else {
                    let gives = buffer.has_characters();
                    let taken = buffer.drain(drain);
                    prop_assert!(drain == Drain::Everything || gives == (taken.total() > 0));
                    let count = usize::try_from(taken.total()).unwrap();
                    prop_assert_eq!(count + usize::try_from(buffer.total()).unwrap(), waiting.len());
                    let given: Vec<u8> = waiting.drain(..count).collect();
                    let tail = taken.tail();
                    prop_assert!(given.starts_with(taken.head()));
                    prop_assert!(given.ends_with(&tail));
                    let kept = (taken.head().len() + tail.len()) as u64;
                    prop_assert_eq!(kept + taken.dropped(), given.len() as u64);
                    prop_assert!(waiting.len() <= 3 || waiting.starts_with(b"\x1b"));
                    continue;
                };
                buffer.push(&bytes);
                waiting.extend(bytes);
            }
            prop_assert!(waiting.is_empty());
        }
    }
}
