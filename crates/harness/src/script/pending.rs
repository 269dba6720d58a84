//! A call that was under way when its script ended: as it is named to the model.

use std::fmt;

use ringfence_script::ToolCall;
use serde_json::{Value, json};

/// A call that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pending {
    pub(super) number: u64,
    pub(super) tool: String,
    /// The line of the script that made it.
    pub(super) line: Option<u32>,
}

impl Pending {
    pub(super) fn of(call: &ToolCall) -> Self {
        Self {
            number: call.number,
            tool: call.tool.clone(),
            line: call.site.map(|site| site.line),
        }
    }

    /// The id that scripts and models know it by.
    pub(super) fn call_id(&self) -> String {
        format!("tool_{}", self.number)
    }

    pub(super) fn to_json(&self) -> Value {
        let mut json = json!({ "callId": self.call_id(), "tool": self.tool });
        if let Some(line) = self.line {
            json["line"] = json!(line);
        }
        json
    }

    /// Several of them, in one line.
    pub(super) fn list(all: &[Self]) -> String {
        let names: Vec<String> = all.iter().map(Self::to_string).collect();
        names.join(", ")
    }
}

impl fmt::Display for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool_{} ({})", self.number, self.tool)?;
        match self.line {
            Some(line) => write!(f, " at line {line}"),
            None => Ok(()),
        }
    }
}
