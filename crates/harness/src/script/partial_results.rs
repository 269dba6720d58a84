//! What the calls of a script gave: kept for the model in case the script comes to nothing.

use serde_json::{Value, json};

use super::pending::Pending;
use super::return_value::preview;

/// Results of calls, as many as fit.
#[derive(Debug)]
pub(super) struct PartialResults {
    results: Vec<Value>,
    bytes: usize,
    most: usize,
    left_out: u64,
}

impl PartialResults {
    pub(super) fn new(most: u64) -> Self {
        Self {
            results: Vec::new(),
            bytes: 0,
            most: usize::try_from(most).unwrap_or(usize::MAX),
            left_out: 0,
        }
    }

    /// Keeps a result; one that is too large by its size and how it begins.
    pub(super) fn add(&mut self, call: &Pending, result: &Value) {
        let text = result.to_string();
        let mut entry = call.to_json();
        if self.bytes + text.len() <= self.most {
            self.bytes += text.len();
            entry["result"] = result.clone();
            self.results.push(entry);
            return;
        }
        let preview = preview(&text);
        if self.bytes + preview.len() > self.most {
            self.left_out += 1;
            return;
        }
        self.bytes += preview.len();
        entry["truncated"] = json!(true);
        entry["bytes"] = json!(text.len());
        entry["preview"] = json!(preview);
        self.results.push(entry);
    }

    /// All of them; nothing if there are none.
    pub(super) fn to_json(&self) -> Option<Value> {
        if self.results.is_empty() && self.left_out == 0 {
            return None;
        }
        let mut all = json!({ "partialResults": self.results });
        if self.left_out > 0 {
            all["leftOut"] = json!(self.left_out);
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_kept_by_how_it_begins() {
        let mut kept = PartialResults::new(5000);
        assert_eq!(kept.to_json(), None);
        let call = |number| Pending {
            number,
            tool: "exec".to_owned(),
            line: Some(2),
        };
        kept.add(&call(0), &json!({ "a": 1 }));
        for number in 1..5 {
            kept.add(&call(number), &json!("x".repeat(6000)));
        }
        let all = kept.to_json().unwrap();
        let results = all["partialResults"].as_array().unwrap();
        assert_eq!(
            results[0],
            json!({ "callId": "tool_0", "tool": "exec", "line": 2, "result": { "a": 1 } })
        );
        assert_eq!(
            (&results[1]["bytes"], &results[1]["truncated"]),
            (&json!(6002), &json!(true))
        );
        assert_eq!((results.len(), &all["leftOut"]), (3, &json!(2)));
    }
}
