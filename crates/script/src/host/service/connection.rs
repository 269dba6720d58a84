//! The host's end of a run's socket: whole messages in and out, never waiting, with bounds for both.

use std::io;

use tokio::net::UnixStream;

use crate::protocol::{FrameError, FromWorker, HEADER, Message, ToWorker};
use crate::value::Limits;

/// Answers and arguments that may wait, in messages of the largest size. A worker does not read while it
/// writes, so we cannot make it wait by not reading: beyond this it is refused or stopped.
const MOST_WAITING: usize = 8;
/// An inbox that has grown beyond this shrinks again; a larger message makes it grow by so much at a time.
const LARGE_INBOX: usize = 1 << 20;

/// A socket with what was read and not understood yet, and what was said and not taken yet.
pub(super) struct Connection {
    pub(super) stream: UnixStream,
    /// The limits of what the script says.
    pub(super) incoming: Limits,
    /// The limits of what it is told.
    pub(super) outgoing: Limits,
    inbox: Vec<u8>,
    chunk: Box<[u8]>,
    outbox: Vec<u8>,
}

impl Connection {
    /// `message` bounds what is told; what the script says may take `incoming`.
    pub(super) fn new(stream: UnixStream, incoming: Limits, message: Limits) -> Self {
        Self {
            stream,
            incoming,
            outgoing: Limits {
                held: usize::MAX,
                ..message
            },
            inbox: Vec::new(),
            chunk: vec![0; 16 << 10].into(),
            outbox: Vec::new(),
        }
    }

    /// Whether something waits for the worker to take it.
    pub(super) fn has_more_to_say(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Whether more waits than a worker that reads ever leaves.
    pub(super) fn is_overfull(&self) -> bool {
        self.outbox.len() > self.outgoing.bytes.saturating_mul(MOST_WAITING)
    }

    /// Says the first message, or why it cannot be said.
    pub(super) fn begin(&mut self, message: &ToWorker) -> Result<(), FrameError> {
        self.outbox = message.to_frame(self.outgoing)?;
        Ok(())
    }

    pub(super) fn read(&mut self) -> io::Result<usize> {
        let count = self.stream.try_read(&mut self.chunk)?;
        self.inbox.extend_from_slice(&self.chunk[..count]);
        Ok(count)
    }

    /// Writes as much as the socket takes.
    pub(super) fn flush(&mut self) {
        while !self.outbox.is_empty() {
            match self.stream.try_write(&self.outbox) {
                Ok(count) => drop(self.outbox.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // What the worker said before it went may still be there to read.
                Err(_) => self.outbox.clear(),
            }
        }
    }

    pub(super) fn send(&mut self, message: &ToWorker) {
        // A frame has room for any value that fits its own limit, so this always holds.
        if let Ok(frame) = message.to_frame(self.outgoing) {
            self.outbox.extend_from_slice(&frame);
        }
    }

    /// The next whole message. The bytes of a large one are not kept beside it.
    pub(super) fn take_frame(&mut self) -> Result<Option<FromWorker>, FrameError> {
        let Some((header, body)) = self.inbox.split_first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let length = FromWorker::body_length(*header, self.incoming)?;
        let Some(body) = body.get(..length) else {
            let missing = (HEADER + length).saturating_sub(self.inbox.len());
            self.inbox.reserve_exact(missing.min(LARGE_INBOX));
            return Ok(None);
        };
        let message = FromWorker::from_body(body)?;
        self.inbox.drain(..HEADER + length);
        if self.inbox.capacity() > LARGE_INBOX {
            self.inbox.shrink_to(LARGE_INBOX);
        }
        Ok(Some(message))
    }
}
