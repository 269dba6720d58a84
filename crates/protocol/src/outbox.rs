//! What goes to the client, in order, with a bound on what waits.
//!
//! Replies and requests are never dropped: while too much of them waits, [`Outbox::is_full`] tells others not to
//! make more. Events are: the next thing that is said is preceded by how many.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use serde_json::Value;
use tokio::sync::{Notify, mpsc};

use crate::rpc;
use crate::wire::DroppedParams;

/// How much may wait for a client that does not read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Bytes of replies and requests from which on no more is taken in.
    pub(crate) kept: usize,
    /// Bytes of events; more are dropped.
    pub(crate) events: usize,
}

/// The way to the client.
#[derive(Debug, Clone)]
pub(crate) struct Outbox {
    lines: mpsc::UnboundedSender<Option<Line>>,
    account: Arc<Account>,
}

/// What goes to the client: the transport's end.
#[derive(Debug)]
pub struct Outgoing(mpsc::UnboundedReceiver<Option<Line>>);

/// A line that the transport has written, or is about to. When it goes, there is room for another.
#[derive(Debug)]
pub struct Written(Line);

#[derive(Debug)]
struct Line {
    text: String,
    sort: Sort,
    account: Arc<Account>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Kept,
    Event,
}

#[derive(Debug)]
struct Account {
    room: Room,
    kept: AtomicUsize,
    events: AtomicUsize,
    dropped: AtomicU64,
    eased: Notify,
}

/// A way to the client, and its other end.
pub(crate) fn outbox(room: Room) -> (Outbox, Outgoing) {
    let (lines, received) = mpsc::unbounded_channel();
    let account = Account {
        room,
        kept: AtomicUsize::new(0),
        events: AtomicUsize::new(0),
        dropped: AtomicU64::new(0),
        eased: Notify::new(),
    };
    let outbox = Outbox {
        lines,
        account: Arc::new(account),
    };
    (outbox, Outgoing(received))
}

impl Outbox {
    /// Sends what must arrive.
    pub(crate) fn send(&self, message: &Value) {
        self.tell_dropped();
        self.push(message, Sort::Kept);
    }

    /// Sends what may be left out.
    pub(crate) fn offer(&self, message: &Value) {
        if self.account.events.load(Ordering::Relaxed) >= self.account.room.events {
            self.account.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.tell_dropped();
        self.push(message, Sort::Event);
    }

    /// Whether so much waits that no more should be taken in.
    pub(crate) fn is_full(&self) -> bool {
        self.account.kept.load(Ordering::Relaxed) >= self.account.room.kept
    }

    /// Waits until there is room.
    pub(crate) async fn eased(&self) {
        loop {
            let eased = self.account.eased.notified();
            if !self.is_full() {
                return;
            }
            eased.await;
        }
    }

    /// Nothing follows.
    pub(crate) fn finish(&self) {
        let _ = self.lines.send(None);
    }

    fn tell_dropped(&self) {
        let count = self.account.dropped.swap(0, Ordering::Relaxed);
        if count > 0 {
            let told = rpc::notification("events_dropped", &DroppedParams { count });
            self.push(&told, Sort::Kept);
        }
    }

    fn push(&self, message: &Value, sort: Sort) {
        let text = message.to_string();
        self.account
            .of(sort)
            .fetch_add(text.len(), Ordering::Relaxed);
        let account = Arc::clone(&self.account);
        // Nobody takes them any more once the client is gone.
        let _ = self.lines.send(Some(Line {
            text,
            sort,
            account,
        }));
    }
}

impl Account {
    fn of(&self, sort: Sort) -> &AtomicUsize {
        match sort {
            Sort::Kept => &self.kept,
            Sort::Event => &self.events,
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let bytes = self.text.len();
        self.account
            .of(self.sort)
            .fetch_sub(bytes, Ordering::Relaxed);
        if self.sort == Sort::Kept {
            self.account.eased.notify_waiters();
        }
    }
}

impl Outgoing {
    /// The next line, without its end; nothing once the session has ended.
    pub async fn next(&mut self) -> Option<Written> {
        self.0.recv().await.flatten().map(Written)
    }

    /// The same for a thread outside of any runtime.
    pub fn blocking_next(&mut self) -> Option<Written> {
        self.0.blocking_recv().flatten().map(Written)
    }
}

impl Written {
    /// The line.
    pub fn text(&self) -> &str {
        &self.0.text
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    fn texts(outgoing: &mut Outgoing) -> Vec<Value> {
        let mut texts = Vec::new();
        while let Ok(Some(line)) = outgoing.0.try_recv() {
            texts.push(serde_json::from_str(&line.text).unwrap());
        }
        texts
    }

    #[test]
    fn events_are_dropped_and_counted_and_replies_are_not() {
        let room = Room {
            kept: 10,
            events: 10,
        };
        let (outbox, mut outgoing) = outbox(room);
        for number in 0..5 {
            outbox.offer(&json!({"event": number}));
        }
        assert!(!outbox.is_full());
        for number in 0..3 {
            outbox.send(&json!({"reply": number}));
        }
        assert!(outbox.is_full());
        let dropped = json!({"jsonrpc": "2.0", "method": "events_dropped", "params": {"count": 4}});
        let expected = [
            json!({"event": 0}),
            dropped,
            json!({"reply": 0}),
            json!({"reply": 1}),
            json!({"reply": 2}),
        ];
        assert_eq!(texts(&mut outgoing), expected);
        assert!(!outbox.is_full(), "what was taken makes room");
        outbox.offer(&json!({"event": 5}));
        assert_eq!(texts(&mut outgoing), [json!({"event": 5})]);
    }
}
