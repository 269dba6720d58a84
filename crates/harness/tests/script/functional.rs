//! F1 to F30, as far as they concern one script: what it can do.

use std::time::{Duration, Instant};

use ringfence::CallError;
use ringfence::config::{ScriptMode, ScriptRuntime};
use ringfence::dialect::{ErrorCode, Phase};
use ringfence::script::{Conversation, ScriptRequest};
use serde_json::{Value, json};

use crate::stage::{Stage, short_timeout};
use crate::support::{Case, block_on};

pub(crate) fn cases() -> Vec<Case> {
    plain![
        f01_a_single_apply_patch_returns_its_result,
        f03_typescript_with_async_and_await_runs,
        f04_three_tools_in_parallel_resolve,
        f06_a_tool_failure_can_be_caught,
        f07_the_output_of_one_tool_feeds_the_next,
        f08_nested_objects_are_returned_and_a_message_is_the_summary,
        f10_progress_events_stream,
        f14_a_timeout_can_be_set_within_the_limit,
        f16_a_worker_that_serves_many_keeps_nothing,
        f17_a_disabled_script_does_not_run,
        f18_a_dry_run_reports_tools_and_arguments,
        f21_context_is_readable,
        f22_no_return_value_is_fine,
        f23_both_streams_are_captured,
        f24_invalid_arguments_are_caught_before_anything_runs,
        f25_functions_can_be_defined_and_called,
        f26_progress_and_logs_are_throttled,
        f27_a_timeout_returns_what_was_completed,
        f28_an_unknown_tool_is_an_immediate_error_with_a_suggestion,
        f29_a_syntax_error_is_reported_with_its_place,
        f30_the_tool_budget_is_enforced,
        four_calls_run_at_once_and_waiting_is_not_charged,
        scripts_run_in_process_where_that_is_configured,
        tools_can_be_looked_for_and_looked_at,
    ]
}

fn f01_a_single_apply_patch_returns_its_result() {
    let stage = Stage::new();
    let source = "return await tools.applyPatch({ patch: '*** Begin Patch\\n*** Add File: a.txt\\n+hello\\n*** End Patch' })";
    let result = stage.value(source);
    assert_eq!(result["success"], true);
    assert_eq!(
        result["changes"],
        json!([{ "path": "a.txt", "kind": "add" }])
    );
    let written = std::fs::read_to_string(stage.home.work().join("a.txt"));
    assert_eq!(written.unwrap(), "hello\n");
}

fn f03_typescript_with_async_and_await_runs() {
    let source = "
        interface Result { code: number }
        enum Kind { Good = 'good' }
        async function ask<T extends Result>(make: () => Promise<T>): Promise<T> { return await make(); }
        const result: Result = await ask(async () => ({ code: (await tools.exec({ command: ['true'] })).exitCode as number }));
        return { ...result, kind: Kind.Good } satisfies object;";
    assert_eq!(
        Stage::new().value(source),
        json!({ "code": 0, "kind": "good" })
    );
}

fn f04_three_tools_in_parallel_resolve() {
    let source = "return (await Promise.all(['a', 'b', 'c'].map((word) => tools.exec({ command: ['echo', word] })))).map((r) => r.stdout)";
    assert_eq!(Stage::new().value(source), json!(["a\n", "b\n", "c\n"]));
}

fn f06_a_tool_failure_can_be_caught() {
    let source = "try { await tools.exec({ command: ['no-such-program-here'] }) } catch (error) { return [error.name, error.toolName, error.callId, error.message.includes('no-such-program-here')] }";
    assert_eq!(
        Stage::new().value(source),
        json!(["ToolExecutionError", "exec", "tool_0", true])
    );
    let output = Stage::new().run("\n  await tools.exec({ command: ['no-such-program-here'] })");
    let error = output.error.unwrap();
    assert_eq!(
        (
            error.code,
            error.tool_name.as_deref(),
            error.call_id.as_deref()
        ),
        (ErrorCode::ToolExecutionError, Some("exec"), Some("tool_0"))
    );
    assert!(error.stack.unwrap().contains("script.ts:2:15"));
    assert_eq!(
        (&error.metadata["line"], &error.metadata["completedTools"]),
        (&json!(2), &json!(0))
    );
}

fn f07_the_output_of_one_tool_feeds_the_next() {
    let source = "const { stdout } = await tools.exec({ command: ['echo', 'name'] });
        await tools.exec({ command: ['touch', stdout.trim()] });
        return (await tools.exec({ command: ['ls'] })).stdout";
    assert_eq!(Stage::new().value(source), "name\n");
}

