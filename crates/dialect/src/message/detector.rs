//! Takes a message apart as it comes in. What cannot be told yet is held back until it can, so that
//! the parts are the same whatever pieces the message comes in.

use super::SourceLimits;
use super::block::Block;
use super::comment::comment;
use super::inline::inline_code;
use super::mark::{Fence, Held, Seen, TagKind, closing_fence, line_of, opening_fence, tag};
use super::position::Position;
use super::segment::{Form, Rejection, RejectionKind, Segment, SegmentKind, joined};
use super::thought::Thought;

/// Takes a whole message apart.
pub fn detect(message: &[u8], limits: SourceLimits) -> Vec<Segment> {
    detect_at(message, Position::START, limits)
}

/// Takes a part of a message apart that begins at this place.
pub fn detect_at(message: &[u8], at: Position, limits: SourceLimits) -> Vec<Segment> {
    let mut detector = Detector::new(limits);
    detector.at = at;
    let mut segments = detector.feed(message);
    segments.extend(detector.finish());
    joined(segments)
}

/// Takes a message apart piece by piece.
#[derive(Debug)]
pub struct Detector {
    pub(super) limits: SourceLimits,
    /// What has come in and not gone out; begins with the part that is being read.
    pub(super) held: Vec<u8>,
    /// Where that begins.
    pub(super) at: Position,
    /// How much of it has been looked at.
    pub(super) seen: usize,
    /// Whether what comes next begins a line.
    pub(super) line_begins: bool,
    pub(super) reading: Reading,
    /// Whether everything has come in.
    pub(super) is_all: bool,
}

/// What is being read.
#[derive(Debug)]
pub(super) enum Reading {
    Text,
    /// Code that is only shown.
    Shown(Fence),
    /// A script.
    Block(Box<Block>),
    Thought(Thought),
}

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
        loop {
            self.read_on(&mut out);
            match &self.reading {
                Reading::Text | Reading::Shown(_) => break self.give_text(&mut out),
                _ if !self.is_all || self.held.is_empty() => break,
                _ => self.give_unclosed(&mut out),
            }
        }
        out
    }

    /// Reads as far as can be told.
    fn read_on(&mut self, out: &mut Vec<Segment>) {
        while self.seen < self.held.len() {
            let before = (self.seen, self.held.len());
            match std::mem::replace(&mut self.reading, Reading::Text) {
                Reading::Text => self.read_text(out),
                Reading::Shown(fence) => self.read_shown(fence),
                Reading::Block(block) => self.read_block(block, out),
                Reading::Thought(thought) => self.read_thought(thought, out),
            }
            if (self.seen, self.held.len()) == before {
                break;
            }
        }
    }

    pub(super) fn rest(&self) -> &[u8] {
        &self.held[self.seen..]
    }

    /// Goes ahead by some bytes, the last of which may have ended a line.
    pub(super) fn pass(&mut self, many: usize) {
        if many > 0 {
            self.seen += many;
            self.line_begins = self.held[self.seen - 1] == b'\n';
        }
    }

    /// Gives out what has been looked at.
    pub(super) fn give(&mut self, kind: SegmentKind, out: &mut Vec<Segment>) {
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

    /// Gives out a block that the message ends in: up to where it could have ended, or all of it.
    fn give_unclosed(&mut self, out: &mut Vec<Segment>) {
        let kind = match std::mem::replace(&mut self.reading, Reading::Text) {
            Reading::Thought(thought) => match thought.could_end {
                Some(mark) => return self.end_thought(&thought, mark, out),
                None => RejectionKind::UnclosedThinking,
            },
            Reading::Block(block) => match block.could_end {
                Some(mark) => return self.close_at(*block, mark, out),
                None => block.unclosed(),
            },
            Reading::Text | Reading::Shown(_) => RejectionKind::Unclosed(Form::Tags),
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
            b'<' => match comment(rest, self.is_all) {
                None => {}
                Some(0) => self.read_tag(out),
                Some(many) => self.pass(many),
            },
            _ => self.pass(1),
        }
    }

    fn open_fence(&mut self, fence: Fence, out: &mut Vec<Segment>) {
        let language = match fence.holds {
            Held::Shown => {
                self.pass(fence.len);
                self.reading = Reading::Shown(fence);
                return;
            }
            Held::Script(language) => Some(language),
            Held::Malformed => None,
        };
        self.give_text(out);
        self.pass(fence.len);
        let block = Block::new(language, fence.len, Some(fence));
        self.reading = Reading::Block(Box::new(block));
    }

    fn read_tag(&mut self, out: &mut Vec<Segment>) {
        let tag = match tag(self.rest(), self.is_all) {
            Seen::Is(tag) => tag,
            Seen::Not => return self.pass(1),
            Seen::Unclear => return,
        };
        if matches!(tag.kind, TagKind::CloseThought(_)) {
            return self.pass(tag.len);
        }
        self.give_text(out);
        let at = self.at;
        self.pass(tag.len);
        let reject = |kind| SegmentKind::Rejected(Rejection { kind, at });
        let open = |language| Reading::Block(Box::new(Block::new(language, tag.len, None)));
        match tag.kind {
            TagKind::OpenScript(language) => self.reading = open(Some(language)),
            TagKind::MalformedScript => self.reading = open(None),
            TagKind::OpenThought(name) => {
                self.reading = Reading::Thought(Thought::new(name, tag.len));
            }
            TagKind::CloseScript => self.give(reject(RejectionKind::Unopened), out),
            TagKind::EmptyScript => self.give(reject(RejectionKind::Empty), out),
            TagKind::CloseThought(_) => {}
        }
    }

    /// Code that is only shown: text up to the line that closes it.
    fn read_shown(&mut self, fence: Fence) {
        self.reading = Reading::Shown(fence);
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
}
