//! What happens, as it happens. One closed list, from which progress, notifications, streams and
//! metrics are all made.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ringfence_dialect::LogLevel;
use ringfence_policy::classify::Class;

use crate::audit::{Answer, CallId, Decision, Outcome};
use crate::config::ScriptMode;
use crate::denial::DenialKind;
use crate::engine::Call;
use crate::execution::{Ending, Latch};
use crate::limit::LimitHit;
use crate::output::{Delta, Stream};

/// The id of one turn of a model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TurnId(pub String);

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A command's run, once it is over.
#[derive(Debug, Clone)]
pub struct CommandRun {
    /// What held it.
    pub fence: &'static str,
    /// How it came to its end; nothing if it was lost with its warden.
    pub ending: Option<Ending>,
    /// Its exit code, if it was not lost.
    pub exit_code: Option<i32>,
    /// How long it ran.
    pub duration: Duration,
    /// The CPU time that it and its children used.
    pub cpu: Duration,
    /// The largest resident set of any one of its processes, in bytes.
    pub max_rss_bytes: u64,
    /// What it printed to its standard output, in bytes.
    pub stdout_bytes: u64,
    /// The same for its standard error.
    pub stderr_bytes: u64,
    /// What the fence refused it.
    pub denials: Vec<DenialKind>,
    /// The limits that it hit.
    pub limits_hit: Vec<LimitHit>,
}

/// Something that happened. What is about a session as a whole has its id in the place of a call's.
#[derive(Debug, Clone)]
pub enum Event<'a> {
    /// A session can take calls.
    Opened {
        /// The session.
        call: CallId,
        /// How long it took to open it.
        took: Duration,
    },
    /// What a model said in one turn is worked through. Each has exactly one end.
    TurnBegin {
        /// The session.
        call: CallId,
        /// The turn.
        turn: TurnId,
    },
    /// It has been worked through, or given up.
    TurnEnd {
        /// The session.
        call: CallId,
        /// The turn.
        turn: TurnId,
        /// How long it took.
        duration: Duration,
    },
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
        /// The call that made it, if that is a script's.
        parent: Option<CallId>,
        /// The turn that it is part of, where there is one.
        turn: Option<TurnId>,
    },
    /// A call is being judged.
    Judging {
        /// The call.
        call: CallId,
    },
    /// It was judged. A second try of a command is judged anew.
    Judged {
        /// The call.
        call: CallId,
        /// What came of it.
        verdict: Decision,
        /// The class of a command.
        class: Option<Class>,
        /// The rule that decided, as file and line.
        rule: Option<String>,
        /// How long it took, where this is the one time.
        took: Option<Duration>,
    },
    /// Somebody is asked about it.
    Asked {
        /// The call.
        call: CallId,
    },
    /// The question is over.
    Answered {
        /// The call.
        call: CallId,
        /// The answer; nothing if the question was withdrawn.
        answer: Option<Answer>,
        /// For how long it waited.
        waited: Duration,
    },
    /// A permitted command is being launched.
    Launching {
        /// The call.
        call: CallId,
    },
    /// It runs.
    Launched {
        /// The call.
        call: CallId,
        /// What holds it.
        fence: &'static str,
        /// How long the launch took.
        took: Duration,
    },
    /// A command's run is over, in the foreground or after its call.
    Ran {
        /// The call that started it.
        call: CallId,
        /// The run.
        run: &'a CommandRun,
    },
    /// A script was not run, as its mode says.
    NotRun {
        /// The call.
        call: CallId,
        /// The mode.
        mode: ScriptMode,
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
        /// The tool.
        tool: String,
        /// The exit code, if a command ran.
        exit_code: Option<i32>,
        /// How long it took.
        duration: Duration,
        /// How it ended.
        outcome: Outcome,
        /// Why, if it did not end well and there is a code for it.
        error: Option<String>,
    },
}

impl<'a> Event<'a> {
    /// The call that it is about.
    pub fn call(&self) -> &CallId {
        match self {
            Self::Opened { call, .. }
            | Self::TurnBegin { call, .. }
            | Self::TurnEnd { call, .. }
            | Self::Begin { call, .. }
            | Self::Judging { call, .. }
            | Self::Judged { call, .. }
            | Self::Asked { call, .. }
            | Self::Answered { call, .. }
            | Self::Launching { call, .. }
            | Self::Launched { call, .. }
            | Self::Ran { call, .. }
            | Self::NotRun { call, .. }
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

    /// Where a script stands by it, if it is the beginning or the end of one.
    pub fn script_phase(&self) -> Option<&'static str> {
        match self {
            Self::Begin { tool, .. } if tool == "run_script" => Some("script_started"),
            Self::End { tool, outcome, .. } if tool == "run_script" => Some(match outcome {
                Outcome::Ok => "script_completed",
                Outcome::TimedOut => "script_timed_out",
                Outcome::Cancelled | Outcome::Abandoned => "script_cancelled",
                Outcome::Failed | Outcome::Refused => "script_error",
            }),
            _ => None,
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
    /// A line of its console, printed by this method.
    Log(LogLevel),
}

impl Tone {
    /// The name used on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Progress => "progress",
            Self::Warning => "warning",
            Self::Log(_) => "log",
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
