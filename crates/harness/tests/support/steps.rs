//! Futures that are polled so many times and no further.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::Poll;

/// As many turns of the others as a call that runs can need for its next step: those are few and far
/// between.
const TURNS: usize = 500;

/// Polls a future so many times, each after it has asked for it, and drops it.
pub(crate) async fn poll_times<F: Future>(future: F, times: usize) {
    poll_pinned(pin!(future), times).await;
}

/// Polls a future so many times, each after it has asked for it, and drops it; tells whether it came to its end before. It has
/// to: nobody else keeps time.
pub(crate) async fn ended_within<F: Future>(future: F, times: usize) -> bool {
    let mut future = pin!(future);
    let mut left = times;
    std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        match future.as_mut().poll(context) {
            Poll::Ready(_) => Poll::Ready(true),
            Poll::Pending if left == 0 => Poll::Ready(false),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Polls a future so many times, and does not drop it.
pub(crate) async fn poll_pinned<F: Future>(mut future: Pin<&mut F>, times: usize) {
    let mut left = times;
    let polled = std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        // After its last step there is nothing to wait for.
        match future.as_mut().poll(context) {
            Poll::Ready(_) => Poll::Ready(()),
            Poll::Pending if left == 0 => Poll::Ready(()),
            Poll::Pending => Poll::Pending,
        }
    });
    let turns = async {
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = polled => {}
        () = turns => {}
    }
}
