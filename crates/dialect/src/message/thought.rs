//! Thoughts: what stands between tags such as `<thinking>` and `</thinking>`. Scripts in them are drafts.

use super::detector::{Detector, Reading};
use super::mark::{Seen, TagKind, ThoughtName, tag};
use super::segment::{Segment, SegmentKind};

/// A thought whose end has not come yet.
#[derive(Debug)]
pub(super) struct Thought {
    name: ThoughtName,
    /// How long the opening tag is.
    opening: usize,
    /// Tags of the same name that are open, its own included.
    depth: usize,
    /// The last tag that could have ended it, from where to where.
    pub(super) could_end: Option<(usize, usize)>,
}

impl Thought {
    pub(super) fn new(name: ThoughtName, opening: usize) -> Self {
        Self {
            name,
            opening,
            depth: 1,
            could_end: None,
        }
    }
}

impl Detector {
    pub(super) fn read_thought(&mut self, mut thought: Thought, out: &mut Vec<Segment>) {
        let rest = self.rest();
        let plain = rest.iter().position(|byte| *byte == b'<');
        let plain = plain.unwrap_or(rest.len());
        if plain > 0 {
            self.reading = Reading::Thought(thought);
            return self.pass(plain);
        }
        let found = tag(rest, self.is_all);
        let many = match found {
            Seen::Unclear => 0,
            Seen::Not => 1,
            Seen::Is(tag) => {
                match tag.kind {
                    TagKind::OpenThought(name) if name == thought.name => thought.depth += 1,
                    TagKind::CloseThought(name) if name == thought.name => {
                        thought.depth -= 1;
                        thought.could_end = Some((self.seen, self.seen + tag.len));
                    }
                    _ => {}
                }
                tag.len
            }
        };
        match thought.could_end {
            Some(mark) if thought.depth == 0 => self.end_thought(&thought, mark, out),
            _ => {
                self.reading = Reading::Thought(thought);
                self.pass(many);
            }
        }
    }

    /// Gives out a thought that ends with this tag.
    pub(super) fn end_thought(
        &mut self,
        thought: &Thought,
        (from, to): (usize, usize),
        out: &mut Vec<Segment>,
    ) {
        let text = String::from_utf8_lossy(&self.held[thought.opening..from]).into_owned();
        self.seen = to;
        self.line_begins = false;
        self.reading = Reading::Text;
        self.give(SegmentKind::Thinking(text), out);
    }
}
