//! What happens, as it happens. One closed list, from which progress, notifications, streams and
//! metrics are all made.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::audit::CallId;
use crate::engine::Call;
use crate::execution::Latch;
use crate::output::{Delta, Stream};

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Event<'a> {
    /// A call has started. Each has exactly one end.
    Begin {
        /// The call.
        call: CallId,
        /// The tool.
        tool: String,
        /// The command, for a person.
        command: String,
        /// Where it runs.
        cwd: PathBuf,
    },
    /// A command printed something. Pieces are whole characters, and bounded in size and number.
    Output {
        /// The call.
        call: CallId,
        /// Where to.
        stream: Stream,
        /// What.
        text: &'a str,
    },
    /// A command printed more than is told here; the reply and the file have more of it.
    NotStreamed {
        /// The call.
        call: CallId,
        /// How many bytes no piece has.
        bytes: u64,
    },
    /// A command is still running. Told once a second.
    Progress {
        /// The call.
        call: CallId,
        /// For how long.
        elapsed: Duration,
        /// Lines that it has printed.
        lines: u64,
        /// Bytes that it has printed.
        bytes: u64,
    },
    /// A command takes long, and whoever watches may move it to the background.
    CanMove {
        /// The call.
        call: CallId,
        /// Setting this moves it.
        to_background: Latch,
    },
    /// A command that lived on after its call has ended.
    Ended {
        /// The call that started it.
        call: CallId,
        /// Its exit code.
        exit_code: i32,
    },
    /// A script said something.
    Said {
        /// The call that runs the script.
        call: CallId,
        /// In which way.
        tone: Tone,
        /// What.
        text: String,
    },
    /// Something that a person should know and that no result says.
    Notice {
        /// The call.
        call: CallId,
        /// What.
        text: String,
    },
    /// A call has ended.
    End {
        /// The call.
        call: CallId,
        /// The exit code, if a command ran.
        exit_code: Option<i32>,
        /// How long it took.
        duration: Duration,
    },
}

impl<'a> Event<'a> {
    /// The call that it is about.
    pub fn call(&self) -> &CallId {
        match self {
            Self::Begin { call, .. }
            | Self::Output { call, .. }
            | Self::NotStreamed { call, .. }
            | Self::Progress { call, .. }
            | Self::CanMove { call, .. }
            | Self::Ended { call, .. }
            | Self::Notice { call, .. }
            | Self::Said { call, .. }
            | Self::End { call, .. } => call,
        }
    }

    /// The event of a delta.
    pub(crate) fn delta(call: &Call, delta: &Delta<'a>) -> Self {
        let call = call.id.clone();
        match *delta {
            Delta::Text { stream, text } => Self::Output { call, stream, text },
            Delta::NotStreamed { bytes } => Self::NotStreamed { call, bytes },
        }
    }
}

/// In which way a script says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// How it gets on.
    Progress,
    /// What it worries about.
    Warning,
    /// A line of its console.
    Log,
}

impl Tone {
    /// The name used on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Progress => "progress",
            Self::Warning => "warning",
            Self::Log => "log",
        }
    }
}

/// Somebody who is told what happens. It is called on the way of whatever happens: it must not
/// wait, and what takes long belongs on a task of its own.
pub trait Listener: Send + Sync {
    /// Hears of something that happened.
    fn hear(&self, event: &Event<'_>);
}

impl<F: Fn(&Event<'_>) + Send + Sync> Listener for F {
    fn hear(&self, event: &Event<'_>) {
        self(event);
    }
}

/// A listener that makes nothing of it.
pub fn nowhere() -> Arc<dyn Listener> {
    Arc::new(|_: &Event<'_>| {})
}

/// Where events go.
pub(crate) type EventSink = Arc<dyn Fn(&Event<'_>) + Send + Sync>;

/// A sink that all of these hear.
pub(crate) fn all(listeners: Vec<Arc<dyn Listener>>) -> EventSink {
    Arc::new(move |event| listeners.iter().for_each(|listener| listener.hear(event)))
}
