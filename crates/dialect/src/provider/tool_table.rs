//! Tools as a provider is told of them: names that it takes, schemas in its dialect, and the way back from the name that a
//! model wrote to the tool.

use std::collections::HashMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Provider;
use super::raw::Raw;
use super::schema;

/// A tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
    /// Whether the provider is to hold the model to the schema.
    pub strict: bool,
}

/// The longest name that all providers take.
const LONGEST_NAME: usize = 64;
/// The longest description that OpenAI takes, in characters.
const LONGEST_DESCRIPTION: usize = 1_024;

/// The tools of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolTable {
    definitions: Vec<Raw>,
    /// By the name on the wire.
    tools: HashMap<String, Entry>,
    /// The kinds of the provider's own tools, by the name on the wire.
    own: HashMap<String, String>,
}

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    name: String,
    /// The schema, where a model was held to a stricter one.
    loosened: Option<Value>,
}

impl ToolTable {
    /// The tools in a provider's form, and tools of its own (`{"type":"local_shell"}`), which are handed on.
    pub fn new(
        provider: Provider,
        tools: impl IntoIterator<Item = ToolDefinition>,
        own: impl IntoIterator<Item = Raw>,
    ) -> Self {
        let mut table = Self::default();
        for tool in tools {
            let wire_name = table.free_name(&tool.name);
            let strict = tool.strict.then(|| schema::strict(&tool.schema)).flatten();
            let parameters = strict
                .clone()
                .unwrap_or_else(|| schema::plain(&tool.schema));
            let description = match provider {
                Provider::AnthropicMessages => tool.description.clone(),
                _ => tool.description.chars().take(LONGEST_DESCRIPTION).collect(),
            };
            let definition = definition(
                provider,
                &wire_name,
                &description,
                &parameters,
                strict.is_some(),
            );
            table.definitions.push(Raw::of(&definition));
            let entry = Entry {
                name: tool.name,
                loosened: strict.is_some().then_some(tool.schema),
            };
            table.tools.insert(wire_name, entry);
        }
        for raw in own {
            let fields = raw.object().unwrap_or_default();
            let kind = fields.text("type").unwrap_or_default();
            table
                .own
                .insert(fields.text("name").unwrap_or_else(|| kind.clone()), kind);
            table.definitions.push(raw);
        }
        table
    }

    /// The definitions, as they go into a request.
    pub fn definitions(&self) -> &[Raw] {
        &self.definitions
    }

    /// The tool that a model means by a name on the wire, if it is one of these.
    pub fn name<'a>(&'a self, on_wire: &str) -> Option<&'a str> {
        self.tools.get(on_wire).map(|entry| entry.name.as_str())
    }

    /// The `type` of the provider's own tool of a name on the wire, if there is one among these.
    pub fn own_kind(&self, on_wire: &str) -> Option<&str> {
        self.own.get(on_wire).map(String::as_str)
    }

    /// The arguments as the tool takes them. A model that is held to a strict schema writes `null` for what it leaves out.
    pub fn arguments(&self, on_wire: &str, arguments: Value) -> Value {
        match self
            .tools
            .get(on_wire)
            .and_then(|entry| entry.loosened.as_ref())
        {
            Some(schema) => schema::without_fillers(arguments, schema, schema),
            None => arguments,
        }
    }

    /// A name that the providers take and that is not taken: two tools never share one.
    fn free_name(&self, name: &str) -> String {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let spelled: String = name
            .chars()
            .map(|c| if fits(c) { c } else { '_' })
            .collect();
        if spelled == name
            && name.len() <= LONGEST_NAME
            && !self.tools.contains_key(name)
            && !name.is_empty()
        {
            return spelled;
        }
        let digest = Sha256::digest(name.as_bytes());
        let mut mark = format!("_{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2]);
        loop {
            let room = LONGEST_NAME - mark.len();
            let candidate = format!("{}{mark}", &spelled[..room.min(spelled.len())]);
            if !self.tools.contains_key(&candidate) {
                return candidate;
            }
            mark.push('_');
        }
    }
}

fn definition(
    provider: Provider,
    name: &str,
    description: &str,
    parameters: &Value,
    strict: bool,
) -> Value {
    match provider {
        // Without a word the Responses API is strict.
        Provider::OpenAiResponses => json!({
            "type": "function",
            "name": name,
            "description": description,
            "parameters": parameters,
            "strict": strict,
        }),
        Provider::OpenAiChat => {
            let mut function =
                json!({ "name": name, "description": description, "parameters": parameters });
            if strict {
                function["strict"] = true.into();
            }
            json!({ "type": "function", "function": function })
        }
        Provider::AnthropicMessages => {
            let mut tool =
                json!({ "name": name, "description": description, "input_schema": parameters });
            if strict {
                tool["strict"] = true.into();
            }
            tool
        }
    }
}
