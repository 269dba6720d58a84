//! Programs that are killed: whatever is left of the journal, nothing is executed twice, and the conversation ends the same.

use std::collections::BTreeSet;
use std::sync::Arc;

use ringfence::Cancel;
use ringfence::agent::{Agent, Journal};
use ringfence::dialect::provider::Provider;
use serde_json::json;

use crate::model::{Comes, Model, Says};
use crate::stage::{Heard, Stage};
use crate::support::steps::ended_within;
use crate::support::{Case, block_on};

pub(crate) fn cases() -> Vec<Case> {
    plain![
        a_journal_that_ends_anywhere_is_gone_on_with,
        a_loop_that_is_dropped_at_any_step_is_gone_on_with,
        what_was_done_and_not_told_is_not_done_again,
        what_is_damaged_is_not_guessed_at,
        a_new_task_leaves_what_was_open
    ]
}

fn turns() -> Vec<Says> {
    let count = |id: &'static str, word: &str| (id, "count", json!({ "word": word }).to_string());
    vec![
        Says {
            thought: "two at once",
            text: "one",
            calls: vec![count("c1", "a"), count("c2", "b")],
            ..Says::default()
        },
        Says {
            text: "two",
            calls: vec![count("c3", "c")],
            ..Says::default()
        },
        Says {
            text: "three",
            ..Says::default()
        },
    ]
}

/// The words of steps that a journal says were begun.
fn begun(journal: &str) -> Vec<&'static str> {
    let words = [["a", "b"], ["c", "c"]];
    let mut turn = 0;
    let mut begun = Vec::new();
    for line in journal.lines() {
        if line.starts_with(r#"{"entry":"told""#) {
            turn += 1;
        }
        // Half a line is none.
        if let Some(step) = line
            .strip_prefix(r#"{"entry":"intent","step":"#)
            .and_then(|rest| rest.strip_suffix('}'))
        {
            begun.push(words[turn][step.parse::<usize>().unwrap()]);
        }
    }
    begun
}

