//! S1 to S20: what a script must not be able to do.

use std::time::{Duration, Instant};

use ringfence::config::{Config, ScriptMode};
use ringfence::dialect::{ErrorCode, Phase};
use ringfence_testkit::processes::{gone_from_the_group_within_a_second, processes_with};
use serde_json::json;

use crate::stage::{Stage, short_timeout};
use crate::support::Case;

pub(crate) fn cases() -> Vec<Case> {
    plain![
        s01_prototype_pollution_fails,
        s02_tools_are_frozen,
        s03_require_is_rejected_before_the_sandbox,
        s04_import_is_rejected,
        s05_infinite_loop_hits_timeout,
        s06_microtask_flood_hits_timeout,
        s07_memory_exhaustion_is_a_memory_error,
        s08_stack_overflow_is_a_stack_error,
        s09_eval_is_a_reference_error,
        s10_function_constructor_is_blocked,
        s11_process_is_undefined,
        s12_context_cannot_be_modified,
        s13_the_prototype_of_context_is_frozen,
        s14_promise_cannot_be_modified,
        s15_a_hung_script_is_terminated_and_the_host_goes_on,
        s16_scripts_do_not_see_each_other,
        s17_an_orphaned_promise_is_cancelled,
        s18_workers_cannot_be_spawned,
        s19_a_large_return_is_truncated_with_an_error,
        s20_dry_run_validates_and_runs_nothing,
    ]
}

/// Tries something and says what kind of error it was.
fn attempt(stage: &Stage, attempt: &str) -> serde_json::Value {
    stage.value(&format!(
        "try {{ {attempt}; return 'done'; }} catch (error) {{ return error.name; }}"
    ))
}

fn s01_prototype_pollution_fails() {
    let stage = Stage::new();
    assert_eq!(attempt(&stage, "Object.prototype.hack = 1"), "TypeError");
    assert_eq!(attempt(&stage, "({}).hack = 1"), "done");
}

fn s02_tools_are_frozen() {
    let stage = Stage::new();
    for tried in [
        "tools.applyPatch = null",
        "tools.exec = null",
        "delete tools.exec",
        "tools.exec.x = 1",
    ] {
        assert_eq!(attempt(&stage, tried), "TypeError", "{tried}");
    }
}

fn s03_require_is_rejected_before_the_sandbox() {
    let stage = Stage::new();
    let output = stage.run("await tools.exec({ command: ['touch', 'ran'] });\nrequire('fs')");
    let error = output.error.unwrap();
    assert_eq!(
        (error.code, error.phase),
        (ErrorCode::ScriptSyntaxError, Phase::Parsing)
    );
    assert_eq!(
        (&error.metadata["line"], &error.metadata["column"]),
        (&json!(2), &json!(1))
    );
    assert!(!stage.home.work().join("ran").exists(), "nothing ran");
    assert_eq!(
        stage.value("return ({ require: 'a property is no reference' }).require.length"),
        26
    );
}

fn s04_import_is_rejected() {
    let stage = Stage::new();
    for source in [
        "await import('fs')",
        "import fs from 'fs'",
        "return import.meta",
    ] {
        let (code, message) = stage.failure(source);
        assert_eq!(code, ErrorCode::ScriptSyntaxError, "{source}");
        assert!(message.contains("`import` is not available"), "{message}");
    }
}

fn s05_infinite_loop_hits_timeout() {
    assert_eq!(
        Config::default().script.limits.timeout,
        Duration::from_secs(30)
    );
    let stage = Stage::new().with(short_timeout);
    let (code, message) = stage.failure("while (true) {}");
    assert_eq!(code, ErrorCode::ScriptTimeoutError);
    assert!(message.contains("3000 ms"), "{message}");
}

fn s06_microtask_flood_hits_timeout() {
    let stage = Stage::new().with(short_timeout);
    for source in [
        "const again = () => Promise.resolve().then(again); await again()",
        "const again = async () => { await null; return again() }; await again()",
        "const again = () => queueMicrotask(again); again(); await tools.exec({ command: ['sleep', '60'] })",
    ] {
        let (code, message) = stage.failure(source);
        // A chain of promises that never ends may run out of memory first.
        let bounded = [ErrorCode::ScriptTimeoutError, ErrorCode::ScriptMemoryError];
        assert!(bounded.contains(&code), "{source}: {code}: {message}");
    }
}

fn s07_memory_exhaustion_is_a_memory_error() {
    let stage = Stage::new();
    // An empty array of this length is sparse and costs nothing; filling it does.
    for source in [
        "new Array(1e9).fill(1)",
        "try { new Array(1e9).fill(1) } catch {} return 'caught'",
        "const all = []; while (true) all.push({})",
    ] {
        let (code, message) = stage.failure(source);
        assert_eq!(code, ErrorCode::ScriptMemoryError, "{source}: {message}");
    }
    assert_eq!(
        stage.value("return new Array(1e6).fill(1).length"),
        1_000_000
    );
}

fn s08_stack_overflow_is_a_stack_error() {
    let stage = Stage::new();
    let (code, message) = stage.failure("const deep = () => deep() + 1; return deep()");
    assert_eq!(code, ErrorCode::ScriptRuntimeError);
    assert!(
        message.contains("RangeError") && message.contains("stack"),
        "{message}"
    );
    assert_eq!(
        attempt(&stage, "const deep = () => deep() + 1; deep()"),
        "RangeError"
    );
}

