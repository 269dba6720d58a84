//! What a run says while it runs: lines of the console and reports, each within a number and a total size.
//!
//! A line that is too long is cut; a report that does not fit any more is an error of the script.

use std::cell::Cell;

use super::clone_out::{self, Functions};
use super::globals;
use super::preview;
use super::quickjs::{Kind, Thrown, Val};
use super::run_state::RunState;
use crate::protocol::{FromWorker, Job};
use crate::value::Limits;

/// What one line of the console may take.
const LONGEST_LINE: usize = 64 << 10;
/// A line that has less room than this is dropped.
const SHORTEST_LINE: usize = 1 << 10;
/// Letters of a text that take the place of what is too large for a line.
const LONGEST_PREVIEW: usize = 4 << 10;

/// The room that is left.
pub(crate) struct Outlet {
    log_lines: Cell<u64>,
    log_bytes: Cell<usize>,
    log_rate: LogRate,
    dropped_logs: Cell<u64>,
    reports: Cell<u64>,
    report_bytes: Cell<usize>,
}

/// Lines of the console in the second that began at a time.
struct LogRate {
    most: u64,
    began: Cell<f64>,
    lines: Cell<u64>,
}

impl LogRate {
    fn admits(&self) -> bool {
        let now = globals::now();
        if self.most == 0 {
            return true;
        }
        if now - self.began.get() >= 1000.0 {
            self.began.set(now);
            self.lines.set(0);
        }
        self.lines.set(self.lines.get() + 1);
        self.lines.get() <= self.most
    }
}

impl Outlet {
    pub(crate) fn new(job: &Job) -> Self {
        let size = |number: u64| Cell::new(usize::try_from(number).unwrap_or(usize::MAX));
        Self {
            log_lines: Cell::new(job.log_lines),
            log_bytes: size(job.log_bytes),
            log_rate: LogRate {
                most: job.log_rate,
                began: Cell::new(0.0),
                lines: Cell::new(0),
            },
            dropped_logs: Cell::new(0),
            reports: Cell::new(job.reports),
            report_bytes: size(job.report_bytes),
        }
    }

    /// Lines of the console that the limits dropped.
    pub(crate) fn dropped_logs(&self) -> u64 {
        self.dropped_logs.get()
    }

    /// Room for one more line, if there is.
    fn line(&self) -> Option<usize> {
        let lines = self.log_lines.get().checked_sub(1)?;
        let room = self.log_bytes.get().min(LONGEST_LINE);
        if room < SHORTEST_LINE || !self.log_rate.admits() {
            return None;
        }
        self.log_lines.set(lines);
        Some(room)
    }
}

impl RunState {
    /// Sends a line of the built-in console, if the limits allow one more.
    pub(crate) fn log(&self, level: u8, arguments: &[Val]) -> Result<(), Thrown> {
        let outlet = &self.outlet;
        let Some(room) = outlet.line() else {
            outlet.dropped_logs.set(outlet.dropped_logs.get() + 1);
            return Ok(());
        };
        let limits = Limits {
            bytes: self.limits.bytes.min(room),
            held: room,
            ..self.limits
        };
        let describe = |values: &[Val]| {
            clone_out::weighed_list_out(values, &self.primordials, limits, Functions::Describe)
        };
        let (bytes, weight) = if let Ok(line) = describe(arguments) {
            line
        } else {
            let cut = self.cut_line(arguments, room)?;
            let line = describe(&[cut]);
            line.map_err(|fault| fault.into_thrown(&self.realm, "console"))?
        };
        outlet
            .log_bytes
            .set(outlet.log_bytes.get().saturating_sub(weight));
        self.tell(&FromWorker::Log {
            level,
            time: globals::now(),
            arguments: bytes.into(),
        })
    }

    /// The beginning of a line as one text.
    fn cut_line(&self, arguments: &[Val], room: usize) -> Result<Val, Thrown> {
        let most = if arguments.iter().all(|word| word.kind() == Kind::String) {
            room / 4
        } else {
            (room / 4).min(LONGEST_PREVIEW)
        };
        let mut text = String::new();
        for (at, word) in arguments.iter().enumerate() {
            if at > 0 {
                text.push(' ');
            }
            match word.string() {
                Some(word) => text.push_str(&word),
                None => text.push_str(&preview::of(word, most)),
            }
            if text.len() > most {
                break;
            }
        }
        let whole = text.len();
        text.truncate(text.floor_char_boundary(most));
        if whole > text.len() {
            text.push_str("… (the line was cut)");
        }
        self.realm.string(&text)
    }

    /// Sends a value to the `report` bridge.
    pub(crate) fn report(&self, value: &Val) -> Result<(), Thrown> {
        let outlet = &self.outlet;
        let Some(left) = outlet.reports.get().checked_sub(1) else {
            return Err(self
                .realm
                .error("RangeError", "no more reports are taken from this run"));
        };
        let room = outlet.report_bytes.get();
        let limits = Limits {
            held: self.limits.held.min(room),
            ..self.limits
        };
        let (value, weight) =
            clone_out::weighed_out(value, &self.primordials, limits, Functions::Refuse)
                .map_err(|fault| fault.into_thrown(&self.realm, "report"))?;
        outlet.reports.set(left);
        outlet.report_bytes.set(room.saturating_sub(weight));
        self.tell(&FromWorker::Report {
            value: value.into(),
        })
    }
}
