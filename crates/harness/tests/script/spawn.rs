//! Programs that outlive their script: background tasks of the session, seen by the next call.

use ringfence::Engine;
use ringfence::approval::Scripted;
use ringfence::dialect::{ErrorCode, ScriptToolCallOutput};
use ringfence::script::ScriptRequest;
use ringfence_testkit::processes::{gone_within_a_second, processes_with};
use serde_json::{Value, json};

use crate::stage::{Stage, short_timeout};
use crate::support::{Case, block_on};

pub(crate) fn cases() -> Vec<Case> {
    plain![
        spawned_programs_give_the_result_of_exec,
        a_task_outlives_its_script_and_ends_with_the_session,
        what_done_gave_is_still_there_for_others,
        a_script_that_fails_leaves_its_tasks_running,
        spawning_is_asked_about_like_any_call,
        the_switch_and_the_bounds_hold,
    ]
}

fn stage() -> Stage {
    Stage::new().with(|config| config.script.expose.enable_spawn = true)
}

async fn run(engine: &Engine, source: &str) -> ScriptToolCallOutput {
    let call = engine.new_call();
    let run = engine.run_script(&call, ScriptRequest::new(source)).await;
    run.unwrap().output
}

async fn output_of(engine: &Engine, task: &Value) -> Value {
    let call = engine.new_call();
    let arguments = json!({ "taskId": task, "waitMs": 20_000 });
    let reply = engine.call_as(&call, "bash_task_output", arguments).await;
    reply.unwrap()
}

fn value(output: &ScriptToolCallOutput) -> Value {
    assert_eq!(output.error, None);
    let started = |warning: &String| !warning.contains("did not start");
    let unexpected: Vec<_> = output.warnings.iter().filter(|one| started(one)).collect();
    assert_eq!(unexpected, Vec::<&String>::new());
    serde_json::from_str(output.output_json.as_deref().unwrap()).unwrap()
}

fn spawned_programs_give_the_result_of_exec() {
    for (source, expected) in [
        (
            "const r = await tools.spawn.exec({ command: ['sh', '-c', 'echo out; echo err >&2; exit 3'], env: { A: '1' } }).done;
             return [r.exitCode, r.stdout, r.stderr, typeof r.duration_ms]",
            json!([3, "out\n", "err\n", "number"]),
        ),
        // Each counts as one call.
        (
            "const before = context.sandbox.remainingToolBudget;
             await Promise.all([1, 2, 3].map(() => tools.spawn.exec({ command: ['true'] }).done));
             return before - context.sandbox.remainingToolBudget",
            json!(3),
        ),
        // More tasks than calls at once: one that runs takes no place.
        (
            "const tasks = [1, 2, 3, 4, 5].map(() => tools.spawn.exec({ command: ['sleep', '63.01'] }));
             const seen = (await tools.exec({ command: ['echo', 'x'] })).stdout;
             return [seen, await Promise.all(tasks.map((task) => tools.spawn.cancel(task.id)))]",
            json!(["x\n", [true, true, true, true, true]]),
        ),
        (
            "const task = tools.spawn.exec({ command: ['sleep', '63.02'] });
             await tools.exec({ command: ['true'] });
             const first = await tools.spawn.cancel(task.id);
             const name = await task.done.catch((error) => error.name);
             return [first, name, await tools.spawn.cancel(task.id), await tools.spawn.cancel('task_none')]",
            json!([true, "AbortError", false, false]),
        ),
        (
            "const bad = (args) => tools.spawn.exec(args).done.catch((e) => e.name);
             return [await bad({ command: ['true'], timeoutMs: 5 }), await bad({}), await bad({ command: ['true'], x: 1 })]",
            json!(["ToolValidationError", "ToolValidationError", "ToolValidationError"]),
        ),
        // What is not awaited is no loser of a race.
        (
            "const task = tools.spawn.exec({ command: ['sh', '-c', 'sleep 0.3; echo late'] });
             await Promise.race([task.done, tools.exec({ command: ['true'] })]);
             return (await task.done).stdout",
            json!("late\n"),
        ),
    ] {
        let output = stage().run(source);
        assert_eq!(output.error, None, "{source}");
        assert_eq!(value(&output), expected, "{source}");
    }
    gone_within_a_second("sleep 63.01").unwrap();
}