fn s09_eval_is_a_reference_error() {
    let stage = Stage::new();
    assert_eq!(attempt(&stage, "eval('1')"), "ReferenceError");
    assert_eq!(attempt(&stage, "(0, globalThis.eval)('1')"), "TypeError");
}

fn s10_function_constructor_is_blocked() {
    let stage = Stage::new();
    let (code, _) = stage.failure("return new Function('return this')()");
    assert_eq!(code, ErrorCode::ScriptSyntaxError);
    assert_eq!(
        attempt(&stage, "(() => 1).constructor('return this')()"),
        "TypeError"
    );
    assert_eq!(
        attempt(&stage, "Function('return this')()"),
        "ReferenceError"
    );
}

fn s11_process_is_undefined() {
    let source = "return ['process', 'require', 'module', 'fetch', 'setTimeout', 'WebAssembly', 'SharedArrayBuffer']
        .map((name) => typeof globalThis[name])";
    assert_eq!(
        Stage::new().value(source),
        serde_json::Value::from(vec!["undefined"; 7])
    );
}

fn s12_context_cannot_be_modified() {
    let stage = Stage::new();
    for tried in [
        "context.turnId = 'x'",
        "context.sandbox.timeoutMs = 1e9",
        "context.capabilities.tools.push('x')",
        "context.x = 1",
    ] {
        assert_eq!(attempt(&stage, tried), "TypeError", "{tried}");
    }
}

fn s13_the_prototype_of_context_is_frozen() {
    let stage = Stage::new();
    assert_eq!(
        stage.value("return Object.isFrozen(context.__proto__)"),
        true
    );
    assert_eq!(attempt(&stage, "context.__proto__.x = 1"), "TypeError");
    assert_eq!(attempt(&stage, "context.__proto__ = {}"), "TypeError");
}

fn s14_promise_cannot_be_modified() {
    let stage = Stage::new();
    for tried in [
        "Promise.constructor = null",
        "Promise.prototype.then = null",
        "Promise.race = null",
        "Promise = null",
    ] {
        assert_eq!(attempt(&stage, tried), "TypeError", "{tried}");
    }
}

fn s15_a_hung_script_is_terminated_and_the_host_goes_on() {
    let stage = Stage::new().with(short_timeout);
    let began = Instant::now();
    // A native that never looks at the interrupt.
    let hung = "const s = 'a'.repeat(1 << 20); while (true) s.indexOf('a'.repeat(1 << 19) + 'b')";
    assert_eq!(stage.failure(hung).0, ErrorCode::ScriptTimeoutError);
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(stage.value("return 1"), 1);
}

fn s16_scripts_do_not_see_each_other() {
    let stage = Stage::new();
    crate::support::block_on(async {
        let engine = stage.engine();
        let run = async |source: &str| {
            let call = engine.new_call();
            let request = ringfence::script::ScriptRequest::new(source);
            engine.run_script(&call, request).await.unwrap().output
        };
        let first = run("const secret = 7; try { globalThis.secret = 7 } catch {} Symbol.for('x'); return secret").await;
        assert_eq!(first.output_json.as_deref(), Some("7"));
        let second =
            run("return [typeof secret, typeof globalThis.secret, context.scriptId]").await;
        let value: serde_json::Value = serde_json::from_str(&second.output_json.unwrap()).unwrap();
        assert_eq!(
            (&value[0], &value[1]),
            (&json!("undefined"), &json!("undefined"))
        );
        assert_ne!(first.id, second.id);
    });
}

fn s17_an_orphaned_promise_is_cancelled() {
    let stage = Stage::new();
    let output = stage.run("tools.exec({ command: ['sleep', '61.17'] }); return (await tools.exec({ command: ['echo', 'fast'] })).stdout");
    assert_eq!(output.error, None);
    assert_eq!(output.output_json.as_deref(), Some("\"fast\\n\""));
    assert!(
        output.warnings[0].contains("tool_0 (exec)"),
        "{:?}",
        output.warnings
    );
    assert_eq!(processes_with("sleep 61.17"), Vec::<String>::new());
}

fn s18_workers_cannot_be_spawned() {
    let stage = Stage::new();
    for tried in ["new Worker('x')", "new SharedWorker('x')"] {
        assert_eq!(attempt(&stage, tried), "ReferenceError", "{tried}");
    }
}

fn s19_a_large_return_is_truncated_with_an_error() {
    let stage = Stage::new();
    let output = stage.run("return 'x'.repeat(131072)");
    let error = output.error.unwrap();
    assert_eq!(
        (error.code, error.phase),
        (ErrorCode::SerializationError, Phase::Finalizing)
    );
    let kept: serde_json::Value = serde_json::from_str(&output.output_json.unwrap()).unwrap();
    assert_eq!(kept["truncated"], true);
    assert!(kept["preview"].as_str().unwrap().starts_with("\"xxx"));
    assert_eq!(
        stage
            .value("return 'x'.repeat(131070)")
            .as_str()
            .unwrap()
            .len(),
        131_070
    );
}

fn s20_dry_run_validates_and_runs_nothing() {
    let stage = Stage::new().with(|config| config.script.mode = ScriptMode::DryRun);
    let output = stage.run("await tools.exec({ command: ['touch', 'ran'] }); return 1");
    assert!(
        output.warnings[0].contains("dry run"),
        "{:?}",
        output.warnings
    );
    assert_eq!(output.metadata.tool_calls_made, 0);
    assert!(!stage.home.work().join("ran").exists());
    assert_eq!(stage.failure("return (").0, ErrorCode::ScriptSyntaxError);
    gone_from_the_group_within_a_second("__worker tools").unwrap();
}
