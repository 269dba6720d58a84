//! What goes to the client: a body that is there, or one that comes in pieces.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame};
use ringfence_model::Answer;
use tokio::sync::mpsc;

/// The body of an answer to the client.
pub(crate) enum Outflow {
    /// All of it.
    Whole(Option<Bytes>),
    /// Pieces, as they come. When the client is gone, whoever sends them finds out.
    Pieces(mpsc::Receiver<Bytes>),
}

/// How many pieces wait for a client that does not read.
const WAITING: usize = 64;

impl Outflow {
    pub(crate) fn whole(body: impl Into<Bytes>) -> Self {
        Self::Whole(Some(body.into()))
    }

    pub(crate) fn pieces() -> (mpsc::Sender<Bytes>, Self) {
        let (send, receive) = mpsc::channel(WAITING);
        (send, Self::Pieces(receive))
    }

    /// What a provider answers, as it comes.
    pub(crate) fn passing(mut answer: Answer) -> Self {
        let (send, outflow) = Self::pieces();
        tokio::spawn(async move {
            while let Ok(Some(piece)) = answer.next().await {
                if send.send(piece).await.is_err() {
                    return;
                }
            }
        });
        outflow
    }
}

impl Body for Outflow {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            Self::Pieces(pieces) => pieces
                .poll_recv(cx)
                .map(|piece| piece.map(|piece| Ok(Frame::data(piece)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }
}