fn f08_nested_objects_are_returned_and_a_message_is_the_summary() {
    let output = Stage::new()
        .run("return { message: 'all good', nested: { list: [1, { deep: true }], none: null } }");
    assert_eq!(output.summary.as_deref(), Some("all good"));
    let value: Value = serde_json::from_str(&output.output_json.unwrap()).unwrap();
    assert_eq!(
        value["nested"],
        json!({ "list": [1, { "deep": true }], "none": null })
    );
}

fn f10_progress_events_stream() {
    let stage = Stage::new();
    stage.value("context.emitProgress('half way'); console.log('note', { a: 1 }); return 1");
    assert_eq!(stage.said(), ["Progress: half way", "Log: note {\"a\":1}"]);
    let stage = Stage::new();
    stage.value("context.telemetry.emitProgress('odd', 'warn')");
    assert_eq!(stage.said(), ["Warning: odd"]);
}

fn f14_a_timeout_can_be_set_within_the_limit() {
    let stage = Stage::new();
    let request = |timeout| ScriptRequest {
        timeout: Some(timeout),
        ..ScriptRequest::new("return context.sandbox.timeoutMs")
    };
    let output = stage.request(request(Duration::from_secs(5)));
    assert_eq!(output.output_json.as_deref(), Some("5000"));
    let refused = block_on(async {
        let engine = stage.engine();
        engine
            .run_script(&engine.new_call(), request(Duration::from_secs(31)))
            .await
    });
    let message = refused.unwrap_err().to_string();
    assert!(
        message.contains("above the maximum of 30000 ms"),
        "{message}"
    );
}

fn f16_a_worker_that_serves_many_keeps_nothing() {
    let stage = Stage::new();
    block_on(async {
        let engine = stage.engine();
        for round in 0..5 {
            let request = ScriptRequest::new("const had = typeof left; var left = 1; return had");
            let run = engine
                .run_script(&engine.new_call(), request)
                .await
                .unwrap();
            assert_eq!(
                run.output.output_json.as_deref(),
                Some("\"undefined\""),
                "round {round}"
            );
        }
    });
}

fn f17_a_disabled_script_does_not_run() {
    let stage = Stage::new().with(|config| {
        config.script.mode = ScriptMode::Disabled;
        config.script.enabled_providers = vec!["good".to_owned()];
    });
    let run = |provider: &str| {
        let mut request = ScriptRequest::new("return 1");
        request.conversation = Conversation {
            provider: provider.to_owned(),
            ..Conversation::default()
        };
        block_on(async {
            let engine = stage.engine();
            engine.run_script(&engine.new_call(), request).await
        })
    };
    assert!(matches!(run("other"), Err(CallError::NotAvailable { .. })));
    assert_eq!(
        run("good").unwrap().output.output_json.as_deref(),
        Some("1")
    );
}

fn f18_a_dry_run_reports_tools_and_arguments() {
    let stage = Stage::new().with(|config| config.script.mode = ScriptMode::DryRun);
    let output = stage.run("await tools.exec({ command: ['ls'] });\nawait tools.exce({});\nawait tools.exec({ comand: ['ls'] });\nawait tools.exec(later)");
    // It fails as the script would.
    let error = output.error.unwrap();
    assert_eq!(error.code, ErrorCode::ToolNotFoundError, "{error}");
    let report: Value = serde_json::from_str(&output.output_json.unwrap()).unwrap();
    assert_eq!(report["valid"], false);
    let calls = report["toolCalls"].as_array().unwrap();
    let problems: Vec<&str> = calls
        .iter()
        .map(|call| call["problem"].as_str().unwrap_or(""))
        .collect();
    assert_eq!(problems[0], "");
    assert!(
        problems[1].contains("ToolNotFoundError") && problems[1].contains("did you mean `exec`?"),
        "{problems:?}"
    );
    assert!(
        problems[2].contains("ToolValidationError") && problems[2].contains("`comand`"),
        "{problems:?}"
    );
    assert_eq!(
        problems[3], "",
        "an argument that is not written out cannot be checked"
    );
    assert_eq!(calls[1]["line"], 2);
}

