//! What a reply shows of a stream: its text, or what else it turned out to be.
//!
//! Images become blocks of their own. Other data is named and counted, not dumped. Text is cut to
//! size, with or without its escape sequences.

use std::path::Path;

use super::image::{self, Found};
use super::mixed;
use super::{Ansi, BinaryKind, Excerpt, HeadTail, Image, ImageFormat, Kind};

/// How a stream is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ViewOptions {
    /// The most characters of text.
    pub most_chars: usize,
    /// What becomes of escape sequences.
    pub ansi: Ansi,
    /// The most bytes of all images together.
    pub image_bytes: u64,
}

/// What is shown of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamView {
    /// As text. Where there are blocks, notices stand in for what is no text.
    pub excerpt: Excerpt,
    /// As blocks in their order; none where it is all text.
    pub blocks: Vec<Block>,
}

/// A part of what was printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Block {
    /// Text.
    Text(String),
    /// An image.
    Image(Image),
    /// Something that is not returned.
    Binary {
        /// What it is, for a person.
        name: &'static str,
        /// Its media type.
        media_type: &'static str,
        /// Its size.
        bytes: u64,
    },
}

impl StreamView {
    /// What is shown of a stream of which this much was kept. The file has the whole stream, if
    /// there is one.
    pub(crate) fn of(buffer: &HeadTail, file: Option<&Path>, options: ViewOptions) -> Self {
        let whole = Whole { buffer, file };
        match Kind::of(buffer.head()) {
            Kind::Text => Self::images_in_text(whole, options).unwrap_or_else(|| Self {
                excerpt: Excerpt::shown(buffer, options.most_chars, options.ansi),
                blocks: Vec::new(),
            }),
            Kind::Image(format) => {
                let found = whole
                    .bytes(options.image_bytes)
                    .map(|bytes| Found::in_bytes(format, &bytes, options.image_bytes));
                let block = found.map_or_else(|| too_large(format, buffer.total()), Block::from);
                Self::of_blocks(vec![block], buffer.total())
            }
            Kind::Binary(kind) => {
                if kind == BinaryKind::UNKNOWN
                    && let Some((text, left_out)) = mixed::text_in(&whole.kept())
                {
                    return Self::with_data_left_out(&text, left_out, options);
                }
                let block = Block::Binary {
                    name: kind.name,
                    media_type: kind.media_type,
                    bytes: buffer.total(),
                };
                Self::of_blocks(vec![block], buffer.total())
            }
        }
    }

    /// Text with notices in the place of data.
    fn with_data_left_out(text: &str, left_out: u64, options: ViewOptions) -> Self {
        let mut buffer = HeadTail::new(text.len() * 2);
        buffer.push(text.as_bytes());
        let mut excerpt = Excerpt::shown(&buffer, options.most_chars, options.ansi);
        excerpt.omitted_bytes += left_out;
        Self {
            excerpt,
            blocks: Vec::new(),
        }
    }

    /// Whether there is an image in it.
    pub(crate) fn has_image(&self) -> bool {
        let is_image = |block: &Block| matches!(block, Block::Image(_));
        self.blocks.iter().any(is_image)
    }

    /// Text that is an image, or that has lines which are.
    fn images_in_text(whole: Whole<'_>, options: ViewOptions) -> Option<Self> {
        if !may_have_images(whole.buffer.head()) {
            return None;
        }
        // Base64 is a third longer than what it stands for; line breaks come on top.
        let longest = options.image_bytes.saturating_mul(3) / 2 + (1 << 16);
        let text = String::from_utf8(whole.bytes(longest)?).ok()?;
        let total = text.len() as u64;
        if let Some(found) = Found::in_text(&text, options.image_bytes) {
            let mut shown = Self::of_blocks(vec![found.into()], total);
            // Short ones stay where they were printed: a caller may look for them there.
            if shown.has_image() && text.len() <= options.most_chars {
                shown.excerpt = Excerpt::of_text(&text, options.most_chars);
            }
            return Some(shown);
        }
        let blocks = blocks_of_lines(&text, options);
        let only_text = blocks.iter().all(|block| matches!(block, Block::Text(_)));
        (!only_text).then(|| {
            let together: String = blocks.iter().map(Block::in_text).collect();
            Self {
                excerpt: Excerpt::of_text(&together, options.most_chars),
                blocks,
            }
        })
    }

