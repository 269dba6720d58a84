//! From events to spans: what is open now, and what has just ended.

use std::collections::HashMap;
use std::time::SystemTime;

use ringfence::audit::{CallId, Outcome, Redactor};
use ringfence::event::{Event, TurnId};

use crate::identity::{hash, span_of, trace_of};
use crate::label;
use crate::names::{ASK, CALL, JUDGE, LAUNCH, RUN, TURN};
use crate::preview::Preview;
use crate::span::{Attribute, Span};
use crate::telemetry::Detail;

/// As many calls and turns are open at once; of others there are no spans.
const MOST_OPEN: usize = 4_096;
/// The longest command that is told as text, in bytes.
const LONGEST_COMMAND: usize = 2_048;

type Attributes = Vec<(&'static str, Attribute)>;

/// What is open.
pub(crate) struct Tracer {
    detail: Detail,
    redactor: Redactor,
    calls: HashMap<CallId, OpenCall>,
    turns: HashMap<TurnId, SystemTime>,
}

struct OpenCall {
    trace: [u8; 16],
    parent: Option<[u8; 8]>,
    start: SystemTime,
    attributes: Attributes,
    preview: Preview,
    /// The steps of it that have begun and not ended.
    steps: Vec<(&'static str, SystemTime)>,
    /// How many steps there were, for their ids.
    numbered: u32,
    has_ended: bool,
}

impl Tracer {
    pub(crate) fn new(detail: Detail, redactor: Redactor) -> Self {
        Self {
            detail,
            redactor,
            calls: HashMap::new(),
            turns: HashMap::new(),
        }
    }

    /// Takes in an event; gives the spans that it ends.
    pub(crate) fn hear(&mut self, event: &Event<'_>) -> Vec<Span> {
        match event {
            Event::TurnBegin { turn, .. } => {
                if self.turns.len() < MOST_OPEN {
                    self.turns.insert(turn.clone(), SystemTime::now());
                }
                Vec::new()
            }
            Event::TurnEnd { call, turn, .. } => {
                let start = self.turns.remove(turn);
                start
                    .map(|start| turn_span(call, turn, start))
                    .into_iter()
                    .collect()
            }
            Event::Begin { .. } => {
                self.begin(event);
                Vec::new()
            }
            Event::Judging { call } => self.step(call, JUDGE),
            Event::Asked { call } => self.step(call, ASK),
            Event::Launching { call } => self.step(call, LAUNCH),
            Event::Output { call, text, .. } if self.detail.output => {
                if let Some(open) = self.calls.get_mut(call) {
                    open.preview.push(text);
                }
                Vec::new()
            }
            Event::End { .. } => self.end(event),
            _ => self.end_step(event),
        }
    }

    fn begin(&mut self, event: &Event<'_>) {
        let Event::Begin {
            call,
            tool,
            command,
            parent,
            turn,
            ..
        } = event
        else {
            return;
        };
        if self.calls.len() >= MOST_OPEN {
            return;
        }
        let (trace, parent_span) = match (parent, turn) {
            (Some(parent), _) => {
                let known = self.calls.get(parent).map(|open| open.trace);
                let trace = known.unwrap_or_else(|| trace_of(&parent.0));
                (trace, Some(span_of(&parent.0)))
            }
            (None, Some(turn)) => (trace_of(&turn.0), Some(span_of(&turn.0))),
            (None, None) => (trace_of(&call.0), None),
        };
        let mut attributes = ids(call);
        attributes.push(("tool", tool.as_str().into()));
        attributes.push(("command.hash", hash(command).into()));
        let length = i64::try_from(command.len()).unwrap_or(i64::MAX);
        attributes.push(("command.length", length.into()));
        if self.detail.commands {
            let text = self.redactor.text(command);
            let text = &text[..text.floor_char_boundary(LONGEST_COMMAND)];
            attributes.push(("command.text", text.into()));
        }
        let open = OpenCall {
            trace,
            parent: parent_span,
            start: SystemTime::now(),
            attributes,
            preview: Preview::default(),
            steps: Vec::new(),
            numbered: 0,
            has_ended: false,
        };
        self.calls.insert(call.clone(), open);
    }

    fn step(&mut self, call: &CallId, name: &'static str) -> Vec<Span> {
        if let Some(open) = self.calls.get_mut(call) {
            open.steps.push((name, SystemTime::now()));
        }
        Vec::new()
    }

    fn end_step(&mut self, event: &Event<'_>) -> Vec<Span> {
        let call = event.call();
        let Some(open) = self.calls.get_mut(call) else {
            return Vec::new();
        };
        let mut attributes: Attributes = vec![("ringfence.call", call.0.as_str().into())];
        let name = match event {
            Event::Judged {
                verdict,
                class,
                rule,
                ..
            } => {
                attributes.push(("verdict", label::verdict(*verdict).into()));
                attributes.extend(class.map(|class| ("class", class.name().into())));
                attributes.extend(rule.as_deref().map(|rule| ("rule", rule.into())));
                JUDGE
            }
            Event::Answered { answer, .. } => {
                attributes.push(("approved", label::answer(*answer).into()));
                ASK
            }
            Event::Launched { fence, .. } => {
                attributes.push(("sandbox.type", (*fence).into()));
                open.steps.push((RUN, SystemTime::now()));
                LAUNCH
            }
            Event::Ran { run, .. } => {
                attributes.push(("sandbox.type", run.fence.into()));
                attributes.push(("ending", label::ending(run.ending).into()));
                attributes.extend(
                    run.exit_code
                        .map(|code| ("exit_code", i64::from(code).into())),
                );
                attributes.push(("cpu.seconds", Attribute::Real(run.cpu.as_secs_f64())));
                let memory = i64::try_from(run.max_rss_bytes).unwrap_or(i64::MAX);
                attributes.push(("memory.bytes", memory.into()));
                let kinds: Vec<&str> = run
                    .denials
                    .iter()
                    .map(|kind| label::denial(*kind))
                    .collect();
                if !kinds.is_empty() {
                    attributes.push(("denials", kinds.join(",").into()));
                }
                RUN
            }
            _ => return Vec::new(),
        };
        let span = open.end_step(call, name, attributes);
        if open.has_ended && open.steps.is_empty() {
            self.calls.remove(call);
        }
        span.into_iter().collect()
    }

    fn end(&mut self, event: &Event<'_>) -> Vec<Span> {
        let Event::End {
            call,
            exit_code,
            outcome,
            error,
            ..
        } = event
        else {
            return Vec::new();
        };
        let Some(open) = self.calls.get_mut(call) else {
            return Vec::new();
        };
        let mut spans = Vec::new();
        // What lives on has ended well so far. Otherwise what is still open was given up with the call.
        let keeps = |step: &str| *outcome == Outcome::Ok && step == RUN;
        let given_up: Vec<&'static str> = open.steps.iter().map(|(name, _)| *name).collect();
        for name in given_up.iter().filter(|name| !keeps(name)) {
            let attributes = vec![("ringfence.call", call.0.as_str().into())];
            spans.extend(open.end_step(call, name, attributes));
        }
        let mut attributes = std::mem::take(&mut open.attributes);
        let outcome_name = label::outcome(*outcome);
        attributes.push(("outcome", outcome_name.into()));
        attributes.extend(exit_code.map(|code| ("exit_code", i64::from(code).into())));
        attributes.extend(error.as_deref().map(|error| ("error.type", error.into())));
        let preview = std::mem::take(&mut open.preview).finish();
        if !preview.is_empty() {
            attributes.push((
                "output.preview",
                self.redactor.text(&preview).into_owned().into(),
            ));
        }
        let failure = error.as_deref().unwrap_or(outcome_name);
        spans.push(Span {
            trace: open.trace,
            id: span_of(&call.0),
            parent: open.parent,
            name: CALL,
            start: open.start,
            end: SystemTime::now(),
            attributes,
            error: (*outcome != Outcome::Ok).then(|| failure.to_owned()),
        });
        open.has_ended = true;
        if open.steps.is_empty() {
            self.calls.remove(call);
        }
        spans
    }
}

impl OpenCall {
    /// Ends the step of this name that began last.
    fn end_step(
        &mut self,
        call: &CallId,
        name: &'static str,
        attributes: Attributes,
    ) -> Option<Span> {
        let place = self.steps.iter().rposition(|(step, _)| *step == name)?;
        let (_, start) = self.steps.remove(place);
        self.numbered += 1;
        Some(Span {
            trace: self.trace,
            id: span_of(&format!("{call}/{name}/{}", self.numbered)),
            parent: Some(span_of(&call.0)),
            name,
            start,
            end: SystemTime::now(),
            attributes,
            error: None,
        })
    }
}

fn turn_span(session: &CallId, turn: &TurnId, start: SystemTime) -> Span {
    Span {
        trace: trace_of(&turn.0),
        id: span_of(&turn.0),
        parent: None,
        name: TURN,
        start,
        end: SystemTime::now(),
        attributes: vec![
            ("ringfence.session", session.0.as_str().into()),
            ("ringfence.turn", turn.0.as_str().into()),
        ],
        error: None,
    }
}

/// The ids by which the audit log has it.
fn ids(call: &CallId) -> Attributes {
    let session = call
        .0
        .rsplit_once('-')
        .map_or(call.0.as_str(), |(session, _)| session);
    vec![
        ("ringfence.session", session.into()),
        ("ringfence.call", call.0.as_str().into()),
    ]
}
