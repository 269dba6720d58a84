//! Stacks: from the engine's text to the lines of the source that was written, without a frame of ours.

use super::modules::Graph;
use super::quickjs::{Kind, Val};
use super::run_state::RunState;
use crate::protocol::Place;
use crate::typescript::Position;

/// Frames that are read of one stack.
const MOST_FRAMES: usize = 50;
/// Classes of an error that are looked at.
const MOST_CLASSES: usize = 8;

/// One line of a stack that belongs to the script.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    function: Option<String>,
    pub(crate) place: Place,
}

/// The frames of a stack in the engine's text.
pub(crate) fn frames(text: &str, graph: &Graph) -> Vec<Frame> {
    let lines = text.lines().take(MOST_FRAMES);
    lines
        .filter_map(|line| Frame::parse(line, |file, at| graph.origin(file, at), graph))
        .collect()
}

/// The first place of a stack in the engine's text.
pub(crate) fn top(text: &str, graph: &Graph) -> Option<Place> {
    let mut lines = text.lines().take(MOST_FRAMES);
    let frame =
        lines.find_map(|line| Frame::parse(line, |file, at| graph.origin(file, at), graph))?;
    Some(frame.place)
}

/// The first place of a stack as scripts see it.
pub(crate) fn top_of_shown(text: &str, graph: &Graph) -> Option<Place> {
    let mut lines = text.lines().take(MOST_FRAMES);
    let frame = lines.find_map(|line| Frame::parse(line, |_, at| Some(at), graph))?;
    Some(frame.place)
}

/// The frames of an error: those of its own `stack` if it was given one, else where it was made, the constructors of
/// its classes left out.
pub(crate) fn of_error(error: &Val, run: &RunState) -> Vec<Frame> {
    let graph = run.graph.borrow();
    if error.has_own("stack").unwrap_or(false) {
        let shown = error.get(c"stack").ok().and_then(|text| text.string());
        let shown = shown.unwrap_or_default();
        let lines = shown.lines().take(MOST_FRAMES);
        return lines
            .filter_map(|line| Frame::parse(line, |_, at| Some(at), &graph))
            .collect();
    }
    let raw = run.primordials.stack.call(error, &[]).ok();
    let raw = raw.and_then(|text| text.string()).unwrap_or_default();
    let mut frames = frames(&raw, &graph);
    drop(graph);
    let classes = class_names(error);
    let made_by = |frame: &Frame| {
        let function = frame.function.as_ref();
        function.is_some_and(|function| classes.contains(function))
    };
    let own = frames.iter().take_while(|frame| made_by(frame)).count();
    if own < frames.len() {
        frames.drain(..own);
    }
    frames
}

/// The names of an error's classes.
fn class_names(error: &Val) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = error.prototype();
    while let Some(prototype) = at.filter(|_| names.len() < MOST_CLASSES) {
        let constructor = prototype.get(c"constructor").ok();
        let name = constructor
            .filter(Val::is_function)
            .and_then(|class| class.get(c"name").ok());
        names.extend(name.and_then(|name| name.string()));
        at = prototype.prototype();
    }
    names
}

/// The text of a stack: what happened, and where.
pub(crate) fn text(name: &str, message: &str, frames: &[Frame]) -> String {
    let mut text = header(name, message);
    for frame in frames {
        text.push_str(&frame.text());
    }
    text
}

/// The first line of a stack.
pub(crate) fn header(name: &str, message: &str) -> String {
    match (name, message) {
        ("", message) => message.to_owned(),
        (name, "") => name.to_owned(),
        (name, message) => format!("{name}: {message}"),
    }
}

/// The text that `error.stack` gives.
pub(crate) fn shown(error: &Val, run: &RunState) -> String {
    let field = |key| match error.get(key) {
        Ok(text) if text.kind() == Kind::String => text.string(),
        _ => None,
    };
    let name = field(c"name").unwrap_or_else(|| "Error".to_owned());
    let message = field(c"message").unwrap_or_default();
    text(&name, &message, &of_error(error, run))
}

impl Frame {
    /// Reads `    at name (file:line:column)` or `    at file:line:column`; other lines are not the script's.
    fn parse(
        line: &str,
        origin: impl Fn(&str, Position) -> Option<Position>,
        graph: &Graph,
    ) -> Option<Self> {
        let rest = line.trim_start().strip_prefix("at ")?;
        let (function, place) = match rest.rsplit_once(" (") {
            Some((function, place)) => (Some(function), place.strip_suffix(')')?),
            None => (None, rest),
        };
        let (place, column) = place.rsplit_once(':')?;
        let (file, line) = place.rsplit_once(':')?;
        let at = Position {
            line: line.parse().ok()?,
            column: column.parse().ok()?,
        };
        if !graph.knows(file) {
            return None;
        }
        let at = origin(file, at)?;
        let function = function
            .filter(|name| *name != "<anonymous>")
            .map(str::to_owned);
        let place = Place {
            file: file.to_owned(),
            line: at.line,
            column: at.column,
        };
        Some(Self { function, place })
    }

    fn text(&self) -> String {
        let Place { file, line, column } = &self.place;
        match &self.function {
            Some(function) => format!("\n    at {function} ({file}:{line}:{column})"),
            None => format!("\n    at {file}:{line}:{column}"),
        }
    }
}
