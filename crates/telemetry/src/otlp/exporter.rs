//! The exporter: a thread of its own that collects finished spans, looks at the metrics now and then, and sends both.
//!
//! Whoever finishes a span puts it into a queue of bounded length and goes on. What there is no room for, and what the
//! collector does not take, is dropped and counted.

use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until};

use super::message;
use super::post::{Failure, Poster};
use super::settings::Settings;
use crate::names::Id;
use crate::registry::Registry;
use crate::span::Span;
use crate::telemetry::{Detail, Telemetry, look_at_process};
use ringfence::audit::Redactor;

/// As many spans wait to be taken up, and as many to be sent.
const ROOM: usize = 2_048;
/// As many are sent at once.
const BATCH: usize = 512;

/// Exports what a [`Telemetry`] hears.
pub struct Exporter {
    telemetry: Arc<Telemetry>,
    orders: mpsc::UnboundedSender<SyncSender<()>>,
    trouble: Arc<Mutex<Option<String>>>,
    place: String,
}

/// What no collector got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    /// Where the collector would be.
    pub place: String,
    /// What was the matter last.
    pub why: String,
}

impl Exporter {
    /// Starts exporting. The thread ends with the program.
    pub fn start(settings: Settings, detail: Detail, redactor: Redactor) -> std::io::Result<Self> {
        let telemetry = Telemetry::new();
        let registry = Arc::clone(telemetry.registry());
        let (send, spans) = mpsc::channel(ROOM);
        let (orders, ordered) = mpsc::unbounded_channel();
        let trouble = Arc::new(Mutex::new(None));
        let telemetry = if settings.traces.is_some() {
            let registry = Arc::clone(&registry);
            telemetry.with_spans(detail, redactor, move |span| {
                // Counted first: whoever takes it up counts it off, and there are never fewer than none.
                registry.move_by(Id::Queue, 1);
                if send.try_send(span).is_err() {
                    registry.move_by(Id::Queue, -1);
                    registry.count(Id::Dropped, &["queue_full"], 1);
                }
            })
        } else {
            telemetry
        };
        let place = settings.place();
        let work = Work {
            metrics_since: SystemTime::now(),
            poster: Poster::default(),
            buffer: Vec::new(),
            trouble: Arc::clone(&trouble),
            settings,
            registry,
        };
        std::thread::Builder::new()
            .name("telemetry".to_owned())
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                if let Ok(runtime) = runtime {
                    runtime.block_on(work.go_on(spans, ordered));
                }
            })?;
        Ok(Self {
            telemetry: Arc::new(telemetry),
            orders,
            trouble,
            place,
        })
    }

    /// The listener whose findings are exported.
    pub fn telemetry(&self) -> &Arc<Telemetry> {
        &self.telemetry
    }

    /// Sends what there is, and waits for that no longer than so. Says what could not be delivered.
    pub fn finish(&self, within: Duration) -> Result<(), Undelivered> {
        let undelivered = |why: String| Undelivered {
            place: self.place.clone(),
            why,
        };
        let (done, wait) = sync_channel(1);
        if self.orders.send(done).is_err() {
            return Err(undelivered("the exporter has ended".to_owned()));
        }
        if let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(within) {
            return Err(undelivered("no answer in time".to_owned()));
        }
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.clone().map_or(Ok(()), |why| Err(undelivered(why)))
    }
}

/// What the thread does.
struct Work {
    settings: Settings,
    registry: Arc<Registry>,
    poster: Poster,
    metrics_since: SystemTime,
    /// Spans that are to be sent.
    buffer: Vec<Span>,
    trouble: Arc<Mutex<Option<String>>>,
}

impl Work {
    async fn go_on(
        mut self,
        mut spans: mpsc::Receiver<Span>,
        mut orders: mpsc::UnboundedReceiver<SyncSender<()>>,
    ) {
        let every = self.settings.metric_interval.max(Duration::from_millis(10));
        let mut ticks = interval_at(Instant::now() + every, every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut due: Option<Instant> = None;
        loop {
            let send_at = due.unwrap_or_else(|| Instant::now() + Duration::from_hours(1));
            tokio::select! {
                // An order comes first: somebody waits.
                biased;
                order = orders.recv() => {
                    let Some(order) = order else { return };
                    while let Ok(span) = spans.try_recv() {
                        self.take(span);
                    }
                    self.send_metrics().await;
                    self.send_spans().await;
                    due = None;
                    let _ = order.send(());
                }
                Some(span) = spans.recv() => {
                    self.take(span);
                    due.get_or_insert_with(|| Instant::now() + self.settings.span_delay);
                }
                () = sleep_until(send_at), if due.is_some() => {
                    self.send_spans().await;
                    due = (!self.buffer.is_empty()).then(|| Instant::now() + self.settings.span_delay);
                }
                _ = ticks.tick() => self.send_metrics().await,
            }
        }
    }

    fn take(&mut self, span: Span) {
        if self.buffer.len() >= ROOM {
            self.registry.move_by(Id::Queue, -1);
            self.registry.count(Id::Dropped, &["unreachable"], 1);
            return;
        }
        self.buffer.push(span);
    }

    async fn send_spans(&mut self) {
        let Some(url) = self.settings.traces.clone() else {
            return;
        };
        while !self.buffer.is_empty() {
            let batch = self.buffer.len().min(BATCH);
            let body = message::spans(&self.settings.resource, &self.buffer[..batch]);
            match self.poster.post(&url, &self.settings, body).await {
                Ok(()) => self.note(None),
                Err(Failure::Refused(why)) => {
                    self.note(Some(why));
                    self.registry.count(Id::Dropped, &["refused"], batch as u64);
                }
                // Another time: they stay where they are.
                Err(Failure::Unreachable(why)) => return self.note(Some(why)),
            }
            self.buffer.drain(..batch);
            let sent = i64::try_from(batch).unwrap_or_default();
            self.registry.move_by(Id::Queue, -sent);
        }
    }

    async fn send_metrics(&mut self) {
        let Some(url) = self.settings.metrics.clone() else {
            return;
        };
        look_at_process(&self.registry);
        let all = self.registry.snapshot();
        let body = message::metrics(&self.settings.resource, &all, self.metrics_since);
        // They are sums: what is not delivered now is in what comes next.
        match self.poster.post(&url, &self.settings, body).await {
            Ok(()) => self.note(None),
            Err(Failure::Refused(why) | Failure::Unreachable(why)) => self.note(Some(why)),
        }
    }

    fn note(&self, trouble: Option<String>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }
}
