//! What a person sees of a loop: text and thoughts as they come, each call with its verdict, its output and what came of
//! it, the files that changed.
//!
//! It hears two voices: the loop's own (what the model says) and the engine's (what commands do). Both go through one
//! lock, and through the console, which lets nothing pass while a person is asked.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ringfence::agent::{AgentEvent, AgentListener};
use ringfence::audit::{CallId, Outcome};
use ringfence::dialect::provider::{Feedback, TurnEvent};
use ringfence::event::{Event, Listener};
use ringfence::output::Stream;

use super::look::{Colours, Style, time};
use super::wrap::Wrap;
use crate::paint;
use crate::terminal::CONSOLE;

/// So many lines of a call's output are shown as they come.
const OUTPUT_LINES: usize = 40;

/// What a person sees.
pub(super) struct View(Mutex<Seen>);

struct Seen {
    colours: Colours,
    wrap: Wrap,
    /// What is being printed.
    voice: Voice,
    /// Calls that were asked about, and what was said.
    answers: HashMap<CallId, &'static str>,
    /// Lines shown of each call that runs, and what of a line has come.
    outputs: HashMap<CallId, (usize, String)>,
    /// Since when the model is waited for.
    waiting: Option<Instant>,
    turn: u32,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    Nobody,
    Text,
    Thought,
}

impl View {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Seen {
            colours: Colours::of_stdout(),
            wrap: Wrap::for_stdout(),
            voice: Voice::Nobody,
            answers: HashMap::new(),
            outputs: HashMap::new(),
            waiting: None,
            turn: 0,
        }))
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what a person said about a call.
    pub(super) fn answered(&self, call: &CallId, answer: &'static str) {
        self.seen().answers.insert(call.clone(), answer);
    }

    /// What is waited for, if it is the model: its turn, and for how long.
    pub(super) fn waiting(&self) -> Option<(u32, Duration)> {
        let seen = self.seen();
        seen.waiting.map(|since| (seen.turn, since.elapsed()))
    }

    /// Ends whatever is being said.
    pub(super) fn rest(&self) {
        let mut seen = self.seen();
        seen.waiting = None;
        seen.speak(Voice::Nobody);
    }
}

/// Prints a text. A reader that has gone away is no error of ours.
fn print(text: &str) {
    let _ = CONSOLE.print(Stream::Stdout, text.as_bytes());
}

impl Seen {
    /// Lets another speak. Each begins on a line of its own.
    fn speak(&mut self, voice: Voice) {
        if self.voice == voice {
            return;
        }
        if self.voice != Voice::Nobody {
            let rest = self.wrap.finish();
            let rest = self.styled(&rest);
            print(&format!("{rest}\n"));
        }
        self.wrap = Wrap::for_stdout();
        self.voice = voice;
    }

    fn styled(&self, text: &str) -> String {
        match self.voice {
            Voice::Thought if !text.is_empty() => self.colours.paint(Style::Dim, text),
            _ => text.to_owned(),
        }
    }

    fn say(&mut self, voice: Voice, piece: &str) {
        if piece.is_empty() {
            return;
        }
        self.waiting = None;
        self.speak(voice);
        let shown = self
            .wrap
            .push(&paint::visible(&piece.replace('\t', "    ")));
        if !shown.is_empty() {
            let shown = self.styled(&shown);
            print(&shown);
        }
    }

    fn line(&mut self, text: &str) {
        self.speak(Voice::Nobody);
        print(&format!("{text}\n"));
    }

    fn output(&mut self, call: &CallId, text: &str) {
        let colours = self.colours;
        let (mut count, mut begun) = self.outputs.remove(call).unwrap_or_default();
        begun.push_str(text);
        while let Some(end) = begun.find('\n') {
            let line: String = begun.drain(..=end).collect();
            count += 1;
            self.output_line(colours, count, line.trim_end_matches(['\n', '\r']));
        }
        self.outputs.insert(call.clone(), (count, begun));
    }

    fn output_line(&mut self, colours: Colours, count: usize, line: &str) {
        if count <= OUTPUT_LINES {
            let text = paint::visible(&line.replace('\t', "    "));
            self.line(&colours.paint(Style::Dim, &format!("  │ {text}")));
        }
    }

    fn end_output(&mut self, call: &CallId) {
        let Some((mut count, begun)) = self.outputs.remove(call) else {
            return;
        };
        let colours = self.colours;
        if !begun.is_empty() {
            count += 1;
            self.output_line(colours, count, &begun);
        }
        if count > OUTPUT_LINES {
            let more = format!("  │ … {} more lines", count - OUTPUT_LINES);
            self.line(&colours.paint(Style::Dim, &more));
        }
    }

