//! Turns: thoughts, words, calls and scripts of every API, executed in order and told in its form.

use ringfence::agent::{Ended, FileDiffKind};
use ringfence::config::ScriptMode;
use ringfence::dialect::Item;
use ringfence::dialect::provider::Provider;
use serde_json::json;

use crate::model::{Comes, Mishap, Model, Says};
use crate::stage::Stage;
use crate::support::{Case, block_on};

pub(crate) fn cases() -> Vec<Case> {
    plain![
        a_turn_works_the_same_by_every_api,
        calls_that_may_run_side_by_side_do,
        scripts_that_are_switched_off_are_told_of,
        results_of_a_turn_share_one_budget,
        a_call_id_that_is_repeated_is_executed_once,
        arguments_that_cannot_be_read_are_told_of,
        a_connection_that_breaks_is_tried_again_and_nothing_runs_twice
    ]
}

const HOW: [Comes; 3] = [Comes::Whole, Comes::Streamed(7), Comes::Streamed(100_000)];

fn every(test: impl Fn(Provider, Comes)) {
    for provider in Provider::ALL {
        for comes in HOW {
            test(provider, comes);
        }
    }
}

fn call(
    id: &'static str,
    tool: &'static str,
    arguments: serde_json::Value,
) -> (&'static str, &'static str, String) {
    (id, tool, arguments.to_string())
}

const SCRIPT: &str = "First I look.\n<tool-calls>\nconst run = await tools.exec({command: [\"cat\", \"a.txt\"]});\nreturn {message: \"seen\", text: run.stdout};\n</tool-calls>\nThen I write.";

fn kinds(items: &[Item]) -> Vec<&'static str> {
    let kinds = items.iter().map(|item| match item {
        Item::Message(_) => "message",
        Item::Reasoning(_) => "reasoning",
        Item::ScriptToolCall(_) => "script",
        Item::ScriptToolCallOutput(_) => "script output",
        Item::FunctionCall(_) => "call",
        Item::FunctionCallOutput(_) => "call output",
    });
    kinds.collect()
}

