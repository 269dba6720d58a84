//! The worker's end of the socket: whole frames in and out, blocking.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use crate::protocol::{Ended, FromWorker, HEADER, Message, ToWorker};
use crate::value::Limits;

/// A stream of frames.
#[derive(Debug)]
pub(crate) struct Channel {
    stream: UnixStream,
    limits: Limits,
    buffer: Vec<u8>,
    chunk: Box<[u8]>,
    queue: VecDeque<ToWorker>,
}

impl Channel {
    pub(crate) fn new(stream: UnixStream, limits: Limits) -> Self {
        Self {
            stream,
            limits,
            buffer: Vec::new(),
            chunk: vec![0; 16 << 10].into(),
            queue: VecDeque::new(),
        }
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    pub(crate) fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    pub(crate) fn send(&mut self, message: &FromWorker) -> io::Result<()> {
        let frame = message.to_frame(self.limits).map_err(io::Error::other)?;
        self.stream.write_all(&frame)
    }

    /// Puts a frame aside that came while another was waited for.
    pub(crate) fn put_aside(&mut self, message: ToWorker) {
        self.queue.push_back(message);
    }

    /// Takes the end of a call out of what was put aside.
    pub(crate) fn take_return(&mut self, awaited: u64) -> Option<Ended> {
        let is_it = |message: &ToWorker| matches!(message, ToWorker::Return { call, .. } if *call == awaited);
        let at = self.queue.iter().position(is_it)?;
        match self.queue.remove(at) {
            Some(ToWorker::Return { ended, .. }) => Some(ended),
            _ => None,
        }
    }

    /// The next frame, put aside or new; `None` when the host is gone.
    pub(crate) fn next(&mut self) -> io::Result<Option<ToWorker>> {
        match self.queue.pop_front() {
            Some(message) => Ok(Some(message)),
            None => self.receive(),
        }
    }

    /// The next new frame; `None` when the host is gone.
    pub(crate) fn receive(&mut self) -> io::Result<Option<ToWorker>> {
        loop {
            if let Some(message) = self.take_frame()? {
                return Ok(Some(message));
            }
            match self.stream.read(&mut self.chunk) {
                Ok(0) => return Ok(None),
                Ok(count) => self.buffer.extend_from_slice(&self.chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn take_frame(&mut self) -> io::Result<Option<ToWorker>> {
        let Some((header, rest)) = self.buffer.split_first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let length = ToWorker::body_length(*header, self.limits).map_err(io::Error::other)?;
        let Some(body) = rest.get(..length) else {
            return Ok(None);
        };
        let message = ToWorker::from_body(body).map_err(io::Error::other)?;
        self.buffer.drain(..HEADER + length);
        Ok(Some(message))
    }
}
