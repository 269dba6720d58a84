//! From what a script threw to the fields of an error: name, message, and a stack with the positions of the
//! source as it was written.

use super::modules::Graph;
use super::quickjs::{Kind, Val};
use crate::protocol::Fault;
use crate::typescript::Position;

/// Text beyond this is cut: an error is a message, not a channel.
const LONGEST_TEXT: usize = 16 << 10;
const MOST_FRAMES: usize = 50;

/// Describes a thrown value. Properties that are not plain strings are left out.
pub(crate) fn describe(thrown: &Val, graph: &Graph) -> Fault {
    if thrown.kind() != Kind::Object || !thrown.is_error() {
        return Fault {
            name: "Error".to_owned(),
            message: uncaught(thrown),
            ..Fault::default()
        };
    }
    let field = |key| thrown.get(key).ok().and_then(|text| text.string());
    let name = field(c"name").unwrap_or_else(|| "Error".to_owned());
    let message = field(c"message").unwrap_or_default();
    let frames: Vec<Frame> = field(c"stack")
        .map(|stack| {
            stack
                .lines()
                .take(MOST_FRAMES)
                .filter_map(|line| Frame::parse(line, graph))
                .collect()
        })
        .unwrap_or_default();
    let top = frames.iter().find_map(|frame| frame.place.clone());
    let mut stack = format!("{name}: {message}");
    for frame in &frames {
        stack.push_str(&frame.text());
    }
    Fault {
        name: cut(name),
        message: cut(message),
        stack: Some(cut(stack)),
        specifier: None,
        filename: top.as_ref().map(|(file, _)| file.clone()),
        line: top.as_ref().map(|(_, at)| at.line.into()),
        column: top.as_ref().map(|(_, at)| at.column.into()),
        mark: 0,
    }
}

/// The first place of a stack that belongs to the script.
pub(crate) fn top(stack: &str, graph: &Graph) -> Option<Position> {
    let mut frames = stack.lines().take(MOST_FRAMES);
    let frame = frames.find_map(|line| Frame::parse(line, graph))?;
    frame.place.map(|(_, at)| at)
}

/// The message for a thrown value that is no error.
fn uncaught(thrown: &Val) -> String {
    let text = match thrown.kind() {
        Kind::Object => {
            let message = thrown
                .get(c"message")
                .ok()
                .and_then(|message| message.string());
            message
                .or_else(|| json_text(thrown))
                .unwrap_or_else(|| "[object]".to_owned())
        }
        Kind::Symbol => "Symbol()".to_owned(),
        _ => match thrown.text() {
            Ok(super::quickjs::Text::Utf8(text)) => text,
            Ok(super::quickjs::Text::Utf16(units)) => String::from_utf16_lossy(&units),
            Err(_) => "[unprintable]".to_owned(),
        },
    };
    cut(text)
}

fn json_text(value: &Val) -> Option<String> {
    let json = value.realm().global().get(c"JSON").ok()?;
    json.get(c"stringify")
        .ok()?
        .call(&json, std::slice::from_ref(value))
        .ok()?
        .string()
}

fn cut(mut text: String) -> String {
    if text.len() > LONGEST_TEXT {
        let end = (0..=LONGEST_TEXT)
            .rev()
            .find(|&at| text.is_char_boundary(at))
            .unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

/// One line of a stack that belongs to the script.
struct Frame {
    function: Option<String>,
    place: Option<(String, Position)>,
}

impl Frame {
    /// Reads `    at name (file:line:column)` or `    at file:line:column`; other lines are not shown.
    fn parse(line: &str, graph: &Graph) -> Option<Self> {
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
        let function = function
            .filter(|name| *name != "<anonymous>")
            .map(str::to_owned);
        Some(Self {
            function,
            place: Some((file.to_owned(), graph.origin(file, at)?)),
        })
    }

    fn text(&self) -> String {
        let Some((file, at)) = &self.place else {
            return String::new();
        };
        match &self.function {
            Some(function) => format!("\n    at {function} ({file}:{}:{})", at.line, at.column),
            None => format!("\n    at {file}:{}:{}", at.line, at.column),
        }
    }
}