fn f21_context_is_readable() {
    let stage = Stage::new();
    let value = stage.value("return [context.workingDirectory, context.sandbox, context.capabilities.tools.includes('exec'), context.approvals.required, context.scriptId.slice(0, 4)]");
    assert_eq!(value[0], json!(stage.home.work()));
    assert_eq!(
        value[1],
        json!({ "timeoutMs": 30000, "memoryMb": 96, "maxConcurrentToolCalls": 4, "mode": "enabled", "remainingToolBudget": 32 })
    );
    assert_eq!(
        (&value[2], &value[3], &value[4]),
        (&json!(true), &json!(true), &json!("scr_"))
    );
}

fn f22_no_return_value_is_fine() {
    for source in [
        "",
        "return",
        "return undefined",
        "await tools.exec({ command: ['true'] })",
    ] {
        let output = Stage::new().run(source);
        assert_eq!((output.error, output.output_json), (None, None), "{source}");
    }
}

fn f23_both_streams_are_captured() {
    let source = "const r = await tools.exec({ command: ['sh', '-c', 'echo out; echo err >&2; exit 3'] });
        return [r.stdout, r.stderr, r.exitCode, typeof r.duration_ms, r.timedOut, Object.isFrozen(r)]";
    assert_eq!(
        Stage::new().value(source),
        json!(["out\n", "err\n", 3, "number", null, true])
    );
    let source = "const r = await tools.exec({ command: ['sh', '-c', 'yes | head -c 600000'] }); return [r.stdout.length, r.stdout.endsWith('...<truncated>')]";
    assert_eq!(Stage::new().value(source), json!([262_144 + 14, true]));
    let source = "const r = await tools.exec({ command: ['sleep', '60'], timeoutMs: 50 }); return [r.timedOut, r.exitCode]";
    assert_eq!(Stage::new().value(source), json!([true, 124]));
    let source = "return (await tools.exec({ command: ['printenv', 'GREETING'], env: { GREETING: 'hello' }, cwd: '.' })).stdout";
    assert_eq!(Stage::new().value(source), "hello\n");
}

fn f24_invalid_arguments_are_caught_before_anything_runs() {
    let stage = Stage::new();
    for (arguments, told) in [
        ("{}", "command"),
        ("{ command: 'ls' }", "`command`"),
        ("{ command: [] }", "empty"),
        (
            "{ command: ['touch', 'ran'], timeout: 5 }",
            "did you mean `timeoutMs`?",
        ),
        (
            "{ command: ['touch', 'ran'], timeoutMs: 'x' }",
            "`timeoutMs`",
        ),
        (
            "{ command: ['touch', 'ran'], timeoutMs: 1e9 }",
            "above the maximum",
        ),
        ("{ command: ['touch', 'ran'], cwd: 'nowhere' }", "nowhere"),
        (
            "{ command: ['touch', 'ran'], env: { 'A=B': 'x' } }",
            "not the name of a variable",
        ),
        ("'ls'", "expected an object"),
        ("{ command: ['touch', 'ran'], extra: 1n }", "bigint"),
    ] {
        let source = format!(
            "try {{ await tools.exec({arguments}) }} catch (e) {{ return [e.name, e.message] }}"
        );
        let value = stage.value(&source);
        assert_eq!(value[0], "ToolValidationError", "{arguments}: {value}");
        assert!(
            value[1].as_str().unwrap().contains(told),
            "{arguments}: {value}"
        );
    }
    assert!(!stage.home.work().join("ran").exists());
}

fn f25_functions_can_be_defined_and_called() {
    let source = "const twice = async (word) => { const one = async () => (await tools.exec({ command: ['echo', word] })).stdout.trim(); return await one() + await one(); };
        return await twice('ab')";
    assert_eq!(Stage::new().value(source), "abab");
}

fn f26_progress_and_logs_are_throttled() {
    let stage = Stage::new();
    stage.value("for (let i = 0; i < 100; i++) context.emitProgress(`step ${i}`)");
    let said = stage.said();
    assert_eq!(said[0], "Progress: step 0");
    // One in half a second: even on a slow machine a hundred calls don't take two seconds.
    assert!(said.len() < 5, "{said:?}");
    let stage = Stage::new();
    stage.value("for (let i = 0; i < 1000; i++) console.log(i)");
    assert!(
        (20..=100).contains(&stage.said().len()),
        "{}",
        stage.said().len()
    );
}

