//! Tools looked up by words, and one of them in full.

use serde_json::{Value, json};

use super::Declared;
use super::interfaces::Interfaces;
use super::source::declaration;

/// How many are found at most: a model that gets hundreds has not been helped.
const MOST_FOUND: usize = 20;

/// The tools that have words of a query in their name, description or parameters, best first. All of
/// them for an empty query.
pub fn search<'t>(tools: &'t [Declared], query: &str) -> Vec<&'t Declared> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let mut found: Vec<(usize, &Declared)> = tools
        .iter()
        .map(|tool| (score(tool, &words), tool))
        .filter(|(score, _)| *score > 0 || words.is_empty())
        .collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.truncate(MOST_FOUND);
    found.into_iter().map(|(_, tool)| tool).collect()
}

/// A word in the name counts most, then one in the description, then one of a parameter.
fn score(tool: &Declared, words: &[String]) -> usize {
    let name = tool.name.to_lowercase();
    let description = tool.description.to_lowercase();
    let parameters = match tool.schema.get("properties") {
        Some(Value::Object(properties)) => {
            let names: Vec<_> = properties.keys().map(|name| name.to_lowercase()).collect();
            names.join(" ")
        }
        _ => String::new(),
    };
    let one = |word: &String| {
        let word = word.as_str();
        8 * usize::from(name.contains(word))
            + 3 * usize::from(description.contains(word))
            + usize::from(parameters.contains(word))
    };
    words.iter().map(one).sum()
}

/// All about one tool. Its declaration comes with the types that it names.
pub fn describe(tool: &Declared) -> Value {
    let interfaces = Interfaces::of(std::iter::once(tool.returns.schema()));
    let declared = interfaces.declared() + &declaration(tool, &interfaces, 0);
    json!({
        "name": tool.name,
        "description": tool.description,
        "schema": tool.schema,
        "outputSchema": tool.returns.schema(),
        "declaration": declared,
    })
}
