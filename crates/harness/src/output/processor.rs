//! Output processors: whoever may change the text of replies before a model reads it.

use std::borrow::Cow;

use serde_json::Value;

use crate::engine::Engine;

/// Somebody who sees what commands printed, as replies have it, before a model does.
///
/// The text is cut to size already. Processors are called in the order in which they were added, each with
/// what the one before made of it. Listeners, the audit log and the files of long outputs have
/// what was printed.
pub trait OutputProcessor: Send + Sync {
    /// What the reply shall have in place of a text.
    fn process<'t>(&self, tool: &str, text: &'t str) -> Cow<'t, str>;
}

/// The fields of replies that hold what a command printed, in themselves or in a `text` below.
const PRINTED: &[&str] = &[
    "body",
    "stdout",
    "stderr",
    "output",
    "aggregated_output",
    "screen",
    "content",
];

impl Engine {
    /// A reply with what was printed as the processors have it.
    pub(crate) fn processed(&self, tool: &str, mut reply: Value) -> Value {
        if !self.processors.is_empty()
            && let Value::Object(fields) = &mut reply
        {
            for (name, value) in fields {
                if PRINTED.contains(&name.as_str()) {
                    self.process_texts(tool, value);
                }
            }
        }
        reply
    }

    fn process_texts(&self, tool: &str, value: &mut Value) {
        match value {
            Value::String(text) => {
                for processor in &self.processors {
                    *text = processor.process(tool, text).into_owned();
                }
            }
            Value::Object(fields) => {
                if let Some(text) = fields.get_mut("text") {
                    self.process_texts(tool, text);
                }
            }
            Value::Array(blocks) => blocks
                .iter_mut()
                .filter(|block| block.is_object())
                .for_each(|block| self.process_texts(tool, block)),
            _ => {}
        }
    }
}
