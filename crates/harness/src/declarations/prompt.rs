//! What a model's prompt says about scripts: how to write one, what bounds it, and which tools there are.

use std::fmt::Write;

use super::Declared;
use crate::config::ScriptLimits;

/// With more tools than this the prompt names some, and says how to look for the others.
const MOST_NAMED: usize = 20;

const HOW: &str = "You can call tools from a script: TypeScript between `<tool-calls>` and `</tool-calls>`, the body of \
an async function. `return` what you want to see, as JSON (its `message` becomes the summary); `console` lines come \
back too. There is no `import`, `export`, `require`, `eval`, `fetch` or timer.

- Await every call: one that is not awaited is cancelled when the script ends, and its result is lost.
- Calls that don't need each other go in `Promise.all`. The losers of a `Promise.race` or `Promise.any` are cancelled.
- A tool that fails throws an error with `name`, `message` and `toolName`; a program that exits with another code than \
0 does not: look at `exitCode`. A person may say no to a call (`ApprovalDeniedError`): then find another way.
";

/// A call of each of the usual tools, as one would write it.
const EXAMPLES: [(&str, &str); 4] = [
    (
        "exec",
        "const run = await tools.exec({ command: [\"npm\", \"test\"], timeoutMs: 20000 });\n\
         if (run.exitCode !== 0) return { failed: run.stderr.slice(-2000) };",
    ),
    (
        "fileSearch",
        "const found = await tools.fileSearch({ pattern: \"*.test.ts\", limit: 10 }); // [{ path, score }]",
    ),
    (
        "applyPatch",
        "await tools.applyPatch({ patch: [\"*** Begin Patch\", \"*** Update File: a.txt\", \"@@\", \"-old\", \"+new\", \
         \"*** End Patch\"].join(\"\\n\") });",
    ),
    (
        "spawn.exec",
        "const server = tools.spawn.exec({ command: [\"npm\", \"start\"] }); // goes on; end it with tools.spawn.cancel(server.id)",
    ),
];

/// What a prompt says about scripts.
pub fn prompt(tools: &[Declared], limits: &ScriptLimits) -> String {
    let mut text = HOW.to_owned();
    let _ = writeln!(
        text,
        "- Limits: {} tool calls, {} at once (others wait); {} s in all, approvals not counted; {} KiB of source; {} KiB \
         returned, 8 levels deep; {} MB of memory; {} console lines, {} a second.\n\nTools:",
        limits.max_tool_calls,
        limits.max_concurrent_tool_calls,
        limits.timeout.as_secs_f64(),
        limits.max_source_bytes >> 10,
        limits.max_return_size_bytes >> 10,
        limits.memory_mb,
        limits.max_log_events,
        limits.log_rate_per_sec,
    );
    for tool in tools.iter().take(MOST_NAMED) {
        let what = tool.description.lines().next().unwrap_or_default();
        let _ = writeln!(text, "- `tools.{}`: {what}", tool.name);
    }
    if tools.len() > MOST_NAMED {
        let _ = writeln!(text, "- and {} more", tools.len() - MOST_NAMED);
    }
    text += "\n`await tools.search(\"words\")` looks for tools, and `await tools.describe(\"name\")` tells how one is called.\n";
    let known = EXAMPLES
        .iter()
        .filter(|(name, _)| tools.iter().any(|tool| tool.name == *name));
    let examples: Vec<&str> = known.map(|(_, example)| *example).collect();
    if !examples.is_empty() {
        text += "\nFor example:\n```ts\n";
        text += &examples.join("\n");
        text += "\n```\n";
    }
    text
}
