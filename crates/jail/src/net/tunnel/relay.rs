//! Bytes both ways between two sockets, as they come.
//!
//! A direction that has carried much goes on by `splice`: the kernel moves the pages, and none of
//! them passes through here.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::pipe::{PipeFlags, SpliceFlags};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use super::super::gate::Traffic;

/// How much is copied at once.
const CHUNK: usize = 64 * 1024;
/// How much a direction carries before its pipe is made: most connections carry less, and a pipe
/// takes two descriptors.
const MUCH: u64 = 512 * 1024;
/// What such a pipe holds.
const PIPE: usize = 512 * 1024;

/// One side of a tunnel, with what has been read of it already.
pub(super) struct Side {
    pub(super) reader: OwnedReadHalf,
    pub(super) held: Vec<u8>,
    pub(super) writer: OwnedWriteHalf,
}

/// Carries bytes until both sides have ended, or one has failed.
pub(super) async fn carry(inside: Side, outside: Side) -> Traffic {
    let mut traffic = Traffic::default();
    let out = one_way(
        inside.reader,
        inside.held,
        outside.writer,
        &mut traffic.sent,
    );
    let back = one_way(
        outside.reader,
        outside.held,
        inside.writer,
        &mut traffic.received,
    );
    // A side that fails takes the other along: nobody would notice otherwise.
    let _ = tokio::try_join!(out, back);
    traffic
}

async fn one_way(
    mut from: OwnedReadHalf,
    held: Vec<u8>,
    mut to: OwnedWriteHalf,
    carried: &mut u64,
) -> io::Result<()> {
    to.write_all(&held).await?;
    *carried += held.len() as u64;
    drop(held);
    let mut buffer = vec![0; CHUNK];
    while *carried < MUCH {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..count]).await?;
        *carried += count as u64;
    }
    match Conduit::new() {
        Ok(conduit) => {
            drop(buffer);
            conduit.carry(&from, &to, carried).await?;
        }
        // Out of descriptors: what worked so far goes on working.
        Err(_) => loop {
            let count = from.read(&mut buffer).await?;
            if count == 0 {
                break;
            }
            to.write_all(&buffer[..count]).await?;
            *carried += count as u64;
        },
    }
    to.shutdown().await
}

/// A pipe through which the kernel moves pages from one socket to another.
struct Conduit {
    end: OwnedFd,
    start: OwnedFd,
}

impl Conduit {
    fn new() -> io::Result<Self> {
        let (end, start) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        // An ordinary user has a budget for this; the default size serves as well.
        let _ = rustix::pipe::fcntl_setpipe_size(&start, PIPE);
        Ok(Self { end, start })
    }

    async fn carry(
        &self,
        from: &OwnedReadHalf,
        to: &OwnedWriteHalf,
        carried: &mut u64,
    ) -> io::Result<()> {
        loop {
            // The pipe is empty here, so that "not now" can only be about the socket.
            let filled = from
                .as_ref()
                .async_io(Interest::READABLE, || {
                    moved(from.as_ref().as_fd(), self.start.as_fd(), PIPE)
                })
                .await?;
            if filled == 0 {
                return Ok(());
            }
            let mut left = filled;
            while left > 0 {
                left -= to
                    .as_ref()
                    .async_io(Interest::WRITABLE, || {
                        moved(self.end.as_fd(), to.as_ref().as_fd(), left)
                    })
                    .await?;
            }
            *carried += filled as u64;
        }
    }
}

fn moved(
    from: std::os::fd::BorrowedFd<'_>,
    to: std::os::fd::BorrowedFd<'_>,
    most: usize,
) -> io::Result<usize> {
    let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
    Ok(rustix::pipe::splice(from, None, to, None, most, flags)?)
}
