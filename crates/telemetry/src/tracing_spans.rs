//! Spans for the subscriber of a program that embeds the library, by the `tracing` crate.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ringfence::audit::{CallId, Outcome};
use ringfence::event::{Event, Listener, TurnId};
use tracing::{Span, field, info_span};

use crate::identity::hash;
use crate::label;

/// A listener that opens and closes spans as calls and their steps begin and end.
#[derive(Default)]
pub struct TracingSpans(Mutex<Open>);

#[derive(Default)]
struct Open {
    turns: HashMap<TurnId, Span>,
    calls: HashMap<CallId, OpenCall>,
}

struct OpenCall {
    span: Span,
    judge: Option<Span>,
    ask: Option<Span>,
    launch: Option<Span>,
    run: Option<Span>,
    has_ended: bool,
}

impl Listener for TracingSpans {
    fn hear(&self, event: &Event<'_>) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::TurnBegin { turn, .. } => {
                let span = info_span!(parent: None, "turn", ringfence.turn = %turn);
                open.turns.insert(turn.clone(), span);
            }
            Event::TurnEnd { turn, .. } => drop(open.turns.remove(turn)),
            Event::Begin { .. } => open.begin(event),
            _ => open.step(event),
        }
    }
}

impl Open {
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
        let around = parent.as_ref().and_then(|parent| self.calls.get(parent));
        let around = around.map(|open| &open.span);
        let around = around.or_else(|| self.turns.get(turn.as_ref()?));
        let span = info_span!(
            parent: around.and_then(Span::id), "call",
            ringfence.call = %call, tool, command.hash = hash(command),
            outcome = field::Empty, exit_code = field::Empty, error.type = field::Empty
        );
        let open = OpenCall {
            span,
            judge: None,
            ask: None,
            launch: None,
            run: None,
            has_ended: false,
        };
        self.calls.insert(call.clone(), open);
    }

    fn step(&mut self, event: &Event<'_>) {
        let call = event.call();
        let Some(open) = self.calls.get_mut(call) else {
            return;
        };
        let within = open.span.id();
        match event {
            Event::Judging { .. } => {
                open.judge = Some(
                    info_span!(parent: within, "judge", ringfence.call = %call, verdict = field::Empty),
                );
            }
            Event::Judged { verdict, .. } => {
                record(open.judge.take(), "verdict", label::verdict(*verdict));
            }
            Event::Asked { .. } => {
                open.ask = Some(
                    info_span!(parent: within, "ask", ringfence.call = %call, approved = field::Empty),
                );
            }
            Event::Answered { answer, .. } => {
                record(open.ask.take(), "approved", label::answer(*answer));
            }
            Event::Launching { .. } => {
                open.launch = Some(
                    info_span!(parent: within, "launch", ringfence.call = %call, sandbox.type = field::Empty),
                );
            }
            Event::Launched { fence, .. } => {
                record(open.launch.take(), "sandbox.type", fence);
                open.run = Some(
                    info_span!(parent: within, "bash.execute", ringfence.call = %call, exit_code = field::Empty),
                );
            }
            Event::Ran { run, .. } => {
                if let (Some(span), Some(code)) = (open.run.take(), run.exit_code) {
                    span.record("exit_code", code);
                }
            }
            Event::End {
                outcome,
                exit_code,
                error,
                ..
            } => {
                open.span.record("outcome", label::outcome(*outcome));
                if let Some(code) = exit_code {
                    open.span.record("exit_code", *code);
                }
                if let Some(error) = error {
                    open.span.record("error.type", error.as_str());
                }
                open.has_ended = true;
                if *outcome != Outcome::Ok {
                    open.run = None;
                }
            }
            _ => {}
        }
        if open.has_ended && open.run.is_none() {
            self.calls.remove(call);
        }
    }
}

fn record(span: Option<Span>, field: &str, value: &str) {
    if let Some(span) = span {
        span.record(field, value);
    }
}