    fn of_blocks(blocks: Vec<Block>, total: u64) -> Self {
        let text = blocks.iter().map(Block::in_text).collect();
        let left_out = blocks
            .iter()
            .any(|block| matches!(block, Block::Binary { .. }));
        Self {
            excerpt: Excerpt {
                text,
                omitted_bytes: if left_out { total } else { 0 },
                lines_before_cut: None,
            },
            blocks,
        }
    }
}

impl Block {
    /// The line that stands in for it in a text.
    fn in_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Image(image) => format!(
                "[{} image, {} bytes: returned as an image]\n",
                image.format.media_type(),
                image.bytes
            ),
            Self::Binary { name, bytes, .. } => {
                format!("[binary output, {bytes} bytes, {name}: not shown]\n")
            }
        }
    }
}

impl From<Found> for Block {
    fn from(found: Found) -> Self {
        match found {
            Found::Image(image) => Self::Image(image),
            Found::TooLarge { format, bytes } => too_large(format, bytes),
        }
    }
}

fn too_large(format: ImageFormat, bytes: u64) -> Block {
    Block::Binary {
        name: "image that is too large to return",
        media_type: format.media_type(),
        bytes,
    }
}

/// A stream as far as it can be had.
#[derive(Clone, Copy)]
struct Whole<'a> {
    buffer: &'a HeadTail,
    file: Option<&'a Path>,
}

impl Whole<'_> {
    /// As much as is in memory, with a gap where something was dropped.
    fn kept(self) -> Vec<u8> {
        [self.buffer.head(), &self.buffer.tail()].concat()
    }

    /// All of it, unless it is longer than this or some of it is gone.
    fn bytes(self, longest: u64) -> Option<Vec<u8>> {
        if self.buffer.total() > longest {
            return None;
        }
        if self.buffer.dropped() == 0 {
            return Some(self.kept());
        }
        let bytes = std::fs::read(self.file?).ok()?;
        (bytes.len() as u64 == self.buffer.total()).then_some(bytes)
    }
}

/// Whether it is worth a closer look: what begins like an image in base64, and what has the head
/// of a URI at the start of a line in the part that is always kept.
fn may_have_images(head: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 4] = [b"iVBORw0KGgo", b"/9j/", b"R0lGOD", b"UklGR"];
    let start = head.trim_ascii_start();
    BEGINNINGS.iter().any(|begin| start.starts_with(begin))
        || head.split(|byte| *byte == b'\n').any(is_uri)
}

fn is_uri(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let head = &line[..line.len().min(100)];
    std::str::from_utf8(head).is_ok_and(|head| image::after_data_uri(head).is_some())
}

/// The lines that are images, and the text between them.
fn blocks_of_lines(text: &str, options: ViewOptions) -> Vec<Block> {
    let mut room = options.image_bytes;
    let mut blocks = Vec::new();
    let mut between = String::new();
    for line in text.split_inclusive('\n') {
        let found = is_uri(line.as_bytes())
            .then(|| Found::in_text(line, room))
            .flatten();
        let Some(found) = found else {
            between.push_str(line);
            continue;
        };
        add_text(&mut blocks, &mut between, options);
        if let Found::Image(image) = &found {
            room = room.saturating_sub(image.bytes);
        }
        blocks.push(found.into());
    }
    add_text(&mut blocks, &mut between, options);
    blocks
}