fn a_journal_that_ends_anywhere_is_gone_on_with() {
    for provider in Provider::ALL {
        let stage = Stage::new();
        let model = Model::new(provider, Comes::Whole, turns());
        let (report, _) = block_on(stage.run(provider, Comes::Whole, &model));
        assert_eq!((report.turns, stage.counted().len()), (3, 3));
        let whole = std::fs::read_to_string(stage.journal()).unwrap();
        block_on(async {
            let engine = stage.engine();
            let begins = whole.find('\n').unwrap();
            for cut in begins..=whole.len() {
                // In the middle of an entry all bytes are alike: a few of them are enough.
                let near = whole[..cut].ends_with('\n') || whole[cut..].starts_with('\n');
                if !near && !cut.is_multiple_of(97) || !whole.is_char_boundary(cut) {
                    continue;
                }
                std::fs::write(stage.journal(), &whole[..cut]).unwrap();
                stage.counter.lock().unwrap().clear();
                let options = stage.options(&engine, provider, Comes::Whole);
                let journal = Journal::open(&stage.journal()).unwrap();
                let was_said = whole[..cut].contains(r#"{"entry":"said""#)
                    && !journal.history().items().is_empty();
                let mut agent = Agent::new(
                    &engine,
                    &model,
                    options,
                    journal,
                    Arc::new(Heard::default()) as _,
                );
                let task = (!was_said).then_some("Do it.");
                let report = agent.run(task, &Cancel::new()).await.unwrap();
                assert_eq!(
                    (report.ended.code(), agent.journal().turns()),
                    ("done", 3),
                    "{provider:?} cut at {cut}"
                );
                let begun = begun(&whole[..cut]);
                let mut all: Vec<String> = begun.iter().map(|word| (*word).to_owned()).collect();
                all.extend(stage.counted());
                all.sort();
                assert_eq!(
                    all,
                    ["a", "b", "c"],
                    "{provider:?} cut at {cut}: {begun:?} were begun before"
                );
            }
        });
    }
}

/// The steps that were begun and whose end is not known, by the turn that they are of.
fn begun_and_not_ended(journal: &str) -> Option<(usize, usize)> {
    let starts = |name: &str| {
        let entry = format!(r#"{{"entry":"{name}""#);
        journal
            .lines()
            .filter(|line| line.starts_with(&entry))
            .count()
    };
    let open = starts("intent") - starts("outcome");
    (open > 0).then(|| (starts("turn"), open))
}

/// Dropped after each of its steps, one after the other, until it comes to its end by itself.
fn a_loop_that_is_dropped_at_any_step_is_gone_on_with() {
    // More than there are steps.
    const MOST: usize = 400;
    for provider in Provider::ALL {
        let mut caught = BTreeSet::new();
        let ended = (0..MOST).find(|times| {
            let stage = Stage::new();
            let model = Model::new(provider, Comes::Streamed(200), turns());
            let ended = block_on(async {
                let engine = stage.engine();
                let options = stage.options(&engine, provider, Comes::Streamed(200));
                let journal = Journal::create(&stage.journal(), provider).unwrap();
                let listener = Arc::new(Heard::default());
                let mut agent = Agent::new(&engine, &model, options, journal, listener as _);
                let ended = ended_within(agent.run(Some("Do it."), &Cancel::new()), *times).await;
                drop(agent);
                let left = std::fs::read_to_string(stage.journal()).unwrap();
                caught.extend(begun_and_not_ended(&left));
                if left.contains(r#"{"entry":"said""#) {
                    stage.resume(&engine, provider, &model).await;
                    assert_eq!(Journal::open(&stage.journal()).unwrap().turns(), 3);
                }
                ended
            });
            let mut counted = stage.counted();
            counted.sort();
            let mut once = counted.clone();
            once.dedup();
            assert_eq!(counted, once, "{provider:?} after {times} steps");
            assert!(
                once.iter()
                    .all(|word| ["a", "b", "c"].contains(&word.as_str()))
            );
            ended
        });
        assert!(ended.is_some(), "it never came to its end by itself");
        // In both turns that do something it was caught in the middle of that: both of two at once, and one alone.
        assert!(
            caught.contains(&(1, 2)) && caught.contains(&(2, 1)),
            "{provider:?}: {caught:?}"
        );
    }
}

/// Dropped right after a tool has done what it does, and before it could say so.
fn what_was_done_and_not_told_is_not_done_again() {
    for (done, told) in [(1, 2), (2, 2), (3, 1)] {
        for provider in Provider::ALL {
            let stage = Stage::new();
            let model = Model::new(provider, Comes::Whole, turns());
            block_on(async {
                let engine = stage.engine();
                let options = stage.options(&engine, provider, Comes::Whole);
                let journal = Journal::create(&stage.journal(), provider).unwrap();
                let listener = Arc::new(Heard::default());
                let mut agent = Agent::new(&engine, &model, options, journal, listener as _);
                let cancel = Cancel::new();
                let reached = async {
                    while stage.counted().len() < done {
                        tokio::task::yield_now().await;
                    }
                };
                tokio::select! {
                    biased;
                    report = agent.run(Some("Do it."), &cancel) => panic!("it ended: {report:?}"),
                    () = reached => {}
                }
                drop(agent);
                stage.resume(&engine, provider, &model).await;
            });
            let mut counted = stage.counted();
            counted.sort();
            assert_eq!(counted, ["a", "b", "c"], "{provider:?} after {done}");
            let interrupted = "what came of it is not known";
            let last = model.bodies().pop().unwrap();
            assert_eq!(
                last.matches(interrupted).count(),
                told,
                "{provider:?} after {done}: {last}"
            );
        }
    }
}

fn what_is_damaged_is_not_guessed_at() {
    let stage = Stage::new();
    let model = Model::new(Provider::OpenAiChat, Comes::Whole, turns());
    block_on(stage.run(Provider::OpenAiChat, Comes::Whole, &model));
    let whole = std::fs::read_to_string(stage.journal()).unwrap();
    for (damaged, code) in [
        (
            whole.replacen("{\"entry\":\"turn\"", "{\"entry\":turn", 1),
            "journal_damaged",
        ),
        (
            whole.replacen("\"entry\":\"intent\"", "\"entry\":\"inten\"", 1),
            "journal_damaged",
        ),
        (
            whole.replacen("\"step\":0", "\"step\":-1", 1),
            "journal_damaged",
        ),
        (
            whole.split_once('\n').unwrap().1.to_owned(),
            "journal_damaged",
        ),
        (String::new(), "journal_damaged"),
    ] {
        std::fs::write(stage.journal(), damaged).unwrap();
        assert_eq!(Journal::open(&stage.journal()).unwrap_err().code(), code);
    }
    std::fs::remove_file(stage.journal()).unwrap();
    assert_eq!(
        Journal::open(&stage.journal()).unwrap_err().code(),
        "journal_unusable"
    );
}

fn a_new_task_leaves_what_was_open() {
    let stage = Stage::new();
    let provider = Provider::AnthropicMessages;
    let model = Model::new(provider, Comes::Whole, turns());
    block_on(stage.run(provider, Comes::Whole, &model));
    let whole = std::fs::read_to_string(stage.journal()).unwrap();
    let cut = whole.find(r#"{"entry":"intent""#).unwrap();
    std::fs::write(stage.journal(), &whole[..cut]).unwrap();
    stage.counter.lock().unwrap().clear();
    block_on(async {
        let engine = stage.engine();
        let options = stage.options(&engine, provider, Comes::Whole);
        let journal = Journal::open(&stage.journal()).unwrap();
        assert!(journal.is_unfinished());
        let mut agent = Agent::new(
            &engine,
            &model,
            options,
            journal,
            Arc::new(Heard::default()) as _,
        );
        agent
            .run(Some("Something else."), &Cancel::new())
            .await
            .unwrap();
    });
    assert_eq!(stage.counted(), ["c"]);
    let bodies = model.bodies();
    assert!(
        bodies[3].contains("the conversation was interrupted")
            && bodies[3].contains("Something else.")
    );
}
