//! What happens, as it happens. One closed list, from which progress, notifications, streams and
//! metrics are all made.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::audit::CallId;
use crate::output::Stream;

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
    /// A command printed something.
    Output {
        /// The call.
        call: CallId,
        /// Where to.
        stream: Stream,
        /// What.
        bytes: &'a [u8],
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

/// Where events go.
pub type EventSink = Arc<dyn Fn(&Event<'_>) + Send + Sync>;

/// A sink that nobody listens to.
pub fn nowhere() -> EventSink {
    Arc::new(|_| {})
}