fn add_text(blocks: &mut Vec<Block>, text: &mut String, options: ViewOptions) {
    if !text.is_empty() {
        let mut buffer = HeadTail::new(text.len() * 2);
        buffer.push(text.as_bytes());
        let excerpt = Excerpt::shown(&buffer, options.most_chars, options.ansi);
        blocks.push(Block::Text(excerpt.text));
        text.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    const SHOWING: ViewOptions = ViewOptions {
        most_chars: 200,
        ansi: Ansi::Remove,
        image_bytes: 1000,
    };

    fn shown(bytes: &[u8], room: usize, options: ViewOptions) -> StreamView {
        let mut buffer = HeadTail::new(room);
        buffer.push(bytes);
        StreamView::of(&buffer, None, options)
    }

    /// Blocks in short.
    fn outline(shown: &StreamView) -> Vec<String> {
        let outline = |block: &Block| match block {
            Block::Text(text) => text.clone(),
            Block::Image(image) => format!("<{} {}>", image.format.media_type(), image.bytes),
            Block::Binary {
                media_type, bytes, ..
            } => format!("<not shown {media_type} {bytes}>"),
        };
        shown.blocks.iter().map(outline).collect()
    }

    fn pixel() -> Vec<u8> {
        use base64::Engine as _;
        base64::prelude::BASE64_STANDARD.decode(PIXEL).unwrap()
    }

    #[test]
    fn text_has_no_blocks_and_no_sequences() {
        let text = shown(b"\x1b[31mred\x1b[0m\n", 4096, SHOWING);
        assert_eq!(text.excerpt.text, "red\n");
        assert_eq!(text.blocks, []);
        let keep = ViewOptions {
            ansi: Ansi::Keep,
            ..SHOWING
        };
        let kept = shown(b"\x1b[31mred\x1b[0m\n", 4096, keep);
        assert_eq!(kept.excerpt.text, "\x1b[31mred\x1b[0m\n");
    }

    #[test]
    fn images_are_blocks() {
        let small = ViewOptions {
            most_chars: 20,
            ..SHOWING
        };
        let uri = format!("data:image/png;base64,{PIXEL}\n");
        let notice = "[image/png image, 70 bytes: returned as an image]\n";
        for (bytes, options, text, blocks) in [
            (pixel(), SHOWING, notice, vec!["<image/png 70>"]),
            (
                uri.clone().into_bytes(),
                SHOWING,
                &*uri,
                vec!["<image/png 70>"],
            ),
            (
                uri.clone().into_bytes(),
                small,
                notice,
                vec!["<image/png 70>"],
            ),
            (
                format!("before\n{uri}after\n").into_bytes(),
                SHOWING,
                &format!("before\n{notice}after\n"),
                vec!["before\n", "<image/png 70>", "after\n"],
            ),
        ] {
            let shown = shown(&bytes, 4096, options);
            assert_eq!(shown.excerpt.text, text);
            assert_eq!(outline(&shown), blocks);
            assert!(shown.has_image());
            assert_eq!(shown.excerpt.omitted_bytes, 0);
        }
    }

    #[test]
    fn images_share_their_room() {
        let uri = format!("data:image/png;base64,{PIXEL}\n");
        let room = ViewOptions {
            image_bytes: 100,
            ..SHOWING
        };
        let two = shown(format!("{uri}{uri}").as_bytes(), 4096, room);
        assert_eq!(
            outline(&two),
            ["<image/png 70>", "<not shown image/png 70>"]
        );
    }

    #[test]
    fn what_cannot_be_shown_is_counted() {
        let gzip = [&b"\x1f\x8b\x08\0\0\0"[..], &[0xff; 94]].concat();
        let data = shown(&gzip, 4096, SHOWING);
        assert_eq!(
            data.excerpt.text,
            "[binary output, 100 bytes, gzip archive: not shown]\n"
        );
        assert_eq!(data.excerpt.omitted_bytes, 100);
        assert_eq!(outline(&data), ["<not shown application/gzip 100>"]);
        assert!(!data.has_image());
        // An image of which the middle is gone, and one that is larger than allowed.
        let none = ViewOptions {
            image_bytes: 10,
            ..SHOWING
        };
        for (room, options) in [(40, SHOWING), (4096, none)] {
            let shown = shown(&pixel(), room, options);
            assert_eq!(outline(&shown), ["<not shown image/png 70>"]);
            assert!(!shown.has_image());
        }
    }

    #[test]
    fn what_left_the_buffer_is_taken_from_the_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), pixel()).unwrap();
        let mut buffer = HeadTail::new(40);
        buffer.push(&pixel());
        let shown = StreamView::of(&buffer, Some(file.path()), SHOWING);
        assert_eq!(outline(&shown), ["<image/png 70>"]);
    }
}
