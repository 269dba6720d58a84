//! What the host and the process of one run say to each other.
//!
//! Both sides are one executable, so there is no version to negotiate; neither trusts the other's lengths. Values
//! inside messages stay bytes here: the host reads them with `value`, the worker with the engine's own reader.

mod encoded;
mod frame;

use serde::{Deserialize, Serialize};

use crate::runtime::RealmKind;
use crate::value::Limits;

pub(crate) use encoded::Encoded;
pub(crate) use frame::{FrameError, HEADER, Message};

/// How a call ended: a value, or an error value.
pub(crate) type Ended = Result<Encoded, Encoded>;

/// What the host says to a run.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ToWorker {
    /// Begin; the first frame.
    Run(Box<Job>),
    /// A host function has ended.
    Return { call: u64, ended: Ended },
    /// A promise that was given to the script has settled.
    Settle { promise: u64, ended: Ended },
    /// Call a function of the script.
    Invoke {
        invocation: u64,
        function: u64,
        arguments: Encoded,
    },
    /// The host has dropped its handle on a function of the script.
    Release { function: u64 },
}

/// What a run says to the host.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum FromWorker {
    /// Call a host function; `Return` answers. An asynchronous call says where it was made.
    Call {
        call: u64,
        function: u64,
        arguments: Encoded,
        place: Option<Place>,
    },
    /// A value for the `report` bridge.
    Report { value: Encoded },
    /// A line of the built-in console; `arguments` is an array.
    Log {
        level: u8,
        time: f64,
        arguments: Encoded,
    },
    /// A function of the script that the host called has ended.
    Invoked { invocation: u64, ended: Ended },
    /// The run is over.
    Done(Box<RunReport>),
}

/// Everything that a run needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) source: String,
    pub(crate) filename: String,
    pub(crate) typescript: bool,
    pub(crate) export: String,
    /// An array.
    pub(crate) arguments: Encoded,
    /// An object of objects.
    pub(crate) imports: Encoded,
    /// An object.
    pub(crate) globals: Encoded,
    /// The names in `globals`, checked by the host to be identifiers.
    pub(crate) global_names: Vec<String>,
    pub(crate) modules: Vec<(String, String)>,
    pub(crate) report: bool,
    pub(crate) memory: u64,
    pub(crate) stack: u64,
    pub(crate) message_bytes: u64,
    pub(crate) message_depth: u64,
    pub(crate) message_held: u64,
    pub(crate) log_lines: u64,
    /// What all lines of the console may take together.
    pub(crate) log_bytes: u64,
    /// Lines of the console in a second; 0 for no such limit.
    pub(crate) log_rate: u64,
    pub(crate) reports: u64,
    /// What all reports may take together.
    pub(crate) report_bytes: u64,
    pub(crate) kind: JobKind,
}

/// What a job's source is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum JobKind {
    /// An ES module, of which one export is run.
    #[default]
    Module,
    /// The body of an async function that calls tools.
    ToolScript,
    /// The same, looked at and not run.
    ToolCheck,
}

/// How a run ended, told by its own process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunReport {
    pub(crate) status: RunStatus,
    pub(crate) result: Encoded,
    pub(crate) error: Option<Fault>,
    pub(crate) peak: u64,
    pub(crate) dropped_logs: u64,
    /// Rejections that nobody handled, and how many more there were.
    pub(crate) unhandled: Vec<Fault>,
    pub(crate) unhandled_left_out: u64,
    /// Calls of host functions that were under way when the run ended.
    pub(crate) dropped_calls: Vec<DroppedCall>,
    /// What is told of a result that was too large to cross.
    pub(crate) oversize: Option<Oversize>,
}

/// A call of a host function whose end the script did not learn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct DroppedCall {
    pub(crate) function: String,
    pub(crate) place: Option<Place>,
    /// Its first argument, if that is a whole number: by it a host of tools knows its calls.
    pub(crate) number: Option<u64>,
}

/// A place in the script's source, counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// A result that was too large to cross.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Oversize {
    /// Its size in bytes; of one that is far too large, what was counted until the counting was given up.
    pub bytes: u64,
    /// How it begins, as text.
    pub preview: String,
}

/// How a run ended, in a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RunStatus {
    #[default]
    Success,
    Error,
    /// Its memory was used up.
    Memory,
    /// Its modules could not be put together.
    LinkError,
}

/// The fields of a `CodeExecutionError`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fault {
    pub(crate) name: String,
    pub(crate) message: String,
    pub(crate) stack: Option<String>,
    pub(crate) specifier: Option<String>,
    pub(crate) filename: Option<String>,
    pub(crate) line: Option<u64>,
    pub(crate) column: Option<u64>,
    /// In a tool script: 0 for an error of the script's own, 1 for one of the harness, and from 2 on the number of
    /// the tool call that failed.
    pub(crate) mark: u64,
}

impl Job {
    /// The realm that it runs in.
    pub(crate) fn realm(&self) -> RealmKind {
        match self.kind {
            JobKind::Module => RealmKind::Module,
            JobKind::ToolScript | JobKind::ToolCheck => RealmKind::ToolScript,
        }
    }

    pub(crate) fn limits(&self) -> Limits {
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Limits {
            bytes: size(self.message_bytes),
            depth: size(self.message_depth),
            held: size(self.message_held),
        }
    }
}
