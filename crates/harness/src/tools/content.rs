//! What a reply tells of a command's output: as text, and as content blocks where there is more to
//! it than text.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::Engine;
use crate::output::{Ansi, Block, Captured, Excerpt, StreamView, ViewOptions};

/// The output of a command as a reply has it.
pub(super) struct Content {
    /// Standard output.
    pub(super) stdout: StreamView,
    /// Standard error.
    pub(super) stderr: StreamView,
    /// Both, in the order they came as far as they are text.
    pub(super) both: Excerpt,
}

impl Content {
    /// What is told of this output. Escape sequences go by the configuration unless the call says.
    pub(super) fn of(engine: &Engine, output: &Captured, ansi: Option<Ansi>) -> Self {
        let options = ViewOptions {
            most_chars: engine.max_output_chars(),
            ansi: ansi.unwrap_or(engine.config.output.ansi),
            image_bytes: engine.config.output.max_image_bytes,
        };
        // The file has both streams: it is the whole of one where the other is empty.
        let whole = output.file.as_ref().filter(|file| !file.is_cut);
        let file = whole.map(|file| file.path.as_path());
        let alone = |other: u64| file.filter(|_| other == 0);
        let stdout = StreamView::of(&output.stdout, alone(output.stderr.total()), options);
        let stderr = StreamView::of(&output.stderr, alone(output.stdout.total()), options);
        let both = if stdout.blocks.is_empty() && stderr.blocks.is_empty() {
            Excerpt::shown(&output.both, options.most_chars, options.ansi)
        } else {
            let text = format!("{}{}", stdout.excerpt.text, stderr.excerpt.text);
            Excerpt::of_text(&text, options.most_chars)
        };
        Self {
            stdout,
            stderr,
            both,
        }
    }

    /// The blocks, if there is anything else than text.
    pub(super) fn blocks(&self) -> Option<Vec<ContentBlock>> {
        let only_text = self.stdout.blocks.is_empty() && self.stderr.blocks.is_empty();
        let blocks = [&self.stdout, &self.stderr].into_iter().flat_map(|shown| {
            let text = Block::Text(shown.excerpt.text.clone());
            let plain = shown.blocks.is_empty() && !shown.excerpt.text.is_empty();
            let plain = plain.then_some(text);
            shown.blocks.iter().cloned().chain(plain)
        });
        (!only_text).then(|| blocks.map(ContentBlock::of).collect())
    }
}

/// A part of an output, where there is more to it than text.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum ContentBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// The image, in base64.
        data: String,
        /// Its media type.
        mime_type: String,
    },
    /// Something that is not returned.
    Binary {
        /// What it is.
        kind: String,
        /// Its media type.
        mime_type: String,
        /// Its size.
        bytes: u64,
    },
}

impl ContentBlock {
    fn of(block: Block) -> Self {
        match block {
            Block::Text(text) => Self::Text { text },
            Block::Image(image) => Self::Image {
                mime_type: image.format.media_type().to_owned(),
                data: image.base64,
            },
            Block::Binary {
                name,
                media_type,
                bytes,
            } => Self::Binary {
                kind: name.to_owned(),
                mime_type: media_type.to_owned(),
                bytes,
            },
        }
    }
}
