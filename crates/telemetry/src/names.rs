//! The names: every metric and every span, once, with what it says. Code and the reference page are made from here.

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A sum that only grows.
    Counter,
    /// How much there is now.
    Gauge,
    /// How often something was at most so much.
    Histogram(&'static [f64]),
}

impl Kind {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram(_) => "histogram",
        }
    }
}

/// One metric.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// What it counts, in UCUM.
    pub unit: &'static str,
    /// What it is told apart by.
    pub labels: &'static [&'static str],
    /// What it says.
    pub doc: &'static str,
}

/// Seconds, from a fast launch to a long build.
const SECONDS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
    300.0, 1800.0,
];
/// Seconds of what should take no time.
const FRACTIONS: &[f64] = &[
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05,
    0.25, 1.0,
];
/// Bytes of memory.
const BYTES: &[f64] = &[
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
    268_435_456.0,
    1_073_741_824.0,
    4_294_967_296.0,
    17_179_869_184.0,
];

macro_rules! metrics {
    ($($id:ident = $name:literal, $kind:expr, $unit:literal, [$($label:literal),*], $doc:literal;)+) => {
        /// A metric by its place in the table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Id { $($id,)+ }

        /// Every metric.
        pub const METRICS: &[Metric] = &[$(Metric {
            name: $name,
            kind: $kind,
            unit: $unit,
            labels: &[$($label),*],
            doc: $doc,
        },)+];
    };
}

use Kind::{Counter, Gauge, Histogram};

metrics! {
    Executions = "bash.executions", Counter, "{run}", ["tool", "sandbox.type", "exit_code"],
        "Commands that ran, by whichever tool. `exit_code` is `lost` where the fence went away beneath the command.";
    Duration = "bash.duration", Histogram(SECONDS), "s", ["tool", "sandbox.type"],
        "How long they ran.";
    CommandCpu = "ringfence.command.cpu", Histogram(SECONDS), "s", ["tool"],
        "CPU time that they and their children used.";
    CommandMemory = "ringfence.command.memory", Histogram(BYTES), "By", ["tool"],
        "The largest resident set of any one process of theirs.";
    CommandOutput = "ringfence.command.output", Counter, "By", ["stream"],
        "What they printed.";
    CommandsRunning = "ringfence.commands.running", Gauge, "{run}", [],
        "Commands that run now, in the foreground or the background.";
    CommandsEnded = "ringfence.commands.ended", Counter, "{run}", ["ending"],
        "How they came to their end: `exited`, `timed_out`, `fell_silent`, `cancelled` or `lost`.";
    Launch = "ringfence.launch.duration", Histogram(SECONDS), "s", ["sandbox.type"],
        "From the permit to the command's first instruction.";
    Calls = "ringfence.calls", Counter, "{call}", ["tool", "outcome", "error"],
        "Tool calls that have ended, by how and, where there is one, by the code of the error.";
    CallDuration = "ringfence.call.duration", Histogram(SECONDS), "s", ["tool", "outcome"],
        "How long they took, questions included.";
    CallsActive = "ringfence.calls.active", Gauge, "{call}", [],
        "Calls that have begun and not ended.";
    Verdicts = "ringfence.verdicts", Counter, "{verdict}", ["verdict", "class", "rule"],
        "Verdicts, by the class of the command and the rule that decided (file and line).";
    Judging = "ringfence.judge.duration", Histogram(FRACTIONS), "s", ["verdict"],
        "How long judging took.";
    Approvals = "approval.requested", Counter, "{question}", ["tool", "approved"],
        "Questions that somebody was asked, by how they ended: `approved`, `approved_for_session`, `approved_with_rule`, `denied`, `aborted`, `timed_out` or `withdrawn`.";
    ApprovalWait = "ringfence.approval.wait", Histogram(SECONDS), "s", ["approved"],
        "How long they waited for that.";
    ApprovalsPending = "ringfence.approvals.pending", Gauge, "{question}", [],
        "Questions that wait for their answer.";
    Denials = "ringfence.fence.denials", Counter, "{denial}", ["kind"],
        "What the fence refused: `write`, `read`, `network`, `host`, `socket`, `system_call` or `git_setup`.";
    LimitsHit = "ringfence.limits.hit", Counter, "{hit}", ["limit"],
        "Limits that commands hit, by their setting.";
    Scripts = "ringfence.scripts", Counter, "{script}", ["tool", "status"],
        "Scripts that ran, by how they ended: as an outcome of the audit log.";
    ScriptsDisabled = "ringfence.scripts.disabled", Counter, "{script}", [],
        "Scripts that were not run because `script.mode` is `disabled`.";
    ScriptsDryRun = "ringfence.scripts.dry_run", Counter, "{script}", [],
        "Scripts that were checked and not run because it is `dry-run`.";
    Turns = "ringfence.turn.duration", Histogram(SECONDS), "s", [],
        "How long it took to work through what a model said in one turn.";
    Opening = "ringfence.session.open.duration", Histogram(SECONDS), "s", [],
        "How long it took to open a session: the cost of starting up.";
    ProcessMemory = "process.memory.usage", Gauge, "By", [],
        "The resident memory of this program, when somebody looks.";
    Dropped = "ringfence.telemetry.dropped", Counter, "{span}", ["reason"],
        "Spans that no collector got: `queue_full`, `refused` or `unreachable`.";
    Queue = "ringfence.telemetry.queue", Gauge, "{span}", [],
        "Spans that wait to be exported.";
}

impl Id {
    pub(crate) fn metric(self) -> &'static Metric {
        // The table and the ids are made from one list.
        &METRICS[self as usize]
    }
}

/// One kind of span.
#[derive(Debug, Clone, Copy)]
pub struct SpanName {
    /// Its name.
    pub name: &'static str,
    /// What it is part of.
    pub within: &'static str,
    /// What it tells besides its time.
    pub attributes: &'static [&'static str],
    /// What it says.
    pub doc: &'static str,
}

pub(crate) const TURN: &str = "turn";
pub(crate) const CALL: &str = "call";
pub(crate) const JUDGE: &str = "judge";
pub(crate) const ASK: &str = "ask";
pub(crate) const LAUNCH: &str = "launch";
pub(crate) const RUN: &str = "bash.execute";

/// Every span.
pub const SPANS: &[SpanName] = &[
    SpanName {
        name: TURN,
        within: "",
        attributes: &["ringfence.session", "ringfence.turn"],
        doc: "What a model said in one turn is worked through.",
    },
    SpanName {
        name: CALL,
        within: "turn, or the call of the script that made it",
        attributes: &[
            "ringfence.session",
            "ringfence.call",
            "tool",
            "command.hash",
            "command.length",
            "command.text",
            "output.preview",
            "outcome",
            "exit_code",
            "error.type",
        ],
        doc: "One tool call, from its beginning to its end.",
    },
    SpanName {
        name: JUDGE,
        within: "call",
        attributes: &["ringfence.call", "verdict", "class", "rule"],
        doc: "It is judged.",
    },
    SpanName {
        name: ASK,
        within: "call",
        attributes: &["ringfence.call", "approved"],
        doc: "Somebody is asked, until there is an answer.",
    },
    SpanName {
        name: LAUNCH,
        within: "call",
        attributes: &["ringfence.call", "sandbox.type"],
        doc: "The fence is made ready and the command started in it.",
    },
    SpanName {
        name: RUN,
        within: "call",
        attributes: &[
            "ringfence.call",
            "sandbox.type",
            "exit_code",
            "ending",
            "cpu.seconds",
            "memory.bytes",
            "denials",
        ],
        doc: "The command runs, also beyond the end of its call.",
    },
];
