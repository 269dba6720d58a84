//! Everything that a command prints, taken in as it comes.

use std::path::PathBuf;

use super::spill::Spill;
use super::{HeadTail, SpillPlace};

/// Which of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    /// Its name for a program.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// The bounds of a transcript.
#[derive(Debug, Clone)]
pub struct TranscriptLimits {
    /// The room of each buffer, in bytes.
    pub buffer_bytes: usize,
    /// Output longer than this goes to a file too.
    pub spill_after: usize,
    /// Where; nowhere if absent.
    pub spill: Option<SpillPlace>,
}

/// A transcript that is being written.
#[derive(Debug)]
pub struct Transcript {
    limits: TranscriptLimits,
    name: String,
    stdout: HeadTail,
    stderr: HeadTail,
    /// Kept only once both streams have printed: until then it would be a copy of one of them.
    both: Option<HeadTail>,
    spill: Option<Spill>,
    spill_failed: bool,
}

/// A transcript that is complete.
#[derive(Debug, Clone)]
pub struct Captured {
    /// Standard output.
    pub stdout: HeadTail,
    /// Standard error.
    pub stderr: HeadTail,
    /// Both, in the order they came.
    pub both: HeadTail,
    /// The file that holds the whole, if it was long.
    pub file: Option<PathBuf>,
}

impl Transcript {
    /// A transcript whose file, should it need one, is called by this name.
    pub fn new(name: impl Into<String>, limits: TranscriptLimits) -> Self {
        let buffer = || HeadTail::new(limits.buffer_bytes);
        Self {
            name: name.into(),
            stdout: buffer(),
            stderr: buffer(),
            both: None,
            spill: None,
            spill_failed: false,
            limits,
        }
    }

    /// Takes in what a stream gave.
    pub fn push(&mut self, stream: Stream, bytes: &[u8]) {
        self.spill(bytes);
        let (own, other) = match stream {
            Stream::Stdout => (&mut self.stdout, &self.stderr),
            Stream::Stderr => (&mut self.stderr, &self.stdout),
        };
        if self.both.is_none() && other.total() > 0 {
            self.both = Some(other.clone());
        }
        own.push(bytes);
        if let Some(both) = &mut self.both {
            both.push(bytes);
        }
    }

    /// How many bytes have come.
    pub fn total(&self) -> u64 {
        self.stdout.total() + self.stderr.total()
    }

    /// Both streams in the order they came.
    fn both(&self) -> &HeadTail {
        match &self.both {
            Some(both) => both,
            None if self.stderr.total() > 0 => &self.stderr,
            None => &self.stdout,
        }
    }

    /// What it holds so far.
    pub fn so_far(&self) -> Captured {
        Captured {
            both: self.both().clone(),
            stdout: self.stdout.clone(),
            stderr: self.stderr.clone(),
            file: self.spill.as_ref().map(|spill| spill.path().to_path_buf()),
        }
    }

    /// Ends the transcript.
    pub fn finish(self) -> Captured {
        Captured {
            both: self.both().clone(),
            stdout: self.stdout,
            stderr: self.stderr,
            file: self.spill.map(|spill| spill.path().to_path_buf()),
        }
    }

    /// Keeps the file going. A disk that is full costs the file, never the command: the reply then
    /// names no file.
    fn spill(&mut self, bytes: &[u8]) {
        if self.spill_failed {
            return;
        }
        let long = self.total() + bytes.len() as u64 > self.limits.spill_after as u64;
        let result = if let Some(spill) = &mut self.spill {
            spill.push(bytes)
        } else if let Some(place) = self.limits.spill.as_ref().filter(|_| long) {
            let so_far = [self.both().head(), &self.both().tail(), bytes].concat();
            Spill::start(place, &self.name, &so_far).map(|spill| self.spill = Some(spill))
        } else {
            Ok(())
        };
        if result.is_err() {
            if let Some(spill) = self.spill.take() {
                let _ = std::fs::remove_file(spill.path());
            }
            self.spill_failed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(folder: &std::path::Path) -> TranscriptLimits {
        TranscriptLimits {
            buffer_bytes: 64,
            spill_after: 10,
            spill: Some(SpillPlace {
                folder: folder.to_path_buf(),
                cap: 20,
            }),
        }
    }

    #[test]
    fn short_output_makes_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut transcript = Transcript::new("a", limits(folder.path()));
        transcript.push(Stream::Stdout, b"short");
        assert_eq!(transcript.finish().file, None);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn long_output_is_whole_in_the_file_up_to_the_cap() {
        let folder = tempfile::tempdir().unwrap();
        let mut transcript = Transcript::new("a", limits(folder.path()));
        for (stream, text) in [
            (Stream::Stdout, "12345"),
            (Stream::Stderr, "abcdefg"),
            (Stream::Stdout, "678901234567"),
        ] {
            transcript.push(stream, text.as_bytes());
        }
        let captured = transcript.finish();
        assert_eq!(captured.stdout.head(), b"12345678901234567");
        assert_eq!(captured.stderr.head(), b"abcdefg");
        let file = std::fs::read_to_string(captured.file.unwrap()).unwrap();
        assert_eq!(file, "12345abcdefg67890123");
    }
}
