//! Nothing is lost and nothing misleads, seen from outside: what `ringfence script`, `respond`, `call` and `tools` print.

#![allow(clippy::unwrap_used)]

mod program;

use std::io::Read;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use program::{Place, Ran};

/// The output item of a script, and what the program ended with.
fn item(flags: &[&str], source: &str) -> (Value, Option<i32>) {
    let place = Place::new();
    let arguments = [&["script", "--json"], flags, &["-"]].concat();
    let ran = place.output_given(&arguments, source);
    (parsed(&ran), ran.code)
}

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn inner(item: &Value) -> Value {
    serde_json::from_str(item["output_json"].as_str().unwrap_or("null")).unwrap()
}

const SAYS: &str = "console.warn('careful'); console.log('note', { a: 1 }); context.emitProgress('half'); \
                    context.emitProgress('too soon'); for (let i = 0; i < 30; i++) console.debug(i); return 1";

#[test]
fn what_a_script_said_is_in_its_output_whoever_runs_it() {
    let place = Place::new();
    let message = format!("a <tool-calls>{SAYS}</tool-calls> b");
    let items = parsed(&place.output_given(&["respond", "--json", "-"], &message));
    for output in [
        item(&[], SAYS).0,
        place.call("run_script", &json!({ "source": SAYS }), &[]),
        items[2].clone(),
    ] {
        assert_eq!(
            output["logs"][0],
            json!({ "level": "warn", "text": "careful" }),
            "{output}"
        );
        assert_eq!(
            output["logs"][1],
            json!({ "level": "log", "text": "note {\"a\":1}" })
        );
        assert_eq!(
            output["progress"],
            json!([{ "kind": "info", "text": "half" }])
        );
        assert_eq!(output["dropped"]["progress"], 1, "{output}");
    }
}

