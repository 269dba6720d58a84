//! What a command printed and nobody has fetched yet.

use regex::Regex;

use crate::output::{Captured, Drain, HeadTail, Stream, Strip};

/// How the two streams are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// As one, in the order in which they come: what a person at a terminal would see.
    Together,
    /// Each on its own.
    Apart,
}

/// Output that waits to be fetched, bounded: of too much, the middle is dropped and counted.
#[derive(Debug)]
pub(super) struct UnreadOutput {
    layout: Layout,
    stdout: HeadTail,
    stderr: HeadTail,
}

impl UnreadOutput {
    pub(super) fn new(layout: Layout, room: usize) -> Self {
        let room = match layout {
            Layout::Together => room,
            Layout::Apart => room / 2,
        };
        Self {
            layout,
            stdout: HeadTail::new(room),
            stderr: HeadTail::new(room),
        }
    }

    pub(super) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        match (self.layout, stream) {
            (Layout::Together, _) | (Layout::Apart, Stream::Stdout) => self.stdout.push(bytes),
            (Layout::Apart, Stream::Stderr) => self.stderr.push(bytes),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.stdout.has_characters() && !self.stderr.has_characters()
    }

    /// Takes out what has come since the last time.
    pub(super) fn fetch(&mut self, drain: Drain) -> Captured {
        let stdout = self.stdout.drain(drain);
        Captured {
            both: match self.layout {
                Layout::Together => stdout.clone(),
                Layout::Apart => HeadTail::new(0),
            },
            stdout,
            stderr: self.stderr.drain(drain),
            file: None,
        }
    }

    /// Both streams as they are, without taking anything out.
    pub(super) fn streams(&self) -> [HeadTail; 2] {
        [self.stdout.clone(), self.stderr.clone()]
    }

    /// Whether a pattern is found in what has come, on either stream, as it reads.
    pub(super) fn matches(&self, pattern: &Regex) -> bool {
        let found = |stream: &HeadTail| {
            let bytes = [stream.head(), &stream.tail()].concat();
            is_found(pattern, &bytes)
        };
        found(&self.stdout) || found(&self.stderr)
    }

    /// The last bytes that have come, as far as they are still there; of both streams if they are kept
    /// as one.
    pub(super) fn last(&self, bytes: u64) -> Vec<u8> {
        let tail = [self.stdout.head(), &self.stdout.tail()].concat();
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        tail[tail.len().saturating_sub(bytes)..].to_vec()
    }
}

/// Whether a pattern is found in what was printed, on whichever frame.
pub(super) fn is_found(pattern: &Regex, bytes: &[u8]) -> bool {
    pattern.is_match(&String::from_utf8_lossy(&Strip::whole(bytes)))
}
