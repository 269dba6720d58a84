//! How a model is told about scripts: behind what the client tells it, so that the beginning stays what it was and
//! whatever the provider has cached of it serves again.

use ringfence::dialect::provider::{History, Provider, Raw, Request};
use serde_json::json;

/// Adds a text to what a request tells the model before everything else.
pub(crate) fn add(request: &mut Request, text: &str) {
    match request.history.provider() {
        Provider::OpenAiResponses => {
            let own = request.fields.text("instructions");
            let both = own.map_or_else(|| text.to_owned(), |own| format!("{own}\n\n{text}"));
            request.fields.set("instructions", Raw::string(&both));
        }
        Provider::AnthropicMessages => {
            let block = Raw::of(&json!({"type": "text", "text": text}));
            let system = match request.fields.get("system") {
                Some(system) => match (system.elements(), system.as_text()) {
                    (Some(mut blocks), _) => {
                        blocks.push(block);
                        Raw::array(&blocks)
                    }
                    (None, Some(own)) => Raw::string(&format!("{own}\n\n{text}")),
                    (None, None) => Raw::array([&block]),
                },
                None => Raw::string(text),
            };
            request.fields.set("system", system);
        }
        Provider::OpenAiChat => {
            let mut items = request.history.items().to_vec();
            let instructs = |item: &Raw| {
                let role = item.object().and_then(|item| item.text("role"));
                role.is_some_and(|role| role == "system" || role == "developer")
            };
            let at = items.iter().position(|item| !instructs(item));
            let message = Raw::of(&json!({"role": "system", "content": text}));
            items.insert(at.unwrap_or(items.len()), message);
            request.history = History::of(Provider::OpenAiChat, items);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_says_stays_first_and_as_it_is() {
        use Provider::{AnthropicMessages as M, OpenAiChat as C, OpenAiResponses as R};
        for (provider, before, after) in [
            (R, r#"{"input":[]}"#, r#"{"instructions":"+","input":[]}"#),
            (
                R,
                r#"{"instructions":"a","input":[]}"#,
                r#"{"instructions":"a\n\n+","input":[]}"#,
            ),
            (M, r#"{"messages":[]}"#, r#"{"system":"+","messages":[]}"#),
            (
                M,
                r#"{"system":"a","messages":[]}"#,
                r#"{"system":"a\n\n+","messages":[]}"#,
            ),
            (
                M,
                r#"{"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}],"messages":[]}"#,
                r#"{"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"+"}],"messages":[]}"#,
            ),
            (
                C,
                r#"{"messages":[]}"#,
                r#"{"messages":[{"role":"system","content":"+"}]}"#,
            ),
            (
                C,
                r#"{"messages":[{"role":"system","content":"a"},{"role":"user","content":"b"}]}"#,
                r#"{"messages":[{"role":"system","content":"a"},{"role":"system","content":"+"},{"role":"user","content":"b"}]}"#,
            ),
        ] {
            let mut request = Request::read(provider, before.as_bytes()).unwrap();
            add(&mut request, "+");
            assert_eq!(request.body(), after);
        }
    }
}
