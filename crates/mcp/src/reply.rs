//! A tool's reply as a client gets it: structured, and as text and images for a model to read.
//!
//! The text is what a command printed, followed by whatever else there is to say in one line of JSON, and
//! nothing else: a model pays for each word.

use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::{Map, Value};

/// Fields that the text shows as they are, in this order.
const SHOWN: &[&str] = &["output", "stdout", "stderr", "output_json"];
/// Fields with an output in blocks.
const BLOCKS: &[&str] = &["structuredContent", "structured_content"];
/// Fields that say nothing which the rest does not.
const QUIET: &[&str] = &[
    "sandbox",
    "duration",
    "durationMs",
    "wall_time_ms",
    "aggregated_output",
    "type",
    "id",
    "call_id",
    "metadata",
];

/// The result for a reply. `structured` is the reply as the tool's schema here has it.
pub(crate) fn result(reply: &Value, structured: Value, output: Option<Resource>) -> CallToolResult {
    let mut content = content(reply);
    content.extend(output.map(ContentBlock::resource_link));
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(without_images(structured));
    result
}

fn content(reply: &Value) -> Vec<ContentBlock> {
    let Value::Object(fields) = reply else {
        return vec![ContentBlock::text(reply.to_string())];
    };
    let blocks = BLOCKS
        .iter()
        .find_map(|field| fields.get(*field)?.as_array());
    let mut content: Vec<ContentBlock> = blocks.into_iter().flatten().filter_map(block).collect();
    let mut text = String::new();
    if content.is_empty() {
        text = printed(fields);
    }
    if let Some(rest) = rest(fields) {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&rest);
    }
    if text.is_empty() && content.is_empty() {
        text.push_str("(no output)");
    }
    if !text.is_empty() {
        content.push(ContentBlock::text(text));
    }
    content
}

/// What a command printed.
fn printed(fields: &Map<String, Value>) -> String {
    // Both streams in the order in which they came, where the reply has that.
    if let Some(text) = fields
        .get("aggregated_output")
        .and_then(|both| both["text"].as_str())
    {
        return text.to_owned();
    }
    let mut text = String::new();
    for stream in SHOWN
        .iter()
        .filter_map(|field| fields.get(*field)?.as_str())
    {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(stream);
    }
    text
}

/// Everything else that says something, as a line of JSON.
fn rest(fields: &Map<String, Value>) -> Option<String> {
    let is_command = SHOWN.iter().any(|field| is_text(fields.get(*field)));
    let said: Map<String, Value> = fields
        .iter()
        .filter(|(name, value)| {
            let shown =
                (is_command && SHOWN.contains(&name.as_str())) || BLOCKS.contains(&name.as_str());
            let quiet = is_command && (QUIET.contains(&name.as_str()) || says_nothing(name, value));
            !shown && !quiet
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    (!said.is_empty()).then(|| Value::Object(said).to_string())
}

/// Text, or a stream with its text.
fn is_text(value: Option<&Value>) -> bool {
    value.is_some_and(|value| value.is_string() || value["text"].is_string())
}

fn says_nothing(name: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => {
            matches!(name, "exitCode" | "exit_code") && number.as_i64() == Some(0)
        }
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

fn block(block: &Value) -> Option<ContentBlock> {
    let text = |field: &str| block[field].as_str();
    match text("type")? {
        "image" => Some(ContentBlock::image(text("data")?, text("mimeType")?)),
        "text" => Some(ContentBlock::text(text("text")?)),
        _ => {
            let (kind, bytes) = (text("kind").unwrap_or("data"), &block["bytes"]);
            Some(ContentBlock::text(format!("[{kind}, {bytes} bytes]")))
        }
    }
}

/// The same without the images, which the content has: they would be sent, and paid for, twice.
fn without_images(mut structured: Value) -> Value {
    for field in BLOCKS {
        let blocks = structured.get_mut(*field).and_then(Value::as_array_mut);
        for block in blocks.into_iter().flatten() {
            if block["type"] == "image" {
                block["data"] = Value::String(String::new());
            }
        }
    }
    structured
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_for_a_model() {
        let cases = [
            (
                json!({"stdout": "a\n", "stderr": "", "exitCode": 0, "interrupted": false, "durationMs": 3}),
                "a\n",
            ),
            (
                json!({"stdout": "", "stderr": "", "exitCode": 0}),
                "(no output)",
            ),
            (
                json!({"stdout": "a", "stderr": "b\n", "exitCode": 2}),
                "a\nb\n{\"exitCode\":2}",
            ),
            (
                json!({"stdout": {"text": "x"}, "stderr": {"text": "y"}, "aggregated_output": {"text": "yx"}, "exit_code": 0}),
                "yx",
            ),
            (
                json!({"output": "$ ", "process_id": "p1", "exit_code": null}),
                "$ \n{\"process_id\":\"p1\"}",
            ),
            (
                json!({"success": true, "summary": "M a"}),
                "{\"success\":true,\"summary\":\"M a\"}",
            ),
            (
                json!({"output": {"a": 1}, "id": "scr"}),
                "{\"output\":{\"a\":1},\"id\":\"scr\"}",
            ),
            (json!([]), "[]"),
        ];
        for (reply, expected) in cases {
            let texts: Vec<String> = content(&reply)
                .iter()
                .filter_map(|block| Some(block.as_text()?.text.clone()))
                .collect();
            assert_eq!(texts, [expected], "{reply}");
        }
    }

    #[test]
    fn images_are_sent_once() {
        let reply = json!({
            "stdout": "", "stderr": "", "exitCode": 0,
            "structuredContent": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}],
        });
        let result = result(&reply, reply.clone(), None);
        let image = result.content.iter().find_map(ContentBlock::as_image);
        assert_eq!(image.map(|image| image.data.as_str()), Some("AAAA"));
        let structured = result.structured_content.unwrap_or_default();
        assert_eq!(structured["structuredContent"][0]["data"], "");
        assert_eq!(structured["structuredContent"][0]["mimeType"], "image/png");
    }
}
