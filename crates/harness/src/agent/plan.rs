//! The steps of a turn: what it says, in order, and in between what is to be executed.
//!
//! The same turn is always the same plan, so that a step is known by its number after a crash.

use ringfence_dialect::message::{Segment, SegmentKind, SourceLimits, detect, joined};
use ringfence_dialect::provider::{CallInput, CallOrder, Part, StructuredCall, Turn};
use ringfence_dialect::{FunctionCall, Item, Message, Reasoning};

/// The plan of a turn.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) pieces: Vec<Piece>,
    pub(super) steps: Vec<Step>,
    pub(super) order: CallOrder,
}

/// What a turn consists of.
#[derive(Debug)]
pub(super) enum Piece {
    /// Something said or thought.
    Said(Item),
    /// The step of this number.
    Step(usize),
}

/// Something that is to be executed.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Call(StructuredCall),
    /// A script in the text, or a block that cannot be one.
    Script(Segment),
}

impl Plan {
    pub(super) fn of(turn: &Turn, limits: SourceLimits) -> Self {
        let mut plan = Self {
            pieces: Vec::new(),
            steps: Vec::new(),
            order: turn.order,
        };
        for part in &turn.parts {
            match part {
                Part::Thinking(thought) => plan.say(Item::Reasoning(Reasoning::of(thought))),
                Part::Text(text) => plan.read(text, limits),
                Part::Refusal(text) => plan.say(Item::Message(Message::assistant(text))),
                Part::Call(call) => plan.step(Step::Call(call.clone())),
                Part::Other { .. } => {}
            }
        }
        plan
    }

    fn say(&mut self, item: Item) {
        self.pieces.push(Piece::Said(item));
    }

    fn step(&mut self, step: Step) {
        self.pieces.push(Piece::Step(self.steps.len()));
        self.steps.push(step);
    }

    fn read(&mut self, text: &str, limits: SourceLimits) {
        for segment in joined(detect(text.as_bytes(), limits)) {
            match &segment.kind {
                SegmentKind::Text => {
                    let text = String::from_utf8_lossy(&segment.raw);
                    self.say(Item::Message(Message::assistant(text)));
                }
                SegmentKind::Thinking(thought) => self.say(Item::Reasoning(Reasoning::of(thought))),
                SegmentKind::Script(_) | SegmentKind::Rejected(_) => {
                    self.step(Step::Script(segment));
                }
            }
        }
    }

    /// The steps in groups that run one after the other; those of one group run side by side.
    pub(super) fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut goes_on = false;
        for (number, step) in self.steps.iter().enumerate() {
            let may_share = self.order == CallOrder::SideBySide && matches!(step, Step::Call(_));
            match groups.last_mut() {
                Some(group) if goes_on && may_share => group.push(number),
                _ => groups.push(vec![number]),
            }
            goes_on = may_share;
        }
        groups
    }
}

/// A call as an item.
pub(super) fn call_item(call: &StructuredCall) -> Item {
    Item::FunctionCall(FunctionCall {
        call_id: call.call_id.clone(),
        name: call.name.clone(),
        arguments: match &call.input {
            CallInput::Json(value) => value.to_string(),
            CallInput::Text(text) | CallInput::Unreadable { text, .. } => text.clone(),
        },
    })
}