    fn ended(&mut self, event: &Event<'_>) {
        let Event::End {
            call,
            exit_code,
            duration,
            outcome,
            error,
            ..
        } = event
        else {
            return;
        };
        self.end_output(call);
        let answer = self.answers.remove(call);
        let why = error.as_deref().unwrap_or_default();
        let verdict = match (outcome, answer) {
            (_, Some(answer)) => answer.to_owned(),
            (Outcome::Refused, None) => format!("refused ({why})"),
            (_, None) => "allowed".to_owned(),
        };
        let came = match (outcome, exit_code) {
            (Outcome::Refused, _) | (Outcome::Ok, None) => String::new(),
            (Outcome::Ok | Outcome::Failed, Some(code)) => format!(" · exit code {code}"),
            (Outcome::TimedOut, _) => " · timed out".to_owned(),
            (Outcome::Cancelled | Outcome::Abandoned, _) => " · stopped".to_owned(),
            (Outcome::Failed, None) => format!(" · failed ({why})"),
        };
        let is_good = *outcome == Outcome::Ok && exit_code.is_none_or(|code| code == 0);
        let (style, mark) = if is_good {
            (Style::Good, "✓")
        } else {
            (Style::Bad, "✗")
        };
        let mark = self.colours.paint(style, mark);
        self.line(&format!("  {mark} {verdict}{came} · {}", time(*duration)));
    }
}

impl AgentListener for View {
    fn hear(&self, event: &AgentEvent<'_>) {
        let mut seen = self.seen();
        match event {
            AgentEvent::Asked { turn } => {
                seen.turn = *turn;
                seen.waiting = Some(Instant::now());
            }
            AgentEvent::Piece(TurnEvent::Text(piece)) => seen.say(Voice::Text, piece),
            AgentEvent::Piece(TurnEvent::Thinking(piece)) => seen.say(Voice::Thought, piece),
            AgentEvent::Failed {
                message,
                tries_again,
                ..
            } => {
                seen.speak(Voice::Nobody);
                // The last one ends the program, which says it then.
                if *tries_again {
                    paint::remark(&format!("{message}; asking again"));
                }
            }
            AgentEvent::Read(turn) => {
                // A server that answers whole tells no pieces.
                if seen.voice == Voice::Nobody && seen.waiting.is_some() {
                    for part in &turn.parts {
                        match part {
                            ringfence::dialect::provider::Part::Text(text) => {
                                seen.say(Voice::Text, text);
                            }
                            ringfence::dialect::provider::Part::Thinking(text) => {
                                seen.say(Voice::Thought, text);
                            }
                            _ => {}
                        }
                    }
                }
                seen.waiting = None;
                seen.speak(Voice::Nobody);
            }
            AgentEvent::StepEnded { feedback, .. } => {
                if let Feedback::Result(result) = feedback
                    && result.is_error
                {
                    let text = result.output.text();
                    let first = paint::visible(text.lines().next().unwrap_or_default());
                    let shown: String = first.chars().take(200).collect();
                    let shown = seen.colours.paint(Style::Dim, &format!("    {shown}"));
                    seen.line(&shown);
                }
                if let Feedback::Note(note) = feedback {
                    let shown = seen.colours.paint(Style::Dim, &paint::visible(note));
                    seen.line(&shown);
                }
            }
            AgentEvent::TurnEnded { changes, .. } => {
                for change in *changes {
                    let shown = seen.colours.diff(change);
                    seen.line(shown.trim_end());
                }
            }
            AgentEvent::Compacted => seen.line("the conversation was shortened"),
            _ => {}
        }
    }
}

impl Listener for View {
    fn hear(&self, event: &Event<'_>) {
        let mut seen = self.seen();
        match event {
            Event::Begin { tool, command, .. } => {
                let command = paint::visible(&command.replace('\t', "    "));
                let first = command.lines().next().unwrap_or_default();
                let more = match command.lines().count() {
                    0 | 1 => String::new(),
                    lines => format!(" … ({lines} lines)"),
                };
                let tool = seen.colours.paint(Style::Bold, tool);
                seen.line(&format!("▸ {tool} {first}{more}"));
            }
            Event::Output { call, text, .. } => seen.output(call, text),
            Event::Progress { elapsed, lines, .. } => {
                drop(seen);
                CONSOLE.show_progress(*elapsed, *lines);
            }
            Event::Said { text, .. } | Event::Notice { text, .. } => {
                let shown = seen
                    .colours
                    .paint(Style::Dim, &format!("  · {}", paint::visible(text)));
                seen.line(&shown);
            }
            Event::End { .. } => seen.ended(event),
            _ => {}
        }
    }
}
