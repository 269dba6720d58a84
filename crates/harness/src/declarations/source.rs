//! The declarations of everything that a script sees, and the words that go into a prompt.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::interfaces::Interfaces;
use super::schema::{comment, property, type_of, type_with};
use super::{Declared, Returns};

/// What every script has besides tools.
const GLOBALS: &str = r#"declare const context: {
  readonly conversationId: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly scriptId: string;
  readonly workingDirectory: string;
  readonly provider: string;
  readonly model: string;
  readonly sandbox: {
    readonly timeoutMs: number;
    readonly memoryMb: number;
    readonly remainingToolBudget: number;
    readonly maxConcurrentToolCalls: number;
    readonly mode: "disabled" | "dry-run" | "enabled";
  };
  readonly capabilities: { readonly tools: readonly string[] };
  readonly approvals: { readonly required: boolean; readonly lastRequestId?: string };
  readonly telemetry: { emitProgress(message: string, kind?: "info" | "warn"): void };
  emitProgress(message: string, kind?: "info" | "warn"): void;
};

declare const console: {
  log(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
};
"#;

/// The declarations of all that a script sees.
pub fn declarations(tools: &[Declared]) -> String {
    let mut tree = Branch::default();
    for tool in tools {
        tree.put(&mut tool.name.split('.'), tool);
    }
    let interfaces = Interfaces::of(tools.iter().map(|tool| tool.returns.schema()));
    let mut text = interfaces.declared();
    text += GLOBALS;
    text += "\ndeclare const tools: {\n";
    tree.write(&mut text, &interfaces, 2);
    text += &comment(
        "The tools that have these words in their name or description.",
        2,
    );
    text += "  search(query: string): Promise<Array<{ name: string; description: string }>>;\n";
    text += &comment("All about one tool, its declaration included.", 2);
    text += "  describe(name: string): Promise<{ name: string; description: string; schema: unknown; outputSchema: unknown; declaration: string }>;\n";
    text + "};\n"
}

/// The declaration of one tool, without what is around it.
pub(super) fn declaration(tool: &Declared, interfaces: &Interfaces<'_>, indent: usize) -> String {
    let name = tool.name.rsplit('.').next().unwrap_or(&tool.name);
    let arguments = type_of(&tool.schema, &tool.schema, indent);
    let reply = tool.returns.schema();
    let reply = type_with(reply, reply, interfaces, None, indent);
    let returns = match tool.returns {
        Returns::Promise(_) => format!("Promise<{reply}>"),
        Returns::Task(_) => format!("{{ id: string; done: Promise<{reply}> }}"),
    };
    let margin = " ".repeat(indent);
    format!(
        "{}{margin}{}(args: {arguments}): {returns};\n",
        comment(&tool.description, indent),
        property(name),
    )
}

/// Tools by the parts of their names.
#[derive(Default)]
struct Branch<'t> {
    tool: Option<&'t Declared>,
    below: BTreeMap<&'t str, Branch<'t>>,
}

impl<'t> Branch<'t> {
    fn put(&mut self, path: &mut dyn Iterator<Item = &'t str>, tool: &'t Declared) {
        match path.next() {
            Some(part) => self.below.entry(part).or_default().put(path, tool),
            None => self.tool = Some(tool),
        }
    }

    fn write(&self, text: &mut String, interfaces: &Interfaces<'_>, indent: usize) {
        for (name, branch) in &self.below {
            if let Some(tool) = branch.tool {
                *text += &declaration(tool, interfaces, indent);
            }
            if !branch.below.is_empty() {
                let margin = " ".repeat(indent);
                let _ = writeln!(text, "{margin}{}: {{", property(name));
                branch.write(text, interfaces, indent + 2);
                let _ = writeln!(text, "{margin}}};");
            }
        }
    }
}

/// With more tools than this the prompt names some, and says how to look for the others.
const MOST_NAMED: usize = 20;

/// What a prompt says about scripts: how to write one, and which tools there are.
pub fn prompt(tools: &[Declared]) -> String {
    let mut text = "You can call tools from a script. Write TypeScript between `<tool-calls>` and \
                    `</tool-calls>`: the body of an async function. Await every call, use \
                    `Promise.all` for calls that don't need each other, and `return` what you want to \
                    see (JSON, at most 128 KB; its `message` becomes the summary). There is no \
                    `import`, `require`, `eval`, `fetch` or timer. A tool that fails throws; a \
                    command that exits with another code than 0 does not.\n\nTools:\n"
        .to_owned();
    for tool in tools.iter().take(MOST_NAMED) {
        let what = tool.description.lines().next().unwrap_or_default();
        let _ = writeln!(text, "- `tools.{}`: {what}", tool.name);
    }
    if tools.len() > MOST_NAMED {
        let _ = writeln!(text, "- and {} more", tools.len() - MOST_NAMED);
    }
    text + "\n`await tools.search(\"words\")` looks for tools, and `await tools.describe(\"name\")` tells \
            how one is called.\n"
}
