//! A stream as `hyper` reads and writes one, with what goes over it counted.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::net::gate::Traffic;

/// How much is read at once.
const CHUNK: usize = 16 * 1024;

/// Bytes that went over a wire, so far. All clones count the same.
#[derive(Debug, Clone, Default)]
pub struct Counts(Arc<[AtomicU64; 2]>);

impl Counts {
    /// So many.
    pub fn traffic(&self) -> Traffic {
        Traffic {
            sent: self.0[0].load(Ordering::Relaxed),
            received: self.0[1].load(Ordering::Relaxed),
        }
    }

    fn add(&self, which: usize, bytes: usize) {
        self.0[which].fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// A stream that is counted.
#[derive(Debug)]
pub struct Wire<S> {
    stream: S,
    counts: Counts,
    space: Box<[u8]>,
}

impl<S> Wire<S> {
    /// A stream whose bytes are added to these counts.
    pub fn new(stream: S, counts: Counts) -> Self {
        Self {
            stream,
            counts,
            space: vec![0; CHUNK].into_boxed_slice(),
        }
    }
}

impl<S: AsyncRead + Unpin> Read for Wire<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let most = into.remaining().min(this.space.len());
        let mut read = ReadBuf::new(&mut this.space[..most]);
        ready!(Pin::new(&mut this.stream).poll_read(cx, &mut read))?;
        this.counts.add(1, read.filled().len());
        into.put_slice(read.filled());
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> Write for Wire<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write(cx, bytes))?;
        this.counts.add(0, written);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