fn a_task_outlives_its_script_and_ends_with_the_session() {
    let stage = stage();
    block_on(async {
        let engine = stage.engine();
        // Nothing is awaited: neither the end nor the start.
        let output = run(
            &engine,
            "const go = tools.spawn.exec({ command: ['sh', '-c', 'until test -e go; do sleep 0.05; done; echo late'] });
             return [go.id, tools.spawn.exec({ command: ['sleep', '63.03'] }).id]",
        )
        .await;
        let ids = value(&output);
        assert!(!processes_with("sleep 63.03").is_empty());
        std::fs::write(stage.home.work().join("go"), "").unwrap();
        let told = output_of(&engine, &ids[0]).await;
        assert_eq!(
            (&told["stdout"], &told["exitCode"]),
            (&json!("late\n"), &json!(0))
        );
        // The next script knows it by its id.
        let cancel = format!("return await tools.spawn.cancel({})", ids[1]);
        let next = run(
            &engine,
            "return tools.spawn.exec({ command: ['sleep', '63.04'] }).id",
        )
        .await;
        value(&next);
        assert_eq!(value(&run(&engine, &cancel).await), true);
        assert_eq!(processes_with("sleep 63.03"), Vec::<String>::new());
        assert!(!processes_with("sleep 63.04").is_empty());
    });
    gone_within_a_second("sleep 63.04").unwrap();
}

fn what_done_gave_is_still_there_for_others() {
    let stage = stage();
    block_on(async {
        let engine = stage.engine();
        let source = "const task = tools.spawn.exec({ command: ['echo', 'both'] });
            return [task.id, (await task.done).stdout]";
        let told = value(&run(&engine, source).await);
        assert_eq!(told[1], "both\n");
        assert_eq!(output_of(&engine, &told[0]).await["stdout"], "both\n");
    });
}

fn a_script_that_fails_leaves_its_tasks_running() {
    let stage = stage().with(short_timeout);
    block_on(async {
        let engine = stage.engine();
        for (ending, code) in [
            ("throw new Error('x')", ErrorCode::ScriptRuntimeError),
            ("while (true) {}", ErrorCode::ScriptTimeoutError),
        ] {
            let source = format!(
                "const task = tools.spawn.exec({{ command: ['sleep', '63.05'] }});
                 await tools.exec({{ command: ['true'] }}); {ending}"
            );
            let error = run(&engine, &source).await.error.unwrap();
            assert_eq!(error.code, code);
            assert!(!processes_with("sleep 63.05").is_empty(), "{ending}");
        }
    });
}

fn spawning_is_asked_about_like_any_call() {
    let message = "not today".to_owned();
    let stage = stage().asking(Scripted::DenyAll { message });
    let source =
        "return await tools.spawn.exec({ command: ['rm', 'x'] }).done.catch((e) => e.name)";
    assert_eq!(stage.value(source), "ApprovalDeniedError");
    // Nobody is there to see the error, so it is told.
    let output = stage.run("tools.spawn.exec({ command: ['rm', 'x'] }); return 1");
    assert_eq!(output.output_json.as_deref(), Some("1"));
    assert_eq!(output.warnings.len(), 1);
    let warning = &output.warnings[0];
    assert!(
        warning.contains("tool_0") && warning.contains("not today"),
        "{warning}"
    );
}

fn the_switch_and_the_bounds_hold() {
    let (code, message) = Stage::new().failure("tools.spawn.exec({ command: ['true'] })");
    assert_eq!(code, ErrorCode::ToolNotFoundError);
    assert!(
        message.contains("`script.expose.enable_spawn` is off"),
        "{message}"
    );
    let few = stage().with(|config| config.script.limits.max_tool_calls = 2);
    let source = "const done = [1, 2, 3].map(() => tools.spawn.exec({ command: ['true'] }).done);
        return (await Promise.allSettled(done)).map((one) => one.reason?.name ?? one.value.exitCode)";
    assert_eq!(few.value(source), json!([0, 0, "ToolBudgetExceededError"]));
    let full = stage().with(|config| config.bash.max_background_tasks = 1);
    let source = "const first = tools.spawn.exec({ command: ['sleep', '63.06'] });
        await tools.exec({ command: ['true'] });
        return await tools.spawn.exec({ command: ['true'] }).done.catch((e) => e.name)";
    assert_eq!(full.value(source), "ToolExecutionError");
}