fn f27_a_timeout_returns_what_was_completed() {
    let stage = Stage::new().with(short_timeout);
    let output = stage.run("for (let i = 0; ; i++) await tools.exec({ command: ['sh', '-c', `echo ${i}; sleep ${i < 2 ? 0 : 60}`] })");
    let error = output.error.unwrap();
    assert_eq!(
        (error.code, error.phase),
        (ErrorCode::ScriptTimeoutError, Phase::Executing)
    );
    assert_eq!(error.metadata["completedTools"], 2);
    let partial: Value = serde_json::from_str(&output.output_json.unwrap()).unwrap();
    let results = partial["partialResults"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[1]["result"]["stdout"], "1\n");
    assert_eq!(output.metadata.tool_calls_made, 3);
}

fn f28_an_unknown_tool_is_an_immediate_error_with_a_suggestion() {
    let stage = Stage::new();
    let source = "try { tools.exce } catch (e) { return [e.name, e.message, e.availableTools] }";
    let value = stage.value(source);
    assert_eq!(value[0], "ToolNotFoundError");
    assert!(
        value[1].as_str().unwrap().contains("did you mean `exec`?"),
        "{value}"
    );
    assert!(value[2].as_array().unwrap().contains(&json!("exec")));
    let (code, message) = stage.failure("await tools.http({ url: 'x' })");
    assert_eq!(code, ErrorCode::ToolNotFoundError);
    assert!(
        message.contains("`script.expose.enable_http` is off"),
        "{message}"
    );
    assert_eq!(
        stage.value("return ['exec' in tools, 'http' in tools]"),
        json!([true, false])
    );
}

fn f29_a_syntax_error_is_reported_with_its_place() {
    let output = Stage::new().run("const a = 1;\nconst b = ;\nreturn a");
    let error = output.error.unwrap();
    assert_eq!(
        (error.code, error.phase),
        (ErrorCode::ScriptSyntaxError, Phase::Parsing)
    );
    assert_eq!(
        (&error.metadata["line"], &error.metadata["column"]),
        (&json!(2), &json!(11))
    );
    let (code, message) = Stage::new().failure(&format!("return '{}'", "x".repeat(20_480)));
    assert_eq!(code, ErrorCode::ScriptSyntaxError);
    assert!(message.contains("at most 20480"), "{message}");
    assert_eq!(Stage::new().value("\u{feff}return 1"), 1);
}

fn f30_the_tool_budget_is_enforced() {
    let source = "let made = 0; try { for (;;) { await tools.exec({ command: ['true'] }); made++ } } catch (e) { return [made, e.name, context.sandbox.remainingToolBudget] }";
    let stage = Stage::new().with(|config| config.script.limits.max_tool_calls = 5);
    assert_eq!(
        stage.value(source),
        json!([5, "ToolBudgetExceededError", 0])
    );
    let output = stage.run("while (true) await tools.exec({ command: ['true'] })");
    assert_eq!(
        output.error.unwrap().code,
        ErrorCode::ToolBudgetExceededError
    );
    assert_eq!(output.metadata.tool_calls_made, 5);
}

fn four_calls_run_at_once_and_waiting_is_not_charged() {
    let stage = Stage::new().with(|config| config.script.limits.max_concurrent_tool_calls = 2);
    let source = "const r = await Promise.all([0, 1, 2, 3].map(() => tools.exec({ command: ['sleep', '0.4'], timeoutMs: 900 })));
        return r.map((one) => one.timedOut ?? false)";
    let began = Instant::now();
    assert_eq!(stage.value(source), json!([false, false, false, false]));
    assert!(
        began.elapsed() >= Duration::from_millis(800),
        "two at a time take twice as long"
    );
}

fn scripts_run_in_process_where_that_is_configured() {
    let stage = Stage::new().with(|config| config.script.runtime = ScriptRuntime::InProcess);
    let source = "const won = await Promise.race([tools.exec({ command: ['sleep', '61.9'] }), tools.exec({ command: ['echo', 'x'] })]); return won.stdout";
    assert_eq!(stage.value(source), "x\n");
    assert_eq!(
        stage.failure("throw new TypeError('no')").0,
        ErrorCode::ScriptRuntimeError
    );
    let stage = stage.with(short_timeout);
    assert_eq!(
        stage.failure("while (true) {}").0,
        ErrorCode::ScriptTimeoutError
    );
}

fn tools_can_be_looked_for_and_looked_at() {
    let source = "return [(await tools.search('program')).map((t) => t.name), (await tools.describe('exec')).schema.properties.command.type, context.sandbox.remainingToolBudget]";
    assert_eq!(Stage::new().value(source), json!([["exec"], "array", 32]));
}
