//! Takes a message apart as it comes in. What cannot be told yet is held back until it can, so that
//! the parts are the same whatever pieces the message comes in.

use super::SourceLimits;
use super::mark::{
    Fence, Seen, TagKind, Thinking, begins_with, closing_fence, line_of, opening_fence, tag,
};
use super::position::Position;
use super::segment::{Form, Rejection, RejectionKind, Segment, SegmentKind, joined};
use super::source::script;
use crate::item::Language;

/// Takes a whole message apart.
pub fn detect(message: &[u8], limits: SourceLimits) -> Vec<Segment> {
    let mut detector = Detector::new(limits);
    let mut segments = detector.feed(message);
    segments.extend(detector.finish());
    joined(segments)
}

/// Takes a message apart piece by piece.
#[derive(Debug)]
pub struct Detector {
    limits: SourceLimits,
    /// What has come in and not gone out; begins with the part that is being read.
    held: Vec<u8>,
    /// Where that begins.
    at: Position,
    /// How much of it has been looked at.
    seen: usize,
    /// Whether what comes next begins a line.
    line_begins: bool,
    reading: Reading,
    /// Whether everything has come in.
    is_all: bool,
}

/// What is being read.
#[derive(Debug, Clone, Copy)]
enum Reading {
    Text,
    /// Code that is only shown.
    Fence(Fence),
    /// A script between tags.
    Tags(Block),
    /// A script in a fence.
    Script(Fence, Block),
    Thought(Thinking),
}

/// A script whose end has not come yet.
#[derive(Debug, Clone, Copy)]
struct Block {
    language: Language,
    /// How long the opening mark is.
    opening: usize,
    /// Blocks that are open, itself included.
    depth: usize,
    /// Where the first block inside begins.
    nested: Option<usize>,
}

impl Block {
    fn new(language: Language, opening: usize) -> Self {
        Self {
            language,
            opening,
            depth: 1,
            nested: None,
        }
    }

    fn nest(&mut self, at: usize) {
        self.depth += 1;
        self.nested.get_or_insert(at);
    }
}

/// Code in a line is no longer than this.
const LONGEST_INLINE: usize = 4096;

impl Detector {
    /// A detector that has seen nothing.
    pub fn new(limits: SourceLimits) -> Self {
        Self {
            limits,
            held: Vec::new(),
            at: Position::START,
            seen: 0,
            line_begins: true,
            reading: Reading::Text,
            is_all: false,
        }
    }

    /// Takes in a piece; gives out what can be told by now. Text may come out in several parts.
    pub fn feed(&mut self, piece: &[u8]) -> Vec<Segment> {
        self.held.extend_from_slice(piece);
        self.go_on()
    }

    /// Ends the message; gives out the rest.
    pub fn finish(mut self) -> Vec<Segment> {
        self.is_all = true;
        self.go_on()
    }

    fn go_on(&mut self) -> Vec<Segment> {
        let mut out = Vec::new();
        while self.seen < self.held.len() {
            let before = (self.seen, self.held.len());
            match self.reading {
                Reading::Text => self.read_text(&mut out),
                Reading::Fence(fence) => self.read_shown(fence),
                Reading::Tags(block) => self.read_tags(block, &mut out),
                Reading::Script(fence, block) => self.read_fenced(fence, block, &mut out),
                Reading::Thought(thinking) => self.read_thought(thinking, &mut out),
            }
            if (self.seen, self.held.len()) == before {
                break;
            }
        }
        match self.reading {
            Reading::Text | Reading::Fence(_) => self.give_text(&mut out),
            _ if self.is_all && !self.held.is_empty() => self.give_unclosed(&mut out),
            _ => {}
        }
        out
    }

    fn rest(&self) -> &[u8] {
        &self.held[self.seen..]
    }

    /// Goes ahead by some bytes, the last of which may have ended a line.
    fn pass(&mut self, many: usize) {
        if many > 0 {
            self.seen += many;
            self.line_begins = self.held[self.seen - 1] == b'\n';
        }
    }

