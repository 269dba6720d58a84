//! A buffer of fixed size that keeps the beginning and the end of what goes through it.

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

    /// How many bytes went through.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many bytes were dropped from the middle.
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
    }
}
