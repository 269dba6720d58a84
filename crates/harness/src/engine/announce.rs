//! The beginning and the end of a call, each told exactly once, whatever happens in between.

use std::sync::Arc;
use std::time::Instant;

use ringfence_policy::action::Action;

use super::desk::Desk;
use super::{Call, subject};
use crate::audit::CallId;
use crate::event::Event;

/// A call whose beginning has been told. Its end is told when this goes, in whichever way: a call
/// that is dropped half-way has an end too.
pub(crate) struct Announced {
    desk: Arc<Desk>,
    call: CallId,
    started: Instant,
    exit_code: Option<i32>,
}

impl Announced {
    /// Tells the beginning of a call that does something.
    pub(super) fn action(desk: &Arc<Desk>, call: &Call, action: &Action) -> Self {
        let cwd = match action {
            Action::RunCommand(command) => &command.cwd,
            Action::SearchFiles(search) => &search.root,
            _ => &desk.ground.cwd,
        };
        let begin = Event::Begin {
            call: call.id.clone(),
            tool: action.tool().to_owned(),
            command: subject(action),
            cwd: cwd.clone(),
        };
        Self::of(desk, call, &begin)
    }

    /// Tells the beginning of a call that only looks.
    pub(crate) fn of(desk: &Arc<Desk>, call: &Call, begin: &Event<'_>) -> Self {
        desk.tell(begin);
        Self {
            desk: Arc::clone(desk),
            call: call.id.clone(),
            started: Instant::now(),
            exit_code: None,
        }
    }

    /// Tells the end.
    pub(crate) fn end(mut self, exit_code: Option<i32>) {
        self.exit_code = exit_code;
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        self.desk.tell(&Event::End {
            call: self.call.clone(),
            exit_code: self.exit_code,
            duration: self.started.elapsed(),
        });
    }
}
