//! Three scenarios with promises, with real processes looked at from outside.

use ringfence::dialect::ErrorCode;
use ringfence_testkit::processes::processes_with;
use serde_json::json;

use crate::stage::{Stage, short_timeout};
use crate::support::Case;

pub(crate) fn cases() -> Vec<Case> {
    plain![
        scenario_1_an_orphan_is_gone_when_the_script_has_ended,
        f05_scenario_2_losers_of_a_race_are_gone_while_the_script_goes_on,
        a_call_that_somebody_else_awaits_is_not_cancelled,
        a_cancelled_call_rejects_when_it_is_awaited,
        scenario_3_a_timeout_kills_what_is_under_way,
    ]
}

fn scenario_1_an_orphan_is_gone_when_the_script_has_ended() {
    let stage = Stage::new();
    let output = stage.run("const slow = tools.exec({ command: ['sleep', '62.01'] }); return (await tools.exec({ command: ['echo', 'x'] })).exitCode");
    assert_eq!(
        (output.error, output.output_json.as_deref()),
        (None, Some("0"))
    );
    assert!(output.warnings[0].contains("tool_0 (exec)"));
    assert_eq!(processes_with("sleep 62.01"), Vec::<String>::new());
}

fn f05_scenario_2_losers_of_a_race_are_gone_while_the_script_goes_on() {
    // The script itself looks: the losing process is killed while it still runs.
    let seen = "const seen = async (what) => (await tools.exec({ command: ['sh', '-c', `for i in 1 2 3 4 5 6 7 8 9 10; do grep -slF ${what} /proc/[0-9]*/cmdline | grep -v $$ > /dev/null || break; sleep 0.05; done`] })).exitCode;";
    let slow = "tools.exec({ command: ['sleep', '62.02'] })";
    let fast = "tools.exec({ command: ['echo', 'fast'] })";
    for race in [
        format!("Promise.race([{slow}, {fast}])"),
        format!("Promise.any([{slow}, {fast}])"),
        format!("Promise.race([{slow}.then((r) => r), {fast}])"),
        format!("Promise.race([(async () => {{ const r = await {slow}; return r }})(), {fast}])"),
        format!("Promise.race([Promise.all([{slow}, {slow}]), {fast}])"),
    ] {
        let stage = Stage::new();
        let source = format!(
            "const winner = await {race}; console.log('won'); {seen} await seen('62.02'); return winner.stdout"
        );
        let output = stage.run(&source);
        assert_eq!(output.error, None, "{race}");
        assert_eq!(output.output_json.as_deref(), Some("\"fast\\n\""), "{race}");
        assert_eq!(
            output.warnings,
            Vec::<String>::new(),
            "{race}: cancelled by the script, so nothing is left"
        );
        assert_eq!(
            processes_with("sleep 62.02"),
            Vec::<String>::new(),
            "{race}"
        );
    }
}

fn a_call_that_somebody_else_awaits_is_not_cancelled() {
    let source = "const shared = tools.exec({ command: ['sh', '-c', 'sleep 0.3; echo shared'] });
        const other = (async () => (await shared).stdout)();
        const winner = await Promise.race([shared, tools.exec({ command: ['echo', 'fast'] })]);
        return [winner.stdout, await other]";
    assert_eq!(Stage::new().value(source), json!(["fast\n", "shared\n"]));
}

fn a_cancelled_call_rejects_when_it_is_awaited() {
    let source = "const slow = tools.exec({ command: ['sleep', '62.03'] });
        await Promise.race([slow, tools.exec({ command: ['true'] })]);
        try { await slow } catch (e) { return e.name }";
    assert_eq!(Stage::new().value(source), "AbortError");
    let output = Stage::new().run("const slow = tools.exec({ command: ['sleep', '62.04'] }); await Promise.race([slow, 1]); await slow");
    let error = output.error.unwrap();
    assert_eq!(error.code, ErrorCode::ScriptRuntimeError);
    assert!(error.message.contains("AbortError"), "{}", error.message);
}

fn scenario_3_a_timeout_kills_what_is_under_way() {
    let stage = Stage::new().with(short_timeout);
    let output = stage.run("for (let i = 0; i < 100; i++) await tools.exec({ command: i < 3 ? ['echo', `${i}`] : ['sleep', '62.05'] })");
    let error = output.error.unwrap();
    assert_eq!(error.code, ErrorCode::ScriptTimeoutError);
    assert_eq!(
        (
            &error.metadata["completedTools"],
            output.metadata.tool_calls_made
        ),
        (&json!(3), 4)
    );
    assert_eq!(processes_with("sleep 62.05"), Vec::<String>::new());
}