    /// Gives out what has been looked at.
    fn give(&mut self, kind: SegmentKind, out: &mut Vec<Segment>) {
        if self.seen == 0 {
            return;
        }
        let raw: Vec<u8> = self.held.drain(..self.seen).collect();
        let at = self.at;
        self.at = at.after(&raw);
        self.seen = 0;
        out.push(Segment { raw, at, kind });
    }

    fn give_text(&mut self, out: &mut Vec<Segment>) {
        self.give(SegmentKind::Text, out);
    }

    /// Gives out a block that the message ends in.
    fn give_unclosed(&mut self, out: &mut Vec<Segment>) {
        let kind = match self.reading {
            Reading::Thought(_) => RejectionKind::UnclosedThinking,
            Reading::Script(..) => RejectionKind::Unclosed(Form::Fence),
            _ => RejectionKind::Unclosed(Form::Tags),
        };
        self.seen = self.held.len();
        let at = self.at;
        self.give(SegmentKind::Rejected(Rejection { kind, at }), out);
    }

    fn read_text(&mut self, out: &mut Vec<Segment>) {
        if self.line_begins {
            match opening_fence(self.rest(), self.is_all) {
                Seen::Unclear => return,
                Seen::Is(fence) => return self.open_fence(fence, out),
                Seen::Not => self.line_begins = false,
            }
        }
        let rest = self.rest();
        let plain = rest.iter().position(|byte| b"\n`<\\".contains(byte));
        match plain {
            None => return self.pass(rest.len()),
            Some(0) => {}
            Some(many) => return self.pass(many),
        }
        match rest[0] {
            b'\\' if rest.len() == 1 && !self.is_all => {}
            // What is escaped opens nothing.
            b'\\' if matches!(rest.get(1), Some(b'`' | b'<')) => self.pass(2),
            b'`' => {
                if let Some(many) = inline_code(rest, self.is_all) {
                    self.pass(many);
                }
            }
            b'<' => self.read_tag(out),
            _ => self.pass(1),
        }
    }

    fn open_fence(&mut self, fence: Fence, out: &mut Vec<Segment>) {
        match fence.script {
            None => {
                self.pass(fence.len);
                self.reading = Reading::Fence(fence);
            }
            Some(language) => {
                self.give_text(out);
                self.pass(fence.len);
                self.reading = Reading::Script(fence, Block::new(language, fence.len));
            }
        }
    }

    fn read_tag(&mut self, out: &mut Vec<Segment>) {
        let tag = match tag(self.rest(), self.is_all) {
            Seen::Is(tag) => tag,
            Seen::Not => return self.pass(1),
            Seen::Unclear => return,
        };
        self.give_text(out);
        let at = self.at;
        self.pass(tag.len);
        let reject = |kind| SegmentKind::Rejected(Rejection { kind, at });
        match tag.kind {
            TagKind::OpenScript(language) => {
                self.reading = Reading::Tags(Block::new(language, tag.len));
            }
            TagKind::OpenThinking(thinking) => self.reading = Reading::Thought(thinking),
            TagKind::CloseScript => self.give(reject(RejectionKind::Unopened), out),
            TagKind::MalformedScript => self.give(reject(RejectionKind::MalformedTag), out),
        }
    }

    /// Code that is only shown: text up to the line that closes it.
    fn read_shown(&mut self, fence: Fence) {
        if self.line_begins {
            match closing_fence(self.rest(), fence, self.is_all) {
                Seen::Unclear => return,
                Seen::Is(end) => {
                    self.reading = Reading::Text;
                    return self.pass(end);
                }
                Seen::Not => self.line_begins = false,
            }
        }
        let (line, _) = line_of(self.rest(), self.is_all);
        let many = (line.len() + 1).min(self.rest().len());
        self.pass(many);
    }

