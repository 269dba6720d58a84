//! What a script says while it runs, as it is kept for its output: bounded in number, rate and size, with a count of what
//! was dropped.

use std::time::Instant;

use ringfence_dialect::{Dropped, LogLevel, LogLine, ProgressKind, ProgressLine, Said};

use super::progress::Progress;

/// Bytes of one line of the console.
const LONGEST_LINE: usize = 4 << 10;
/// Bytes of all lines together.
const MOST_BYTES: usize = 64 << 10;

/// Keeps what one script says.
#[derive(Debug, Default)]
pub(super) struct Record {
    progress: Progress,
    bytes: usize,
    said: Said,
}

impl Record {
    /// Takes a line of the console; gives it back as it may be told.
    pub(super) fn log(&mut self, level: LogLevel, text: &str) -> String {
        let text = cut(text);
        if self.bytes + text.len() > MOST_BYTES {
            self.said.dropped.logs += 1;
        } else {
            self.bytes += text.len();
            let text = text.clone();
            self.said.logs.push(LogLine { level, text });
        }
        text
    }

    /// Takes a word on how it gets on; gives it back if it may be told now.
    pub(super) fn progress(&mut self, kind: ProgressKind, text: &str) -> Option<String> {
        let Some(text) = self.progress.admit(text, Instant::now()) else {
            self.said.dropped.progress += 1;
            return None;
        };
        self.said.progress.push(ProgressLine {
            kind,
            text: text.clone(),
        });
        Some(text)
    }

    /// What was kept, with the lines that never came here counted as dropped.
    pub(super) fn taken(&mut self, dropped_logs: u64) -> Said {
        let mut said = std::mem::take(&mut self.said);
        said.dropped = Dropped {
            logs: said.dropped.logs + dropped_logs,
            ..said.dropped
        };
        said
    }
}

fn cut(text: &str) -> String {
    if text.len() <= LONGEST_LINE {
        return text.to_owned();
    }
    let end = (0..=LONGEST_LINE)
        .rev()
        .find(|at| text.is_char_boundary(*at));
    let end = end.unwrap_or(0);
    format!("{}… ({} bytes more)", &text[..end], text.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_one_by_one_and_together() {
        let mut record = Record::default();
        let told = record.log(LogLevel::Warn, &"é".repeat(3000));
        assert!(told.ends_with("… (1904 bytes more)"), "{told}");
        for _ in 0..100 {
            record.log(LogLevel::Log, &"x".repeat(1 << 10));
        }
        let said = record.taken(5);
        let kept: usize = said.logs.iter().map(|line| line.text.len()).sum();
        assert!(
            kept <= MOST_BYTES && kept > MOST_BYTES - (2 << 10),
            "{kept}"
        );
        assert_eq!(said.dropped.logs, 101 - said.logs.len() as u64 + 5);
        assert_eq!(said.logs[0].level, LogLevel::Warn);
    }

    #[test]
    fn progress_that_comes_too_soon_is_counted() {
        let mut record = Record::default();
        for _ in 0..3 {
            record.progress(ProgressKind::Info, "on");
        }
        let said = record.taken(0);
        assert_eq!((said.progress.len(), said.dropped.progress), (1, 2));
    }
}
