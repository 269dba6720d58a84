//! The beginning and the end of a call, each told exactly once, whatever happens in between.

use std::time::Instant;

use ringfence_policy::action::RunCommand;

use super::{Call, Desk};
use crate::event::Event;

/// A call whose beginning has been told. Its end is told when this goes, in whichever way: a call
/// that is dropped half-way has an end too.
pub(crate) struct Announced<'a> {
    desk: &'a Desk,
    call: &'a Call,
    started: Instant,
    exit_code: Option<i32>,
}

impl<'a> Announced<'a> {
    /// Tells the beginning of a call that runs a command.
    pub(crate) fn begin(desk: &'a Desk, call: &'a Call, command: &RunCommand) -> Self {
        Self::of(
            desk,
            call,
            &Event::Begin {
                call: call.id.clone(),
                tool: command.tool.clone(),
                command: command.line.display(),
                cwd: command.cwd.clone(),
            },
        )
    }

    /// Tells the beginning of any call.
    pub(crate) fn of(desk: &'a Desk, call: &'a Call, begin: &Event<'_>) -> Self {
        desk.tell(begin);
        Self {
            desk,
            call,
            started: Instant::now(),
            exit_code: None,
        }
    }

    /// Tells the end.
    pub(crate) fn end(mut self, exit_code: Option<i32>) {
        self.exit_code = exit_code;
    }
}

impl Drop for Announced<'_> {
    fn drop(&mut self) {
        self.desk.tell(&Event::End {
            call: self.call.id.clone(),
            exit_code: self.exit_code,
            duration: self.started.elapsed(),
        });
    }
}
