//! Spec 3, rule by rule; a case is named after the section that it holds.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ringfence_script::{
    CodeOptions, Function, HostError, HostFunction, HostPromise, Language, Status, Value,
};
use serde_json::json;

use crate::cases;

fn answering(value: impl Into<Value>) -> HostFunction {
    let value = value.into();
    HostFunction::asynchronous("answer", move |_| {
        let value = value.clone();
        async move { Ok(value) }
    })
}

fn add() -> HostFunction {
    HostFunction::sync("add", |arguments| {
        Ok(Value::Number(
            arguments.iter().filter_map(Value::as_number).sum(),
        ))
    })
}

fn options() -> CodeOptions {
    CodeOptions::new()
}

/// What `globalThis` holds, exactly.
const GLOBALS: &[&str] = &[
    "AggregateError",
    "Array",
    "ArrayBuffer",
    "AsyncDisposableStack",
    "BigInt",
    "BigInt64Array",
    "BigUint64Array",
    "Boolean",
    "DataView",
    "Date",
    "DisposableStack",
    "Error",
    "EvalError",
    "FinalizationRegistry",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "Function",
    "Infinity",
    "Int16Array",
    "Int32Array",
    "Int8Array",
    "Iterator",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Promise",
    "Proxy",
    "RangeError",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "Set",
    "String",
    "SuppressedError",
    "Symbol",
    "SyntaxError",
    "TypeError",
    "URIError",
    "Uint16Array",
    "Uint32Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "WeakMap",
    "WeakRef",
    "WeakSet",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "globalThis",
    "isFinite",
    "isNaN",
    "parseFloat",
    "parseInt",
    "queueMicrotask",
    "structuredClone",
    "undefined",
    "unescape",
];

