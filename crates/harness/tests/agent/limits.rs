//! How a loop ends: each limit, a cancellation at any point, and what is left to go on with.

use std::sync::Arc;
use std::time::Duration;

use ringfence::agent::{Agent, Ended, Journal};
use ringfence::dialect::provider::{Provider, Raw};
use ringfence::event::Event;
use ringfence::{Cancel, Latch};
use serde_json::json;

use crate::model::{Comes, Mishap, Model, Says};
use crate::stage::{Heard, Stage};
use crate::support::{Case, block_on};

pub(crate) fn cases() -> Vec<Case> {
    plain![
        each_limit_ends_it_and_says_so,
        what_runs_is_stopped_and_told_of,
        a_loop_that_is_stopped_while_it_waits_for_the_model_goes_on_later,
        a_history_is_replaced_by_a_shorter_one
    ]
}

fn counting(number: usize) -> Says {
    let word = format!("{number}");
    Says {
        text: "on",
        calls: vec![(
            ["a", "b", "c", "d", "e", "f"][number % 6],
            "count",
            json!({ "word": word }).to_string(),
        )],
        ..Says::default()
    }
}

fn each_limit_ends_it_and_says_so() {
    let failing = || Says {
        calls: vec![("x", "count", json!({ "word": "fail" }).to_string())],
        ..counting(0)
    };
    let hangs = || Says {
        mishap: Mishap::Hangs,
        ..counting(1)
    };
    type Change = fn(&mut Stage);
    let table: [(&str, Vec<Says>, Change, usize); 5] = [
        (
            "turn_limit",
            (0..6).map(counting).collect(),
            |stage| stage.limits.max_turns = 3,
            3,
        ),
        (
            "token_limit",
            (0..6).map(counting).collect(),
            |stage| stage.limits.max_tokens = Some(300),
            3,
        ),
        (
            "failure_limit",
            vec![failing(), failing(), failing()],
            |stage| stage.limits.max_failures = 2,
            2,
        ),
        (
            "time_limit",
            vec![counting(0), hangs()],
            |stage| stage.limits.timeout = Duration::from_millis(700),
            1,
        ),
        ("done", vec![counting(0)], |_| {}, 1),
    ];
    for (code, turns, change, steps) in table {
        let mut stage = Stage::new();
        change(&mut stage);
        // The ids of failing calls repeat, and so do their arguments: they are not run twice, which fails as well.
        let model = Model::new(Provider::OpenAiChat, Comes::Whole, turns);
        let (report, _) = block_on(stage.run(Provider::OpenAiChat, Comes::Whole, &model));
        assert_eq!(report.ended.code(), code);
        assert_eq!(report.steps as usize, steps, "{code}");
    }
}

fn what_runs_is_stopped_and_told_of() {
    let begun = Latch::new();
    let mut stage = Stage::new();
    let told = begun.clone();
    stage.listener = Arc::new(move |event: &Event<'_>| {
        if let Event::Output { text, .. } = event
            && text.contains("ready")
        {
            told.set();
        }
    });
    let provider = Provider::AnthropicMessages;
    let calls = vec![
        (
            "c1",
            "bash",
            json!({ "command": "echo ready; sleep 300" }).to_string(),
        ),
        (
            "c2",
            "bash",
            json!({ "command": "echo ready; sleep 300" }).to_string(),
        ),
    ];
    let says = Says {
        text: "<tool-calls>\nreturn 1;\n</tool-calls>",
        calls,
        ..Says::default()
    };
    let after = Says {
        text: "later\n<tool-calls>\nreturn 2;\n</tool-calls>",
        ..Says::default()
    };
    let model = Model::new(provider, Comes::Whole, vec![says, after]);
    block_on(async {
        let engine = stage.engine();
        let options = stage.options(&engine, provider, Comes::Whole);
        let journal = Journal::create(&stage.journal(), provider).unwrap();
        let mut agent = Agent::new(
            &engine,
            &model,
            options,
            journal,
            Arc::new(Heard::default()) as _,
        );
        let cancel = Cancel::new();
        let (report, ()) = tokio::join!(agent.run(Some("Do it."), &cancel), async {
            begun.wait().await;
            cancel.cancel();
        });
        assert_eq!(report.unwrap().ended, Ended::Cancelled);
        drop(agent);
        // The conversation is whole: it goes on with the results of what was stopped.
        let report = stage.resume(&engine, provider, &model).await;
        assert_eq!(report.turns, 2);
        let body = &model.bodies()[1];
        assert!(
            body.contains(r#""tool_use_id":"c1""#) && body.contains(r#""tool_use_id":"c2""#),
            "{body}"
        );
        // It is told the truth: nobody ran out of memory or time.
        assert!(
            body.contains("the user stopped this turn") && body.contains("stopped on request"),
            "{body}"
        );
        assert!(
            !body.contains("out of memory") && !body.contains("imeout)"),
            "{body}"
        );
    });
}

fn a_loop_that_is_stopped_while_it_waits_for_the_model_goes_on_later() {
    let stage = Stage::new();
    let provider = Provider::OpenAiResponses;
    let says = Says {
        mishap: Mishap::Hangs,
        ..counting(0)
    };
    let model = Model::new(provider, Comes::Whole, vec![says]);
    block_on(async {
        let engine = stage.engine();
        let options = stage.options(&engine, provider, Comes::Whole);
        let journal = Journal::create(&stage.journal(), provider).unwrap();
        let mut agent = Agent::new(
            &engine,
            &model,
            options,
            journal,
            Arc::new(Heard::default()) as _,
        );
        let cancel = Cancel::new();
        let (report, ()) = tokio::join!(agent.run(Some("Do it."), &cancel), async {
            while model.bodies().is_empty() {
                tokio::task::yield_now().await;
            }
            cancel.cancel();
        });
        assert_eq!(report.unwrap().ended, Ended::Cancelled);
        // Nobody else may go on with it at the same time.
        assert_eq!(
            Journal::open(&stage.journal()).unwrap_err().code(),
            "journal_in_use"
        );
        drop(agent);
        stage.resume(&engine, provider, &model).await;
    });
    assert_eq!(stage.counted(), ["0"]);
}

fn a_history_is_replaced_by_a_shorter_one() {
    let stage = Stage::new();
    let provider = Provider::OpenAiChat;
    let model = Model::new(provider, Comes::Whole, (0..3).map(counting).collect());
    block_on(async {
        let engine = stage.engine();
        let mut options = stage.options(&engine, provider, Comes::Whole);
        options.compaction = Some(Arc::new(|history, last| {
            let short = [
                r#"{"role":"user","content":"short"}"#,
                r#"{"role":"assistant","content":"1"}"#,
                r#"{"role":"assistant","content":"2"}"#,
            ];
            (last.input == 101 && history.items().len() > 3)
                .then(|| short.map(|item| Raw::parse(item).unwrap()).to_vec())
        }));
        let journal = Journal::create(&stage.journal(), provider).unwrap();
        let mut agent = Agent::new(
            &engine,
            &model,
            options,
            journal,
            Arc::new(Heard::default()) as _,
        );
        let report = agent.run(Some("Do it."), &Cancel::new()).await.unwrap();
        assert_eq!(report.ended, Ended::Done);
        drop(agent);
        let kept = Journal::open(&stage.journal()).unwrap();
        assert_eq!(
            kept.history().items()[0].text(),
            r#"{"role":"user","content":"short"}"#
        );
        assert_eq!(kept.turns(), 4);
    });
    assert!(model.bodies()[2].contains("short") && !model.bodies()[2].contains("Do it."));
}
