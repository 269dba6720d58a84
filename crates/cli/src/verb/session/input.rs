//! The lines that a client writes.

use std::io::{self, IsTerminal};

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use crate::terminal::keyboard;

/// Where lines come from.
pub(super) struct Input {
    reader: BufReader<Box<dyn AsyncRead + Unpin + Send>>,
    most: usize,
}

/// What came.
#[derive(Debug)]
pub(super) enum Came {
    /// A line, without the white space around it.
    Line(Vec<u8>),
    /// A line that was longer than a line may be. It is gone.
    TooLong,
    /// There is no more.
    End,
}

impl Input {
    /// Standard input. A terminal has one reader at a time: while somebody is asked there, it is the
    /// question.
    pub(super) fn standard(most: usize) -> io::Result<Self> {
        let reader: Box<dyn AsyncRead + Unpin + Send> = if io::stdin().is_terminal() {
            Box::new(keyboard::lines()?)
        } else {
            Box::new(tokio::io::stdin())
        };
        Ok(Self {
            reader: BufReader::new(reader),
            most,
        })
    }

    /// The next line that is not empty. Of one that is too long no more than that is held.
    pub(super) async fn next(&mut self) -> io::Result<Came> {
        let mut line = Vec::new();
        let mut too_long = false;
        loop {
            let piece = self.reader.fill_buf().await?;
            if piece.is_empty() {
                return Ok(match (line.trim_ascii(), too_long) {
                    (_, true) => Came::TooLong,
                    ([], false) => Came::End,
                    (last, false) => Came::Line(last.to_vec()),
                });
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(piece.len());
            too_long |= line.len() + taken > self.most;
            if too_long {
                line = Vec::new();
            } else {
                line.extend_from_slice(&piece[..taken]);
            }
            self.reader.consume(end.map_or(taken, |end| end + 1));
            if end.is_none() {
                continue;
            }
            if too_long {
                return Ok(Came::TooLong);
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Came::Line(line.trim_ascii().to_vec()));
            }
            line.clear();
        }
    }
}
