//! Messages as lines, over pipes: standard input and output.
//!
//! What comes in is bounded: a line that is too long is left out and answered with an error, and nothing
//! more is read while much waits to be written.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::model::ErrorData;
use rmcp::service::{QuitReason, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt as _};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

use crate::house::House;
use crate::server::Server;

/// As many messages wait to be written before no more are read.
const WAITING: usize = 256;

/// Serves one client over a pair of pipes until its input ends, or until `stop` is cancelled.
pub async fn serve_lines<R, W>(
    house: &Arc<House>,
    input: R,
    output: W,
    stop: CancellationToken,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let lines = Lines {
        house: Arc::clone(house),
        reader: BufReader::new(input),
        line: Vec::new(),
        too_long: false,
        most: house.limits.message_bytes,
        writing: Arc::new(Writing {
            output: Mutex::new(output),
            waiting: AtomicUsize::new(0),
            eased: Notify::new(),
        }),
    };
    let served = Server::new(house).serve_with_ct(lines, stop).await;
    match served {
        Ok(running) => match running.waiting().await {
            Ok(QuitReason::JoinError(error)) | Err(error) => Err(io::Error::other(error)),
            Ok(_) => Ok(()),
        },
        // A client that went before it said anything, and our own end.
        Err(
            rmcp::service::ServerInitializeError::ConnectionClosed(_)
            | rmcp::service::ServerInitializeError::Cancelled,
        ) => Ok(()),
        Err(error) => Err(io::Error::other(error)),
    }
}

struct Lines<R, W> {
    house: Arc<House>,
    reader: BufReader<R>,
    /// What there is of the next line: whoever reads may be interrupted.
    line: Vec<u8>,
    too_long: bool,
    most: usize,
    writing: Arc<Writing<W>>,
}

struct Writing<W> {
    output: Mutex<W>,
    waiting: AtomicUsize,
    eased: Notify,
}

/// A message that waits to be written.
struct Waits<W>(Arc<Writing<W>>);

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let waits = Waits::new(&self.writing);
        async move { waits.write(&message).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.writing.room().await;
            if !self.read_line().await.unwrap_or(false) {
                // Whoever closes the input wants the server to end: it does not wait for calls.
                self.house.client_has_gone();
                return None;
            }
            let taken = (
                std::mem::take(&mut self.too_long),
                std::mem::take(&mut self.line),
            );
            match self.message(taken) {
                Ok(None) => {}
                Ok(Some(message)) => return Some(message),
                Err(error) => {
                    let message = TxJsonRpcMessage::<RoleServer>::error(error, None);
                    Waits::new(&self.writing).write(&message).await.ok()?;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writing.output.lock().await.flush().await
    }
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    /// Reads on until a line is whole; false at the end. Of one that is too long no more than that is held.
    async fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let piece = self.reader.fill_buf().await?;
            if piece.is_empty() {
                // What has no end was not said.
                return Ok(false);
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(piece.len());
            self.too_long |= self.line.len() + taken > self.most;
            if self.too_long {
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(&piece[..taken]);
            }
            let used = end.map_or(taken, |end| end + 1);
            self.reader.consume(used);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    fn message(
        &self,
        (too_long, line): (bool, Vec<u8>),
    ) -> Result<Option<RxJsonRpcMessage<RoleServer>>, ErrorData> {
        if too_long {
            let most = self.most;
            let message = format!("a message has at most {most} bytes; this one was left out");
            return Err(ErrorData::invalid_request(message, None));
        }
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(None);
        }
        match serde_json::from_slice(line) {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.is_data() => {
                if is_notification(line) {
                    // One that is not known wants no answer.
                    return Ok(None);
                }
                let message = format!("the line is no message of the protocol: {error}");
                Err(ErrorData::invalid_request(message, None))
            }
            Err(error) => {
                let message = format!("the line is not JSON: {error}");
                Err(ErrorData::parse_error(message, None))
            }
        }
    }
}

fn is_notification(line: &[u8]) -> bool {
    let message: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
    message["method"].is_string() && message.get("id").is_none()
}

impl<W> Writing<W> {
    /// Waits until there is room for more answers.
    async fn room(&self) {
        loop {
            let eased = self.eased.notified();
            if self.waiting.load(Ordering::Relaxed) < WAITING {
                return;
            }
            eased.await;
        }
    }
}

impl<W> Waits<W> {
    fn new(writing: &Arc<Writing<W>>) -> Self {
        writing.waiting.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(writing))
    }
}

impl<W: AsyncWrite + Unpin> Waits<W> {
    async fn write(&self, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let mut output = self.0.output.lock().await;
        output.write_all(&line).await?;
        output.flush().await
    }
}

impl<W> Drop for Waits<W> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
        self.0.eased.notify_waiters();
    }
}
