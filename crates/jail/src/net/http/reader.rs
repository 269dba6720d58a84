//! A stream with what has been read of it and not been used yet.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// A stream that can be looked ahead in.
#[derive(Debug)]
pub(in crate::net) struct Reader<R> {
    stream: R,
    held: Vec<u8>,
    used: usize,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    pub(in crate::net) fn new(stream: R) -> Self {
        Self {
            stream,
            held: Vec::new(),
            used: 0,
        }
    }

    /// What is there and not used yet.
    pub(in crate::net) fn held(&self) -> &[u8] {
        &self.held[self.used..]
    }

    /// Uses up some of it.
    pub(in crate::net) fn consume(&mut self, count: usize) {
        self.used = (self.used + count).min(self.held.len());
        if self.used == self.held.len() {
            self.held.clear();
            self.used = 0;
        }
    }

    /// Reads more behind what is held. Gives how much; nothing means the end.
    pub(in crate::net) async fn more(&mut self) -> io::Result<usize> {
        if self.used > 0 {
            self.held.drain(..self.used);
            self.used = 0;
        }
        self.held.reserve(CHUNK);
        self.stream.read_buf(&mut self.held).await
    }

    /// At least one byte, unless the stream has ended.
    pub(in crate::net) async fn some(&mut self) -> io::Result<&[u8]> {
        if self.held().is_empty() {
            self.more().await?;
        }
        Ok(self.held())
    }

    /// Exactly this many bytes.
    pub(in crate::net) async fn exactly(&mut self, count: usize) -> io::Result<Vec<u8>> {
        while self.held().len() < count {
            if self.more().await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let bytes = self.held()[..count].to_vec();
        self.consume(count);
        Ok(bytes)
    }

    /// The stream, and what was read and not used.
    pub(in crate::net) fn into_parts(mut self) -> (R, Vec<u8>) {
        self.held.drain(..self.used);
        (self.stream, self.held)
    }
}
