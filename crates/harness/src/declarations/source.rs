//! The declarations of everything that a script sees.

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
