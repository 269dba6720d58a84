//! Everything that a command prints, taken in as it comes.

use std::io;

use super::spill::Spill;
use super::{HeadTail, Kind, OutputFile, SpillOptions};

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
    pub spill: Option<SpillOptions>,
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
    /// The file that holds the whole, if a reply cannot.
    pub file: Option<OutputFile>,
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
            file: self.file(),
        }
    }

    /// The file with the whole of it, as far as there is one.
    pub fn file(&self) -> Option<OutputFile> {
        self.spill.as_ref().map(|spill| spill.written().clone())
    }

    /// Ends the transcript. What no reply can show is in a file however short it is.
    pub fn finish(mut self) -> Captured {
        let is_data = |stream: &HeadTail| matches!(Kind::of(stream.head()), Kind::Binary(_));
        if self.spill.is_none() && (is_data(&self.stdout) || is_data(&self.stderr)) {
            self.start_spill(&[]);
        }
        Captured {
            both: self.both().clone(),
            file: self.file(),
            stdout: self.stdout,
            stderr: self.stderr,
        }
    }

    /// Keeps the file going.
    fn spill(&mut self, bytes: &[u8]) {
        if let Some(spill) = &mut self.spill {
            let pushed = spill.push(bytes);
            self.unless_failed(&pushed);
        } else if self.total() + bytes.len() as u64 > self.limits.spill_after as u64 {
            self.start_spill(bytes);
        }
    }

    /// Starts the file with all that has come and what comes now.
    fn start_spill(&mut self, bytes: &[u8]) {
        let place = self.limits.spill.as_ref();
        let Some(place) = place.filter(|_| !self.spill_failed) else {
            return;
        };
        let so_far = [self.both().head(), &self.both().tail(), bytes].concat();
        let started = Spill::start(place, &self.name, &so_far);
        let started = started.map(|spill| self.spill = Some(spill));
        self.unless_failed(&started);
    }

    /// A disk that is full costs the file, never the command: the reply then names no file.
    fn unless_failed(&mut self, result: &io::Result<()>) {
        if result.is_err() {
            if let Some(spill) = self.spill.take() {
                let _ = std::fs::remove_file(&spill.written().path);
            }
            self.spill_failed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::output::{Outputs, Retention};

    fn limits(folder: &std::path::Path) -> TranscriptLimits {
        TranscriptLimits {
            buffer_bytes: 64,
            spill_after: 10,
            spill: Some(SpillOptions {
                outputs: Arc::new(Outputs::new(
                    folder.join("out"),
                    folder.join("register"),
                    Retention {
                        age: Duration::from_hours(1),
                        bytes: 1 << 20,
                    },
                )),
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
        let file = captured.file.unwrap();
        let text = std::fs::read_to_string(file.path).unwrap();
        assert_eq!((&*text, file.is_cut), ("12345abcdefg67890123", true));
    }

    #[test]
    fn what_cannot_be_shown_is_in_the_file_however_short() {
        let folder = tempfile::tempdir().unwrap();
        let mut transcript = Transcript::new("a", limits(folder.path()));
        transcript.push(Stream::Stdout, b"\x1f\x8b\x08\0\0");
        let file = transcript.finish().file.unwrap();
        assert_eq!(std::fs::read(file.path).unwrap(), b"\x1f\x8b\x08\0\0");
        assert!(!file.is_cut);
    }
}