cases! {
    s1_imports_globals_and_execute_meet(stage) {
        let options = options()
            .import("math", [("add", add())])
            .global("base", 40)
            .execute("run", [Value::from(2)]);
        let source = "import { add } from 'math'; export const run = (n) => add(base, n);";
        assert_eq!(stage.value(source, options).await, json!(42));
    }

    s2_2_terminate_settles_with_the_reason(stage) {
        let run = stage.begin("await new Promise(() => {}); export default 1", options()
            .global("keep", HostPromise::new(std::future::pending())));
        assert!(run.running());
        run.terminate(Some("30s budget"));
        run.terminate(Some("again"));
        let result = run.await;
        assert_eq!(result.status, Status::Terminated);
        assert!(result.error.unwrap().message.contains("30s budget"));
    }

    s2_2_reports_are_live(stage) {
        let (seen, saw) = tokio::sync::mpsc::unbounded_channel();
        let options = options()
            .report(move |value| seen.send(value.to_json()).unwrap())
            .global("forever", HostPromise::new(std::future::pending()));
        let mut saw = saw;
        let run = stage.begin("report(1); report({ two: 2 }); await forever; export default 0", options);
        assert_eq!(saw.recv().await, Some(json!(1)));
        assert_eq!(saw.recv().await, Some(json!({"two": 2})));
        while run.reports().len() < 2 {
            tokio::task::yield_now().await;
        }
        run.terminate(None);
        let result = run.await;
        assert_eq!(result.reports.len(), 2);
        assert_eq!(result.error.unwrap().message, "terminated by the caller");
    }

    s2_2_a_settled_handle_does_not_run(stage) {
        let mut run = stage.begin("export default 1", options());
        let result = (&mut run).await;
        assert!(!run.running());
        run.terminate(Some("too late"));
        assert_eq!(result.status, Status::Success);
        assert!(result.duration_ms > 0.0);
    }

    s2_3_the_example(stage) {
        let reported = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&reported);
        let source = "
            import { readFile } from 'fs';
            import { report } from 'supervisor';

            const message = await getMessage();
            if (/username/.test(message)) {
              report({ topic: 'username', message });
            }

            export async function scan() {
              return { scanned: true };
            }";
        let log = HostFunction::sync("log", |_| Ok(Value::Undefined));
        let options = options()
            .execute("scan", [])
            .import("fs", [("readFile", answering("text"))])
            .import("supervisor", [("report", HostFunction::sync("report", move |arguments| {
                sink.lock().unwrap().extend(arguments.iter().map(Value::to_json));
                Ok(Value::Undefined)
            }))])
            .global("console", Value::object([("log", log)]))
            .global("getMessage", answering("my username is x"));
        assert_eq!(stage.value(source, options).await, json!({"scanned": true}));
        assert_eq!(
            *reported.lock().unwrap(),
            [json!({"topic": "username", "message": "my username is x"})]
        );
    }

    s3_unknown_option_is_rejected(stage) {
        let _ = stage;
        for (bad, word) in [
            (json!({"timeout": 1}), "timeout"),
            (json!({"execute": {"function": "x"}}), "execute.function"),
            (json!({"language": "python"}), "language"),
            (json!({"memoryLimitBytes": "1"}), "memoryLimitBytes"),
            (json!({"modules": {"math.js": ""}}), "math.js"),
            (json!({"globals": {"not an id": 1}}), "not an id"),
            (json!({"globals": {"undefined": 1}}), "undefined"),
            (json!({"memoryLimitBytes": 10}), "memoryLimitBytes"),
            (json!([]), "object"),
        ] {
            let error = CodeOptions::from_json(&bad).unwrap_err().to_string();
            assert!(error.contains(word), "{bad}: {error}");
        }
    }

    s3_options_from_json(stage) {
        let options = CodeOptions::from_json(&json!({
            "execute": {"fn": "go", "args": [{"$": "bigint", "v": "2"}]},
            "globals": {"when": {"$": "Date", "v": "2026-01-01T00:00:00.000Z"}},
            "imports": {"data": {"default": {"$": "Map", "v": [["a", 1]]}}},
            "modules": {"./m.js": "export const one = 1n;"},
            "language": "javascript", "memoryLimitBytes": 8_000_000, "filename": "main.js", "report": true,
        })).unwrap();
        let source = "
            import data from 'data'; import { one } from './m.js';
            export const go = (n) => { report(import.meta.url); return [n + one, when.getUTCFullYear(), data.get('a')] }";
        let result = stage.run(source, options).await;
        assert_eq!(result.result.unwrap().to_json(), json!([{"$": "bigint", "v": "3"}, 2026, 1]));
        assert_eq!(result.reports[0].to_json(), json!("sandbox:main.js"));
    }

    s3_filename_labels_stacks_and_positions(stage) {
        let (_, error) = stage.failure("\n  throw new Error('x')", options().filename("a/b.ts")).await;
        assert_eq!((error.filename.as_deref(), error.line), (Some("a/b.ts"), Some(2)));
        assert!(error.stack.unwrap().contains("a/b.ts:2:"));
        let (_, error) = stage.failure("throw new Error('x')", options()).await;
        assert_eq!(error.filename.as_deref(), Some("<runCode>"));
    }

    s3_1_named_export_is_called_with_args(stage) {
        let source = "
            export function increment(n: number): number { return n + 1; }
            export default function fallback() { return 123; }";
        let named = options().execute("increment", [Value::from(100)]);
        assert_eq!(stage.value(source, named).await, json!(101));
        assert_eq!(stage.value(source, options()).await, json!(123));
    }

    s3_1_thenable_is_awaited(stage) {
        for source in [
            "export default { then(resolve) { resolve(7) } }",
            "export default () => ({ then(resolve) { resolve({ then(r) { r(7) } }) } })",
        ] {
            assert_eq!(stage.value(source, options()).await, json!(7), "{source}");
        }
    }

    s3_1_args_for_a_value_are_an_error(stage) {
        let (status, error) = stage.failure("export default 1", options().execute("default", [Value::Null])).await;
        assert_eq!((status, error.name.as_str()), (Status::Error, "TypeError"));
    }

    s3_1_missing_export_is_link_error(stage) {
        for (source, export) in [("export const a = 1", "default"), ("export default 1", "a"), ("", "default")] {
            let (status, error) = stage.failure(source, options().execute(export, [])).await;
            assert_eq!(status, Status::LinkError, "{source}");
            assert!(error.message.contains(export));
        }
    }

    s3_1_undefined_export_is_not_missing(stage) {
        assert_eq!(stage.value("export default undefined", options()).await, json!({"$": "undefined"}));
    }

    s3_2_named_namespace_and_default_imports(stage) {
        let with = || options()
            .import("fs", [("read", Value::from(add())), ("size", Value::from(3))])
            .import("greeter", [("default", HostFunction::sync("greet", |a| {
                Ok(format!("hi, {}", a[0].as_str().unwrap()).into())
            }))])
            .import("@scope/pkg", [("x", 1)]);
        for (source, expected) in [
            ("import { read, size } from 'fs'; export default read(1, size)", json!(4)),
            ("import * as fs from 'fs'; export default Object.keys(fs).sort()", json!(["read", "size"])),
            ("import greet from 'greeter'; export default greet('you')", json!("hi, you")),
            ("import { x } from '@scope/pkg'; export default x", json!(1)),
        ] {
            assert_eq!(stage.value(source, with()).await, expected, "{source}");
        }
    }

    s3_2_unknown_specifiers_are_link_errors(stage) {
        for specifier in ["fs", "https://example.com/x.js", "node:fs", "./missing.js", "/etc/passwd", "data:text/javascript,1", "../up.js", ""] {
            let source = format!("import {specifier:?}; export default 1");
            let (status, error) = stage.failure(&source, options()).await;
            assert_eq!(status, Status::LinkError, "{specifier}");
            assert_eq!(error.specifier.as_deref(), Some(specifier));
        }
    }

    s3_2_missing_named_export_is_link_error(stage) {
        for source in [
            "import { nope } from 'fs'; export default 1",
            "import { nope } from 'fs'; export default nope",
            "import nope from 'fs'; export default nope",
            "export { nope } from 'fs'; export default 1",
        ] {
            let (status, error) = stage.failure(source, options().import("fs", [("read", 1)])).await;
            assert_eq!((status, error.specifier.as_deref()), (Status::LinkError, Some("fs")), "{source}");
        }
    }

    s3_3_relative_modules(stage) {
        let options = options()
            .execute("result", [])
            .module("./math.js", "export const add = (a, b) => a + b;");
        let source = "import { add } from './math.js'; export const result = add(1, 2);";
        assert_eq!(stage.value(source, options).await, json!(3));
    }

    s3_3_graph_with_parents_siblings_and_cycles(stage) {
        let options = options()
            .filename("src/main.ts")
            .module("./src/a.ts", "import { b } from './lib/b.ts'; export const a: string = 'a' + b();")
            .module("./src/lib/b.ts", "import { c } from '../../c.ts'; import '../a.ts'; export const b = () => 'b' + c;")
            .module("./c.ts", "export const c = 'c';");
        assert_eq!(stage.value("import { a } from './a.ts'; export default a", options).await, json!("abc"));
    }

    s3_3_imports_outside_the_graph_fail(stage) {
        let with = || options().module("./lib/a.js", "import '../../x.js'; export default 1");
        let (status, error) = stage.failure("import './lib/a.js'; export default 1", with()).await;
        assert_eq!((status, error.specifier.as_deref()), (Status::LinkError, Some("../../x.js")));
    }

    s3_3_module_keys_are_relative(stage) {
        let (status, error) = stage.failure("export default 1", options().module("math.js", "")).await;
        assert_eq!((status, error.name.as_str()), (Status::Error, "TypeError"));
    }

    s3_3_syntax_error_in_a_module_is_link_error(stage) {
        let with = || options().module("./bad.ts", "export const a = 1;\nexport const = 2;");
        let (status, error) = stage.failure("import './bad.ts'; export default 1", with()).await;
        assert_eq!((status, error.filename.as_deref(), error.line), (Status::LinkError, Some("./bad.ts"), Some(2)));
    }

    s3_4_globals_are_not_on_global_this(stage) {
        let with = || options().global("console", Value::object([("log", add())])).global("secret", 5);
        for (source, expected) in [
            ("console.log('hi'); export default typeof globalThis.console", json!("undefined")),
            ("export default [secret, 'secret' in globalThis]", json!([5, false])),
            ("export default Object.keys(globalThis).length", json!(0)),
            ("const console = 1; const secret = 2; export default console + secret", json!(3)),
            ("function f(secret) { return secret } export default f(1) + secret", json!(6)),
        ] {
            assert_eq!(stage.value(source, with()).await, expected, "{source}");
        }
    }

    s3_4_every_module_sees_the_globals(stage) {
        let options = options().global("n", 20).module("./m.js", "export const twice = () => n * 2;");
        assert_eq!(stage.value("import { twice } from './m.js'; export default twice() + n", options).await, json!(60));
    }

    s3_5_functions_are_callable_proxies(stage) {
        let with = || options().global("add", add()).global("slow", answering(9));
        for (source, expected) in [
            ("export default add(1, 2)", json!(3)),
            ("export default typeof add + add.name", json!("functionadd")),
            ("export default slow() instanceof Promise", json!(true)),
            ("export default (await slow()) + 1", json!(10)),
            ("let r; try { new add() } catch (e) { r = e.name } export default r", json!("TypeError")),
        ] {
            assert_eq!(stage.value(source, with()).await, expected, "{source}");
        }
    }

    s3_5_host_promises_are_promises(stage) {
        let good = HostPromise::new(async { Ok(5.into()) });
        let bad = HostPromise::new(async { Err(HostError::named("OhNo", "bad")) });
        let options = options().global("good", good).global("bad", bad);
        let source = "let caught; try { await bad } catch (e) { caught = e.name + e.message }
            export default [good instanceof Promise, await good, caught]";
        assert_eq!(stage.value(source, options).await, json!([true, 5, "OhNobad"]));
    }

    s3_5_asynchronous_calls_run_side_by_side(stage) {
        let barrier = Arc::new(tokio::sync::Barrier::new(3));
        let meet = HostFunction::asynchronous("meet", move |_| {
            let barrier = Arc::clone(&barrier);
            async move { barrier.wait().await; Ok(1.into()) }
        });
        let source = "export default (await Promise.all([meet(), meet(), meet()])).length";
        assert_eq!(stage.value(source, options().global("meet", meet)).await, json!(3));
    }

    s3_5_calls_are_cancelled_when_the_run_ends(stage) {
        struct Flag(Arc<tokio::sync::Notify>);
        impl Drop for Flag {
            fn drop(&mut self) { self.0.notify_one(); }
        }
        let dropped = Arc::new(tokio::sync::Notify::new());
        let notify = Arc::clone(&dropped);
        let never = HostFunction::asynchronous("never", move |_| {
            let flag = Flag(Arc::clone(&notify));
            async move { let _flag = flag; std::future::pending().await }
        });
        assert_eq!(stage.value("never(); export default 1", options().global("never", never)).await, json!(1));
        dropped.notified().await;
    }

    s3_5_script_functions_become_handles(stage) {
        let timeout = HostFunction::sync("setTimeout", |arguments| {
            let Some(Function::Script(callback)) = arguments[0].as_function().cloned() else {
                return Err("not a function".into());
            };
            let delay = Duration::from_secs_f64(arguments.get(1).and_then(Value::as_number).unwrap_or(0.0) / 1000.0);
            tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                let _ = callback.call(vec!["tick".into()]).await;
            });
            Ok(Value::Undefined)
        });
        let source = "export default await new Promise((resolve) => setTimeout(resolve, 5))";
        assert_eq!(stage.value(source, options().global("setTimeout", timeout)).await, json!("tick"));
    }

    s3_5_a_handle_returns_values_and_errors(stage) {
        let call = HostFunction::asynchronous("call", |arguments| async move {
            let Some(Function::Script(callback)) = arguments[0].as_function().cloned() else {
                return Err("not a function".into());
            };
            match callback.call(vec![20.into()]).await {
                Ok(value) => Ok(value),
                Err(error) => Ok(format!("{error}").into()),
            }
        });
        let with = || options().global("call", call.clone());
        assert_eq!(stage.value("export default await call(async (n) => n + 1)", with()).await, json!(21));
        let throwing = "export default await call(() => { throw new TypeError('x') })";
        assert_eq!(stage.value(throwing, with()).await, json!("TypeError: x"));
    }

    s4_error_is_present_only_on_failure(stage) {
        let good = stage.run("export default 1", options()).await.to_json();
        assert!(good.get("error").is_none() && good.get("result").is_some());
        assert_eq!(good["status"], json!("success"));
        assert!(good["memoryUsedBytes"].as_u64().unwrap() > 0);
        let bad = stage.run("throw 1", options()).await.to_json();
        assert!(bad.get("error").is_some() && bad.get("result").is_none());
        assert_eq!(bad["reports"], json!([]));
    }

    s4_1_uncaught_errors(stage) {
        for (source, name, message) in [
            ("throw new RangeError('far')", "RangeError", "far"),
            ("export default () => { throw new TypeError('t') }", "TypeError", "t"),
            ("export default async () => { throw new Error('e') }", "Error", "e"),
            ("export default Promise.reject(new Error('r'))", "Error", "r"),
            ("throw 'just text'", "Error", "just text"),
            ("throw { message: 'like an error' }", "Error", "like an error"),
            ("class My extends Error { constructor(m) { super(m); this.name = 'My' } } throw new My('m')", "My", "m"),
            ("null.x", "TypeError", "cannot read property 'x' of null"),
        ] {
            let (status, error) = stage.failure(source, options()).await;
            assert_eq!((status, error.name.as_str(), error.message.as_str()), (Status::Error, name, message), "{source}");
        }
    }

    s4_1_memory(stage) {
        let source = "const a = []; while (true) a.push(new Array(1000).fill(a.length));";
        let (status, _) = stage.failure(source, options().memory_limit_bytes(16 << 20)).await;
        assert_eq!(status, Status::Memory);
    }

    s4_1_syntax_errors_are_link_errors(stage) {
        for language in [Language::JavaScript, Language::TypeScript] {
            let (status, error) = stage.failure("const a = 1;\nlet = ;", options().language(language)).await;
            assert_eq!((status, error.name.as_str()), (Status::LinkError, "SyntaxError"));
            assert_eq!(error.line, Some(2), "{language:?}");
        }
    }

    s4_1_a_promise_that_nothing_settles_is_an_error(stage) {
        let (status, error) = stage.failure("await new Promise(() => {}); export default 1", options()).await;
        assert_eq!(status, Status::Error);
        assert!(error.message.contains("nothing can settle"));
    }

    s4_2_bridge_errors_are_ordinary_errors(stage) {
        let fail = HostFunction::sync("fail", |_| Err(HostError::named("TypeError", "told you")));
        let fail_later = HostFunction::asynchronous("later", |_| async { Err(HostError::named("Custom", "later")) });
        let with = || options().global("fail", fail.clone()).global("later", fail_later.clone());
        let source = "let r = [];
            try { fail() } catch (e) { r.push(e instanceof TypeError, e.name, e.message, /rust|\\.rs|src\\//.test(e.stack)) }
            try { await later() } catch (e) { r.push(e instanceof Error, e.name, e.message) }
            export default r";
        assert_eq!(stage.value(source, with()).await, json!([true, "TypeError", "told you", false, true, "Custom", "later"]));
        let (_, error) = stage.failure("fail()", with()).await;
        assert_eq!((error.name.as_str(), error.line), ("TypeError", Some(1)));
    }

    s4_2_positions_are_those_of_the_typescript(stage) {
        let module = "interface A { b: number }\n\nexport function boom(a: A): never {\n  throw new Error('x' + a.b);\n}\n";
        let source = "import { boom } from './m.ts';\ntype B = { b: number };\n\nconst b: B = { b: 1 };\nboom(b);\n";
        let (_, error) = stage.failure(source, options().module("./m.ts", module)).await;
        assert_eq!((error.filename.as_deref(), error.line), (Some("./m.ts"), Some(4)));
        let stack = error.stack.unwrap();
        assert!(stack.contains("./m.ts:4:") && stack.contains("<runCode>:5:"), "{stack}");
    }

    s4_3_the_built_in_console_is_captured(stage) {
        let source = "console.log('a', { b: 1 }); console.warn(undefined); console.error(new Error('e'));
            console.info(() => 1, Symbol('s')); console.debug(1n); export default typeof globalThis.console";
        let result = stage.run(source, options()).await;
        assert_eq!(result.result.unwrap().to_json(), json!("undefined"));
        let levels: Vec<_> = result.logs.iter().map(|log| log.level.as_str()).collect();
        assert_eq!(levels, ["log", "warn", "error", "info", "debug"]);
        assert_eq!(result.logs[0].to_json()["args"], json!(["a", {"b": 1}]));
        assert!(result.logs[0].timestamp > 1.7e12);
    }

    s4_3_a_console_of_the_caller_is_not_captured(stage) {
        let console = Value::object([("log", HostFunction::sync("log", |_| Ok(Value::Undefined)))]);
        let result = stage.run("console.log(1); export default 1", options().global("console", console)).await;
        assert!(result.logs.is_empty());
    }

    s4_3_log_lines_are_bounded(stage) {
        let result = stage.run("for (let i = 0; i < 5000; i++) console.log(i); export default 1", options()).await;
        assert_eq!(result.logs.len(), 1001);
        assert!(format!("{:?}", result.logs[1000].args).contains("4000 more lines"));
    }

    s5_1_default_export_is_the_result(stage) {
        for source in [
            "export default 42;",
            "export default async () => 42;",
            "export default () => Promise.resolve(42);",
            "export default Promise.resolve(42);",
        ] {
            assert_eq!(stage.value(source, options()).await, json!(42), "{source}");
        }
        let object = stage.value("export default { summary: 'ok', matches: 3 };", options()).await;
        assert_eq!(object, json!({"summary": "ok", "matches": 3}));
    }

    s5_2_reports_are_collected_in_order(stage) {
        let result = stage.run("for (const i of [1, 2, 3]) report(i); export default 'done'", options().report(|_| {})).await;
        let reports: Vec<_> = result.reports.iter().map(Value::to_json).collect();
        assert_eq!(reports, [json!(1), json!(2), json!(3)]);
    }

    s5_2_reports_are_bounded(stage) {
        let source = "let n = 0; try { while (true) { report(1); n++ } } catch (e) { n = [n, e.name] } export default n";
        let result = stage.run(source, options().report(|_| {})).await;
        assert_eq!(result.result.unwrap().to_json(), json!([10_000, "RangeError"]));
        assert_eq!(result.reports.len(), 10_000);
    }

    s5_2_report_is_absent_unless_asked_for(stage) {
        assert_eq!(stage.value("export default typeof report", options()).await, json!("undefined"));
        let on_global = stage.value("export default 'report' in globalThis", options().report(|_| {})).await;
        assert_eq!(on_global, json!(false));
    }

    s6_1_global_this_holds_the_intrinsics_and_nothing_else(stage) {
        let names = stage.value("export default Object.getOwnPropertyNames(globalThis).sort()", options()).await;
        let found: Vec<&str> = names.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(found, GLOBALS);
    }

    s6_1_excluded_names_are_absent(stage) {
        let names = ["process", "global", "window", "self", "document", "require", "Deno", "Bun", "fetch",
            "Request", "Response", "URL", "URLSearchParams", "WebSocket", "WebAssembly", "crypto", "setTimeout",
            "setInterval", "setImmediate", "performance", "atob", "btoa", "TextEncoder", "TextDecoder"];
        for name in names {
            let source = format!("export default typeof {name}");
            assert_eq!(stage.value(&source, options()).await, json!("undefined"), "{name}");
            let bridged = stage.value(&source, options().global(name, add())).await;
            assert_eq!(bridged, json!("function"), "{name}");
        }
    }

    s6_2_no_text_becomes_code(stage) {
        for expression in [
            "eval('1')", "(0, eval)('1')", "globalThis.eval('1')", "Function('return 1')()", "new Function('return 1')()",
            "(() => {}).constructor('return 1')()", "(async () => {}).constructor('return 1')()",
            "(function* () {}).constructor('yield 1')()", "(async function* () {}).constructor('yield 1')()",
            "Reflect.construct(Function, ['return 1'])()", "({}).constructor.constructor('return 1')()",
            "structuredClone.constructor('return 1')()", "[].map.constructor('return 1')()",
            "new (class extends Function {})('return 1')()",
        ] {
            let source = format!("let r; try {{ {expression}; r = 'ran' }} catch (e) {{ r = e.name }} export default r");
            let value = stage.value(&source, options().language(Language::JavaScript)).await;
            assert!(value == json!("TypeError") || value == json!("ReferenceError"), "{expression}: {value}");
        }
    }

    s6_2_dynamic_import_is_limited_to_the_graph(stage) {
        let with = || options().import("fs", [("a", 1)]).module("./m.ts", "export const m: number = 2;");
        let good = "export default (await import('fs')).a + (await import('./m.ts')).m";
        assert_eq!(stage.value(good, with()).await, json!(3));
        for specifier in ["https://example.com/x.js", "os", "./x.js", "file:///etc/passwd"] {
            let source = format!("export default await import('{specifier}').catch((e) => 'refused')");
            assert_eq!(stage.value(&source, with()).await, json!("refused"), "{specifier}");
        }
    }

    s6_3_no_shared_memory(stage) {
        assert_eq!(stage.value("export default typeof SharedArrayBuffer + typeof Atomics", options()).await, json!("undefinedundefined"));
        let original = Value::object([("n", 1)]);
        let value = stage.value("input.n = 2; export default input.n", options().global("input", original.clone())).await;
        assert_eq!((value, original.to_json()), (json!(2), json!({"n": 1})));
    }

    s6_5_memory_default_applies(stage) {
        let (status, _) = stage.failure("const a = []; while (true) a.push('x'.repeat(1 << 20) + a.length);", options()).await;
        assert_eq!(status, Status::Memory);
    }

    s6_6_microtasks_work_and_timers_are_absent(stage) {
        let source = "const order = []; queueMicrotask(() => order.push(2)); order.push(1);
            await Promise.resolve(); await null; export default [order, typeof setTimeout]";
        assert_eq!(stage.value(source, options()).await, json!([[1, 2], "undefined"]));
    }

    s6_7_random_and_time_differ(stage) {
        let source = "export default [Math.random(), Math.random(), Date.now()]";
        let (one, two) = (stage.value(source, options()).await, stage.value(source, options()).await);
        assert_ne!(one[0], two[0]);
        assert_ne!(one[0], one[1]);
        assert!((0.0..1.0).contains(&one[0].as_f64().unwrap()));
        assert!(one[2].as_f64().unwrap() > 1.7e12);
    }

    s6_8_each_run_is_fresh(stage) {
        let dirty = "globalThis.x = 1; Array.prototype.map = null; Object.prototype.y = 2; export default 1";
        stage.value(dirty, options()).await;
        let clean = "export default [typeof globalThis.x, typeof [].map, typeof ({}).y]";
        assert_eq!(stage.value(clean, options()).await, json!(["undefined", "function", "undefined"]));
    }

    s6_8_intrinsics_are_mutable(stage) {
        let source = "Array.prototype.last = function () { return this.at(-1) }; globalThis.z = 3; export default [1, z].last()";
        assert_eq!(stage.value(source, options().language(Language::JavaScript)).await, json!(3));
    }

    s7_typescript_is_erased(stage) {
        for (source, expected) in [
            ("const a: number = 1; export default a satisfies number as number", json!(1)),
            ("enum E { A, B = 'b' } export default [E.A, E[0], E.B]", json!([0, "A", "b"])),
            ("const enum E { A = 1 << 2 } export default E.A", json!(4)),
            ("declare const nope: string; export default 1", json!(1)),
            ("namespace N { export const x = 1; export namespace M { export const y = 2 } } export default N.x + N.M.y", json!(3)),
            ("class P { constructor(private x: number, public readonly y = 2) {} sum() { return this.x + this.y } } export default new P(1).sum()", json!(3)),
            ("function id<T>(x: T): T { return x } export default id<number>(5)!", json!(5)),
            ("import type { T } from 'nowhere'; export type { T }; export default 1", json!(1)),
            ("import { type T } from './t.ts'; export default 1", json!(1)),
            ("import { T } from './t.ts'; const x: T = 1; export default x", json!(1)),
            ("abstract class A { abstract f(): void } class B extends A { f() {} } export default typeof new B().f", json!("function")),
            ("const f = (x?: number, ...r: string[]): void => {}; export default f.length", json!(1)),
            ("let a = <number>3; export default a", json!(3)),
            ("const wrong: string = 5; export default wrong", json!(5)),
        ] {
            let options = options().module("./t.ts", "export type T = number; export {}");
            assert_eq!(stage.value(source, options).await, expected, "{source}");
        }
    }

    s7_javascript_is_left_untouched(stage) {
        let source = "export default (function named(a, b) { /* kept */ return a }).toString()";
        let javascript = options().language(Language::JavaScript);
        assert_eq!(stage.value(source, javascript.clone()).await, json!("function named(a, b) { /* kept */ return a }"));
        let (status, _) = stage.failure("const a: number = 1; export default a", javascript).await;
        assert_eq!(status, Status::LinkError);
    }

    s8_top_level_await_and_one_graph(stage) {
        let options = options().global("slow", answering(2)).module("./m.js", "globalThis.count = (globalThis.count ?? 0) + 1; export const c = await slow();");
        let source = "import { c } from './m.js'; import * as again from './m.js'; export default [c + await slow(), again.c, count]";
        assert_eq!(stage.value(source, options).await, json!([4, 2, 1]));
    }

    s8_import_namespaces_are_frozen_copies(stage) {
        let with = || options().import("cfg", [("n", 1)]);
        for attempt in ["ns.n = 2", "delete ns.n", "ns.m = 1", "Object.defineProperty(ns, 'n', { value: 3 })"] {
            let source = format!("import * as ns from 'cfg'; let r; try {{ {attempt}; r = 'done' }} catch (e) {{ r = e.name }} export default [r, ns.n, Object.isExtensible(ns)]");
            assert_eq!(stage.value(&source, with()).await, json!(["TypeError", 1, false]), "{attempt}");
        }
    }

    s8_import_meta_has_only_a_url(stage) {
        let source = "export default [Object.keys(import.meta), import.meta.url]";
        assert_eq!(stage.value(source, options()).await, json!([["url"], "sandbox:<runCode>"]));
        assert_eq!(stage.value(source, options().filename("dir/x.ts")).await, json!([["url"], "sandbox:dir/x.ts"]));
    }

    s10_1_single_value(stage) {
        let source = "const n = input.reduce((a, b) => a + b, 0);\nexport default n;";
        assert_eq!(stage.value(source, options().global("input", Value::array([1, 2, 3]))).await, json!(6));
    }

    s10_2_without_a_default_export_the_rule_wins(stage) {
        let flagged = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&flagged);
        let rows = Value::from_json(&json!([{"id": 1, "flagged": true}, {"id": 2, "flagged": false}])).unwrap();
        let report = HostFunction::sync("report", move |arguments| {
            sink.lock().unwrap().push(arguments[0].as_number());
            Ok(Value::Undefined)
        });
        let source = "import { report } from 'supervisor';\nfor (const row of rows) { if (row.flagged) report(row.id); }";
        let (status, _) = stage.failure(source, options().global("rows", rows).import("supervisor", [("report", report)])).await;
        assert_eq!(status, Status::LinkError);
        assert_eq!(*flagged.lock().unwrap(), [Some(1.0)]);
    }

    s10_3_a_deadline(stage) {
        let run = stage.begin("while (true) {}", options().memory_limit_bytes(64 << 20).global("input", "{}"));
        tokio::time::sleep(Duration::from_millis(20)).await;
        run.terminate(Some("2s budget"));
        let result = run.await;
        assert_eq!(result.status, Status::Terminated);
        assert!(result.error.unwrap().message.contains("2s budget"));
    }

    s10_4_as_a_tool(stage) {
        let read = answering("content");
        let options = options().import("thread", [("readFile", read)]);
        let source = "import { readFile } from 'thread'; export default (await readFile('/a')).length";
        assert_eq!(stage.value(source, options).await, json!(7));
    }

    docs_run_code_first_example(stage) {
        let read = HostFunction::asynchronous("readFile", |arguments| async move {
            match arguments[0].as_str() {
                Some("/data/notes.txt") => Ok("three words here".into()),
                _ => Err("no such file".into()),
            }
        });
        let options = options()
            .import("fs", [("readFile", read)])
            .global("limit", 10)
            .execute("count", [Value::from("/data/notes.txt")]);
        let source = "import { readFile } from 'fs';
             export async function count(path: string): Promise<number> {
                 return Math.min(limit, (await readFile(path)).split(' ').length);
             }";
        assert_eq!(stage.value(source, options).await, json!(3));
    }

    docs_run_code_deadline_example(stage) {
        let mut run = stage.begin("while (true) {}", options());
        let result = tokio::select! {
            result = &mut run => result,
            () = tokio::time::sleep(Duration::from_millis(20)) => { run.terminate(Some("2s budget")); run.await }
        };
        assert_eq!(result.status, Status::Terminated);
    }
}
