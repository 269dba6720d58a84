//! A script in a message, from the mark that opens it to the one that ends it.
//!
//! A mark in a string or a comment of the script is none. Where that was a mistake, because the string is never
//! closed, the block ends at the first mark that could have been its end.

use super::detector::{Detector, Reading};
use super::lexer::{Lexer, Within};
use super::mark::{Fence, Held, Seen, Tag, TagKind, closing_fence, line_of, opening_fence, tag};
use super::segment::{Form, Rejection, RejectionKind, Segment, SegmentKind};
use super::source::script;
use crate::item::Language;

/// A script whose end has not come yet.
#[derive(Debug)]
pub(super) struct Block {
    /// What it is written in; nothing if its mark is not understood.
    language: Option<Language>,
    /// How long the opening mark is.
    opening: usize,
    /// The fence that it is in, if it is not between tags.
    fence: Option<Fence>,
    /// Blocks that are open, itself included.
    depth: usize,
    /// Where the first block inside begins.
    nested: Option<usize>,
    lexer: Lexer,
    /// The first mark that would end it if it were not in a string or a comment, from where to where.
    pub(super) could_end: Option<(usize, usize)>,
}

impl Block {
    pub(super) fn new(language: Option<Language>, opening: usize, fence: Option<Fence>) -> Self {
        Self {
            language,
            opening,
            fence,
            depth: 1,
            nested: None,
            lexer: Lexer::new(),
            could_end: None,
        }
    }

    fn form(&self) -> Form {
        match self.fence {
            None => Form::Tags,
            Some(_) => Form::Fence,
        }
    }

    pub(super) fn unclosed(&self) -> RejectionKind {
        RejectionKind::Unclosed(self.form())
    }
}

impl Detector {
    pub(super) fn read_block(&mut self, block: Box<Block>, out: &mut Vec<Segment>) {
        match block.fence {
            None => self.read_tags(block, out),
            Some(fence) => self.read_fenced(fence, block, out),
        }
    }

    /// Goes ahead by some bytes of the script.
    fn pass_script(&mut self, mut block: Box<Block>, many: usize) {
        block.lexer.read(&self.rest()[..many]);
        self.reading = Reading::Block(block);
        self.pass(many);
    }

    fn read_tags(&mut self, block: Box<Block>, out: &mut Vec<Segment>) {
        let rest = self.rest();
        let plain = rest.iter().position(|byte| *byte == b'<');
        let plain = plain.unwrap_or(rest.len());
        if plain > 0 {
            return self.pass_script(block, plain);
        }
        match tag(rest, self.is_all) {
            Seen::Unclear => self.reading = Reading::Block(block),
            Seen::Not => self.pass_script(block, 1),
            Seen::Is(tag) => self.meet(block, tag, out),
        }
    }

    /// Comes upon a tag in a script.
    fn meet(&mut self, mut block: Box<Block>, tag: Tag, out: &mut Vec<Segment>) {
        match tag.kind {
            TagKind::OpenScript(_) if block.lexer.within() == Within::Code => {
                if let Some(mark) = block.could_end {
                    return self.close_at(*block, mark, out);
                }
                block.depth += 1;
                block.nested.get_or_insert(self.seen);
                self.pass(tag.len);
                self.reading = Reading::Block(block);
            }
            TagKind::CloseScript => match self.is_end(&block, tag.len) {
                Seen::Unclear => self.reading = Reading::Block(block),
                Seen::Not => {
                    block
                        .could_end
                        .get_or_insert((self.seen, self.seen + tag.len));
                    self.pass_script(block, tag.len);
                }
                Seen::Is(()) => self.end(block, tag.len, out),
            },
            _ => self.pass_script(block, tag.len),
        }
    }

    /// A mark that ends a block.
    fn end(&mut self, mut block: Box<Block>, len: usize, out: &mut Vec<Segment>) {
        block.depth -= 1;
        if block.depth == 0 {
            let mark = (self.seen, self.seen + len);
            self.close(*block, mark, out);
        } else {
            self.reading = Reading::Block(block);
            self.pass(len);
        }
    }

    /// Whether a tag here ends the script. In a comment that ends with its line it does if the script is in one line, or
    /// if nothing comes behind it in that line; not if brackets are open.
    fn is_end(&self, block: &Block, len: usize) -> Seen<()> {
        match block.lexer.within() {
            Within::Code => Seen::Is(()),
            Within::Text => Seen::Not,
            Within::LineComment if !block.lexer.is_balanced() => Seen::Not,
            Within::LineComment => {
                if !self.held[block.opening..self.seen].contains(&b'\n') {
                    return Seen::Is(());
                }
                let (line, is_whole) = line_of(&self.rest()[len..], self.is_all);
                if !line.trim_ascii().is_empty() {
                    Seen::Not
                } else if is_whole {
                    Seen::Is(())
                } else {
                    Seen::Unclear
                }
            }
        }
    }

    fn read_fenced(&mut self, fence: Fence, mut block: Box<Block>, out: &mut Vec<Segment>) {
        if self.line_begins {
            let rest = self.rest();
            let opens = opening_fence(rest, self.is_all);
            let closes = closing_fence(rest, fence, self.is_all);
            if opens == Seen::Unclear || closes == Seen::Unclear {
                self.reading = Reading::Block(block);
                return;
            }
            let is_code = block.lexer.within() == Within::Code;
            if let Seen::Is(end) = closes {
                if is_code {
                    return self.end(block, end, out);
                }
                block.could_end.get_or_insert((self.seen, self.seen + end));
            } else if let Seen::Is(inner) = opens
                && inner.holds != Held::Shown
                && is_code
            {
                if let Some(mark) = block.could_end {
                    return self.close_at(*block, mark, out);
                }
                block.depth += 1;
                block.nested.get_or_insert(self.seen);
            }
            self.line_begins = false;
        }
        let (line, _) = line_of(self.rest(), self.is_all);
        let many = (line.len() + 1).min(self.rest().len());
        self.pass_script(block, many);
    }

    /// Ends a block at the first mark that could have been its end.
    pub(super) fn close_at(&mut self, block: Block, mark: (usize, usize), out: &mut Vec<Segment>) {
        let block = Block {
            nested: None,
            could_end: None,
            ..block
        };
        self.close(block, mark, out);
    }

    /// Gives out a block that ends with this mark.
    fn close(&mut self, block: Block, mark: (usize, usize), out: &mut Vec<Segment>) {
        let mut kind = self.held_by(&block, mark.0);
        match (&mut kind, block.could_end) {
            (SegmentKind::Script(script), could_end) => {
                script.could_end = could_end.map(|(_, end)| end);
            }
            (_, Some(first)) => return self.close_at(block, first, out),
            _ => {}
        }
        self.seen = mark.1;
        self.line_begins = false;
        self.reading = Reading::Text;
        self.give(kind, out);
    }

    /// What a block is that ends here.
    fn held_by(&self, block: &Block, end: usize) -> SegmentKind {
        let reject = |kind, at| SegmentKind::Rejected(Rejection { kind, at });
        let Some(language) = block.language else {
            return reject(RejectionKind::MalformedTag, self.at);
        };
        if let Some(nested) = block.nested {
            let at = self.at.after(&self.held[..nested]);
            return reject(RejectionKind::Nested, at);
        }
        let inner = &self.held[block.opening..end];
        let at = self.at.after(&self.held[..block.opening]);
        script(inner, at, language, block.form(), self.limits)
    }
}