#[test]
fn what_was_completed_survives_whatever_happens() {
    let first = "await tools.exec({ command: ['echo', 'first'] });\n";
    // Flags, what comes after the first call, exit code, code, words of the message.
    for (flags, rest, exit, code, words) in [
        (
            &["--timeout", "2"][..],
            "await tools.exec({ command: ['sleep', '60'] })",
            124,
            "ScriptTimeoutError",
            "tool_1 (exec) at line 2",
        ),
        (
            &["--timeout", "2"],
            "while (true) {}",
            124,
            "ScriptTimeoutError",
            "no call was under way",
        ),
        (
            &[],
            "return { message: 'big', text: 'x'.repeat(200000) }",
            1,
            "SerializationError",
            "has 2000",
        ),
        (
            &[],
            "throw new Error('late')",
            1,
            "ScriptRuntimeError",
            "late",
        ),
    ] {
        let (item, ended) = item(flags, &format!("{first}{rest}"));
        assert_eq!(item["error"]["code"], code, "{item}");
        let message = item["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
        assert_eq!(ended, Some(exit), "{item}");
        let inner = inner(&item);
        assert_eq!(
            inner["partialResults"][0]["result"]["stdout"], "first\n",
            "{inner}"
        );
        if code == "SerializationError" {
            assert_eq!(
                (&inner["truncated"], &item["summary"]),
                (&json!(true), &json!("big"))
            );
            assert!(inner["bytes"].as_u64() > Some(200_000));
            assert!(
                inner["preview"]
                    .as_str()
                    .unwrap()
                    .starts_with("{\"message\":\"big\"")
            );
        }
        if words.starts_with("tool_1") {
            let error = &item["error"];
            assert_eq!(
                (&error["toolName"], &error["callId"]),
                (&json!("exec"), &json!("tool_1"))
            );
            assert_eq!(error["metadata"]["line"], 2);
        }
    }
}

#[test]
fn an_interrupt_keeps_what_was_completed() {
    let source = "await tools.exec({ command: ['echo', 'first'] }); await tools.exec({ command: ['touch', 'ready'] }); \
                  await tools.exec({ command: ['sleep', '60'], timeoutMs: 60000 })";
    for (verb, pick) in [("script", None), ("respond", Some(1)), ("call", None)] {
        let place = Place::new();
        let file = place.work().join("given");
        let given = if verb == "call" {
            let arguments = json!({ "source": source }).to_string();
            ["run_script".to_owned(), arguments]
        } else {
            let text = match verb {
                "respond" => format!("<tool-calls>{source}</tool-calls>"),
                _ => source.to_owned(),
            };
            std::fs::write(&file, text).unwrap();
            ["--json".to_owned(), file.display().to_string()]
        };
        let arguments = [verb, &given[0], &given[1]];
        let mut child = place
            .ringfence(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while !place.work().join("ready").exists() {
            assert!(child.try_wait().unwrap().is_none(), "{verb} ended early");
            std::thread::yield_now();
        }
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        let mut text = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        child.wait().unwrap();
        let printed: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{verb}: {error}: {text}"));
        let output = pick.map_or(&printed, |at: usize| &printed[at]);
        assert_eq!(
            output["error"]["code"], "ScriptCancelledError",
            "{verb}: {output}"
        );
        assert_eq!(
            inner(output)["partialResults"][0]["result"]["stdout"],
            "first\n",
            "{verb}: {output}"
        );
    }
}

#[test]
fn errors_say_what_to_change() {
    for (source, code, words) in [
        (
            "await tools.exec({ command: 'ls' })",
            "ToolValidationError",
            "arguments of `exec` do not fit: `command`: expected an array of strings, got a string",
        ),
        (
            "await tools.fileSearch({ pattern: 5 })",
            "ToolValidationError",
            "`fileSearch` do not fit: `pattern`: expected a string, got a number",
        ),
        (
            "await tools.applyPatch({ path: 'x' })",
            "ToolValidationError",
            "`applyPatch` has no field `path`; did you mean `patch`?",
        ),
        (
            "await tools.exec('ls')",
            "ToolValidationError",
            "expected an object, got a string",
        ),
        (
            "await tools.exec({ command: ['ls'], timeoutMs: 1.5 })",
            "ToolValidationError",
            "`timeoutMs`: expected a whole number, got 1.5",
        ),
        (
            "await tools.exec({})",
            "ToolValidationError",
            "missing field `command`: an array of strings",
        ),
        (
            "const a = 1;\nexport { a }",
            "ScriptSyntaxError",
            "`export` is not available in tool scripts; return a value instead",
        ),
        (
            "export default 1",
            "ScriptSyntaxError",
            "return a value instead",
        ),
        (
            "import { type A, b } from 'c'; return b",
            "ScriptSyntaxError",
            "`import` is not available in tool scripts",
        ),
        ("throw { code: 7 }", "ScriptRuntimeError", "{\"code\":7}"),
    ] {
        let (item, exit) = item(&[], source);
        assert_eq!(
            (&item["error"]["code"], exit),
            (&json!(code), Some(1)),
            "{item}"
        );
        let message = item["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{source}: {message}");
    }
}

#[test]
fn what_nobody_handled_is_a_warning() {
    for (source, words) in [
        (
            "const a = 1;\nPromise.reject(new TypeError('boo')); return a",
            "at line 2 and nobody handled it: TypeError: boo",
        ),
        (
            "tools.exec({ command: 'ls' }); await tools.exec({ command: ['true'] }); return 1",
            "tool_0 (exec) at line 1 failed and nobody awaited it: ToolValidationError",
        ),
        // The script is gone before it could learn of it.
        (
            "const a = 1;\ntools.exec({ command: 'ls' }); return a",
            "tool_0 (exec) at line 2",
        ),
        (
            "for (let i = 0; i < 9; i++) tools.exec({ command: ['true'] }); return 1",
            "tool_8 (exec) at line 1",
        ),
    ] {
        let (item, exit) = item(&[], source);
        assert_eq!(
            (&item["output_json"], exit),
            (&json!("1"), Some(0)),
            "{item}"
        );
        let warnings = item["warnings"].to_string();
        assert!(warnings.contains(words), "{source}: {warnings}");
    }
    let handled =
        "await Promise.reject(1).catch(() => 0); await tools.exec({}).catch(() => 0); return 1";
    assert_eq!(item(&[], handled).0.get("warnings"), None);
}

#[test]
fn types_of_other_modules_are_erased() {
    for source in [
        "import type { A } from 'a'; const a: A = 1; return a",
        "import { type A } from 'a';\nconst a: A = 1; return a",
    ] {
        assert_eq!(item(&[], source).0["output_json"], json!("1"), "{source}");
    }
}

#[test]
fn tools_can_be_listed() {
    let source = "const seen = []; for (const name in tools) seen.push(name); \
                  return [Object.keys(tools), Object.keys({ ...tools }), seen, Object.isFrozen(tools), Reflect.set(tools, 'x', 1)]";
    let names = json!(["applyPatch", "exec", "fileSearch", "search", "describe"]);
    assert_eq!(
        inner(&item(&[], source).0),
        json!([names, names, names, true, false])
    );
}

#[test]
fn a_dry_run_sees_every_way_to_name_a_tool() {
    // A script, whether it is valid, and the tools that it is seen to call.
    for (source, valid, tools) in [
        (
            "await tools['exec']({ command: ['ls'] })",
            true,
            &["exec"][..],
        ),
        ("await tools['exec']({ command: 'ls' })", false, &["exec"]),
        (
            "const { exec } = tools; await exec({ command: 'ls' })",
            false,
            &["exec"],
        ),
        (
            "const { exec: run, fileSearch } = tools; await run({ comand: [] }); await fileSearch({ pattern: '*' })",
            false,
            &["exec", "fileSearch"],
        ),
        ("const t = tools; await t.nothing({})", false, &["nothing"]),
        (
            "const run = tools.exec; await run({ command: ['ls', file], timeoutMs: 'soon' })",
            false,
            &["exec"],
        ),
        (
            "await tools?.exec?.({ command: [...words], ...more })",
            true,
            &["exec"],
        ),
        (
            "await tools.applyPatch({ patch: 5 })",
            false,
            &["applyPatch"],
        ),
        (
            "const f = (tools) => tools.anything(1); const exec = 1; f({}); (function (exec) { exec(1) })(exec)",
            true,
            &[],
        ),
        (
            "await tools.exec.call(null, { command: ['ls'] })",
            true,
            &[],
        ),
        (
            "await tools.fileSearch({ pattern: `a${1}`, limit: 5 })",
            true,
            &["fileSearch"],
        ),
        ("return (", false, &[]),
    ] {
        let (item, exit) = item(&["--dry-run"], source);
        assert_eq!(exit, Some(i32::from(!valid)), "{source}: {item}");
        assert_eq!(item.get("error").is_none(), valid, "{source}: {item}");
        let calls = inner(&item)["toolCalls"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let seen: Vec<&str> = calls
            .iter()
            .map(|call| call["tool"].as_str().unwrap())
            .collect();
        assert_eq!(seen, tools, "{source}: {item}");
    }
}

#[test]
fn messages_run_what_was_meant_and_nothing_else() {
    let draft = "<tool-calls>await tools.exec({ command: ['touch', 'draft'] })</tool-calls>";
    // A message, what its scripts returned (`null` for one that failed).
    for (message, returned) in [
        (format!("<Thinking budget=\"9\">{draft}</THINKING><tool-calls>return 1</tool-calls>"), json!(["1"])),
        (format!("<reasoning>{draft}</reasoning> done"), json!([])),
        ("<tool-calls>return '<tool-calls>'.length</tool-calls> and <tool-calls>return 2</tool-calls>".to_owned(), json!(["12", "2"])),
        ("<tool-calls>\n// ends with </tool-calls> as always\nreturn 1\n</tool-calls>".to_owned(), json!(["1"])),
        ("<tool-calls>return '</tool-calls>'.length</tool-calls>".to_owned(), json!(["13"])),
        ("<tool-calls>\n```ts tool-calls\nreturn 3\n```\n</tool-calls>".to_owned(), json!(["3"])),
        ("<tool-calls>return 'open</tool-calls> text <tool-calls>return 4</tool-calls>".to_owned(), json!([null, "4"])),
        ("<tool-calls>let 1 = `</tool-calls> <tool-calls>return 5</tool-calls> <tool-calls>`;</tool-calls> <tool-calls>return 6</tool-calls>".to_owned(), json!([null, "5", null, "6"])),
        ("<tool-calls lang=\"py\">print(1)</tool-calls> <tool-calls>return 7</tool-calls>".to_owned(), json!([null, "7"])),
    ] {
        let place = Place::new();
        let items = parsed(&place.output_given(&["respond", "--json", "-"], &message));
        let outputs = items.as_array().unwrap().iter();
        let outputs: Value = outputs
            .filter(|item| item["type"] == "script_tool_call_output")
            .map(|item| item.get("output_json").cloned().unwrap_or(Value::Null))
            .collect();
        assert_eq!(outputs, returned, "{message}: {items}");
        assert!(!place.work().join("draft").exists(), "{message}");
    }
}

#[test]
fn the_prompt_states_the_limits_in_few_words() {
    let prompt = Place::new().output(&["tools", "--prompt"]).stdout;
    // Fewer characters than in any tokenizer's average for English and code.
    assert!(prompt.len() * 10 / 35 < 1200, "{} bytes", prompt.len());
    for words in [
        "32 tool calls",
        "4 at once",
        "30 s",
        "128 KiB",
        "losers",
        "Await every call",
        "tools.exec({ command",
        "tools.applyPatch({ patch",
        "tools.fileSearch({ pattern",
    ] {
        assert!(prompt.contains(words), "{words}: {prompt}");
    }
}