    fn read_tags(&mut self, mut block: Block, out: &mut Vec<Segment>) {
        let rest = self.rest();
        match rest.iter().position(|byte| *byte == b'<') {
            None => return self.pass(rest.len()),
            Some(0) => {}
            Some(many) => return self.pass(many),
        }
        let tag = match tag(rest, self.is_all) {
            Seen::Unclear => return,
            Seen::Not => return self.pass(1),
            Seen::Is(tag) => tag,
        };
        match tag.kind {
            TagKind::OpenScript(_) => block.nest(self.seen),
            TagKind::CloseScript => block.depth -= 1,
            TagKind::MalformedScript | TagKind::OpenThinking(_) => {}
        }
        self.reading = Reading::Tags(block);
        let inner_end = self.seen;
        self.pass(tag.len);
        if block.depth == 0 {
            self.close(block, inner_end, Form::Tags, out);
        }
    }

    fn read_fenced(&mut self, fence: Fence, mut block: Block, out: &mut Vec<Segment>) {
        if self.line_begins {
            let nested = match opening_fence(self.rest(), self.is_all) {
                Seen::Unclear => return,
                Seen::Is(inner) => inner.script.is_some(),
                Seen::Not => false,
            };
            match closing_fence(self.rest(), fence, self.is_all) {
                Seen::Unclear => return,
                Seen::Is(end) => {
                    block.depth -= 1;
                    self.reading = Reading::Script(fence, block);
                    let inner_end = self.seen;
                    self.pass(end);
                    if block.depth == 0 {
                        self.close(block, inner_end, Form::Fence, out);
                    }
                    return;
                }
                Seen::Not => self.line_begins = false,
            }
            if nested {
                block.nest(self.seen);
                self.reading = Reading::Script(fence, block);
            }
        }
        let (line, _) = line_of(self.rest(), self.is_all);
        let many = (line.len() + 1).min(self.rest().len());
        self.pass(many);
    }

    /// Gives out a block that has ended.
    fn close(&mut self, block: Block, inner_end: usize, form: Form, out: &mut Vec<Segment>) {
        let kind = if let Some(nested) = block.nested {
            SegmentKind::Rejected(Rejection {
                kind: RejectionKind::Nested,
                at: self.at.after(&self.held[..nested]),
            })
        } else {
            let inner = &self.held[block.opening..inner_end];
            let at = self.at.after(&self.held[..block.opening]);
            script(inner, at, block.language, form, self.limits)
        };
        self.reading = Reading::Text;
        self.give(kind, out);
    }

    fn read_thought(&mut self, thinking: Thinking, out: &mut Vec<Segment>) {
        let rest = self.rest();
        match rest.iter().position(|byte| *byte == b'<') {
            None => return self.pass(rest.len()),
            Some(0) => {}
            Some(many) => return self.pass(many),
        }
        match begins_with(rest, thinking.closing(), self.is_all) {
            Seen::Unclear => {}
            Seen::Not => self.pass(1),
            Seen::Is(()) => {
                let thought = &self.held[thinking.opening().len()..self.seen];
                let thought = String::from_utf8_lossy(thought).into_owned();
                self.pass(thinking.closing().len());
                self.reading = Reading::Text;
                self.give(SegmentKind::Thinking(thought), out);
            }
        }
    }
}

/// How many bytes the code in a line has that begins here, marks included; only the marks if nothing
/// closes them in this line. Nothing if that cannot be told yet.
fn inline_code(rest: &[u8], is_all: bool) -> Option<usize> {
    let width = rest.iter().take_while(|byte| **byte == b'`').count();
    if width == rest.len() && !is_all {
        return None;
    }
    let mut at = width;
    while at < rest.len().min(LONGEST_INLINE) {
        match rest[at] {
            b'\n' => return Some(width),
            b'`' => {
                let run = rest[at..].iter().take_while(|byte| **byte == b'`').count();
                let run_ends = at + run < rest.len() || is_all;
                if run == width && run_ends {
                    return Some(at + run);
                }
                if !run_ends {
                    return None;
                }
                at += run;
            }
            _ => at += 1,
        }
    }
    if at < LONGEST_INLINE && !is_all {
        None
    } else {
        Some(width)
    }
}