fn a_turn_works_the_same_by_every_api() {
    every(|provider, comes| {
        let stage = Stage::new();
        std::fs::write(stage.work("a.txt"), "old\n").unwrap();
        let model = Model::new(
            provider,
            comes,
            vec![
                Says {
                    thought: "hm",
                    text: SCRIPT,
                    calls: vec![call(
                        "c1",
                        "bash",
                        json!({ "command": "echo new > a.txt; echo done" }),
                    )],
                    ..Says::default()
                },
                Says {
                    text: "It is done.",
                    ..Says::default()
                },
            ],
        );
        let (report, heard) = block_on(stage.run(provider, comes, &model));
        assert_eq!(report.ended, Ended::Done);
        assert_eq!(
            (report.turns, report.steps, report.failed_steps),
            (2, 2, 0),
            "{provider:?}"
        );
        assert_eq!(report.text, "It is done.");
        assert_eq!((report.usage.input, report.usage.output), (201, 20));
        assert_eq!(report.changed_files, ["a.txt"]);
        let turns = heard.turns.lock().unwrap();
        let (items, changes) = &turns[0];
        // What the script saw is older than what the call wrote.
        assert_eq!(
            kinds(items),
            [
                "reasoning",
                "message",
                "script",
                "script output",
                "message",
                "call",
                "call output"
            ]
        );
        assert!(
            matches!(&items[3], Item::ScriptToolCallOutput(output)
            if output.output_json.as_deref() == Some(r#"{"message":"seen","text":"old\n"}"#)),
            "{items:?}"
        );
        assert_eq!(
            (changes[0].path.as_str(), changes[0].kind),
            ("a.txt", FileDiffKind::Update)
        );
        assert_eq!(
            changes[0].diff.as_deref(),
            Some("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n")
        );
        // Whatever only the provider understands is there again, and both results.
        let next = &model.bodies()[1];
        let kept: &[&str] = match provider {
            Provider::OpenAiResponses => &[
                r#""encrypted_content":"secret==""#,
                r#"{"type":"function_call_output","call_id":"c1""#,
            ],
            Provider::OpenAiChat => &[
                r#""reasoning_content":"hm""#,
                r#"{"role":"tool","tool_call_id":"c1""#,
            ],
            Provider::AnthropicMessages => &[
                r#""signature":"sig==""#,
                r#"{"type":"tool_result","tool_use_id":"c1""#,
            ],
        };
        for kept in kept.iter().chain(&[r"<tool-results>\n{", r"done\\n"]) {
            assert!(
                next.contains(kept),
                "{provider:?} {comes:?}: {kept} in {next}"
            );
        }
    });
}

/// One writes into a pipe and the other reads from it: neither ends without the other.
fn calls_that_may_run_side_by_side_do() {
    for (parallel, expected) in [(true, (2, 0)), (false, (2, 0))] {
        let stage = Stage::new();
        let fifo = stage.work("pipe");
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .unwrap()
                .success()
        );
        let calls = vec![
            call(
                "c1",
                "bash",
                json!({ "command": "echo through > pipe", "timeout": 1500 }),
            ),
            call(
                "c2",
                "bash",
                json!({ "command": "read line < pipe; echo got $line", "timeout": 1500 }),
            ),
        ];
        let mut model = Model::new(
            Provider::OpenAiResponses,
            Comes::Whole,
            vec![Says {
                calls,
                ..Says::default()
            }],
        );
        model.parallel = parallel;
        let (report, _) = block_on(stage.run(Provider::OpenAiResponses, Comes::Whole, &model));
        assert_eq!((report.steps, report.failed_steps), expected);
        assert_eq!(
            model.bodies()[1].contains("got through"),
            parallel,
            "{}",
            model.bodies()[1]
        );
    }
}

fn scripts_that_are_switched_off_are_told_of() {
    for (mode, says) in [
        (ScriptMode::Disabled, "scripts are disabled"),
        (ScriptMode::DryRun, "dry"),
    ] {
        let mut stage = Stage::new();
        stage.mode = mode;
        let turns = vec![Says {
            text: SCRIPT,
            ..Says::default()
        }];
        let model = Model::new(Provider::AnthropicMessages, Comes::Whole, turns);
        let (report, _) = block_on(stage.run(Provider::AnthropicMessages, Comes::Whole, &model));
        assert_eq!(report.ended, Ended::Done);
        assert!(
            model.bodies()[1].to_lowercase().contains(says),
            "{}",
            model.bodies()[1]
        );
    }
}

fn results_of_a_turn_share_one_budget() {
    every(|provider, comes| {
        let mut stage = Stage::new();
        stage.limits.max_turn_output_chars = 20_000;
        let mut calls: Vec<_> = ["c1", "c2", "c3"]
            .map(|id| call(id, "count", json!({ "word": "x", "size": 60_000 })))
            .into();
        calls.push(call("c4", "count", json!({ "word": "short" })));
        let text = "<tool-calls>\nreturn Array.from({length: 30}, () => \"y\".repeat(3000));\n</tool-calls>";
        let model = Model::new(
            provider,
            comes,
            vec![Says {
                text,
                calls,
                ..Says::default()
            }],
        );
        let (report, _) = block_on(stage.run(provider, comes, &model));
        assert_eq!(report.failed_steps, 0);
        let bodies = model.bodies();
        assert!(bodies[0].contains("may come to 20000 characters together"));
        let grown = bodies[1].len() - bodies[0].len();
        assert!((10_000..26_000).contains(&grown), "{provider:?}: {grown}");
        assert!(bodies[1].contains("short"));
        assert_eq!(
            bodies[1].matches("the whole is in").count(),
            4,
            "{provider:?}"
        );
        // What is left out is in the files.
        let outputs = stage.home.path().join("outputs/own");
        let sizes = std::fs::read_dir(outputs)
            .unwrap()
            .map(|file| file.unwrap().metadata().unwrap().len());
        assert_eq!(sizes.filter(|size| *size > 60_000).count(), 4);
    });
}

fn a_call_id_that_is_repeated_is_executed_once() {
    every(|provider, comes| {
        let stage = Stage::new();
        let again = call("c1", "count", json!({ "word": "once" }));
        let model = Model::new(
            provider,
            comes,
            vec![
                Says {
                    text: "a",
                    calls: vec![again.clone(), again.clone()],
                    ..Says::default()
                },
                Says {
                    text: "b",
                    calls: vec![
                        again.clone(),
                        call("c2", "count", json!({ "word": "once" })),
                    ],
                    ..Says::default()
                },
                Says {
                    text: "c",
                    calls: vec![call("c2", "count", json!({ "word": "other" }))],
                    ..Says::default()
                },
            ],
        );
        let (report, _) = block_on(stage.run(provider, comes, &model));
        assert_eq!(report.ended, Ended::Done);
        assert_eq!(
            stage.counted(),
            ["once", "once", "other"],
            "{provider:?} {comes:?}"
        );
        let bodies = model.bodies();
        assert!(
            bodies[1].contains("there twice in one turn"),
            "{}",
            bodies[1]
        );
        assert!(
            bodies[2].contains("it was not executed again"),
            "{}",
            bodies[2]
        );
    });
}

fn arguments_that_cannot_be_read_are_told_of() {
    every(|provider, comes| {
        let stage = Stage::new();
        // A whole answer of this API has its arguments as JSON; only one in pieces can break them.
        if (provider, comes) == (Provider::AnthropicMessages, Comes::Whole) {
            return;
        }
        let broken = ("c1", "count", r#"{"word": "never"#.to_owned());
        let calls = vec![
            broken,
            call("c2", "count", json!({ "word": "fine" })),
            call("c3", "rm", json!({})),
        ];
        let model = Model::new(
            provider,
            comes,
            vec![Says {
                text: "a",
                calls,
                ..Says::default()
            }],
        );
        let (report, _) = block_on(stage.run(provider, comes, &model));
        assert_eq!(
            (report.ended, report.steps, report.failed_steps),
            (Ended::Done, 3, 2)
        );
        assert_eq!(stage.counted(), ["fine"]);
        let next = &model.bodies()[1];
        assert!(
            next.contains("the arguments cannot be read") && next.contains("there is no tool `rm`"),
            "{next}"
        );
    });
}

fn a_connection_that_breaks_is_tried_again_and_nothing_runs_twice() {
    every(|provider, comes| {
        let stage = Stage::new();
        let calls = vec![call("c1", "count", json!({ "word": "x".repeat(200) }))];
        let model = Model::new(
            provider,
            comes,
            vec![
                Says {
                    text: SCRIPT,
                    calls,
                    mishap: Mishap::Breaks,
                    ..Says::default()
                },
                Says {
                    text: "Done.",
                    mishap: Mishap::Breaks,
                    ..Says::default()
                },
            ],
        );
        let (report, heard) = block_on(stage.run(provider, comes, &model));
        assert_eq!((report.ended, report.turns), (Ended::Done, 2));
        assert_eq!(stage.counted().len(), 1);
        let code = "model_broke_off";
        assert_eq!(
            *heard.failures.lock().unwrap(),
            [(code, true), (code, true)]
        );
        assert_eq!(model.bodies().len(), 4);
    });
}
