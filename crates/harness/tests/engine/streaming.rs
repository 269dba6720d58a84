//! What is told while a command runs.

use std::sync::{Arc, Mutex};

use ringfence::Engine;
use ringfence::event::Event;
use ringfence::output::Stream;
use ringfence_testkit::home::TestHome;
use serde_json::json;

use crate::support::Case;
use crate::support::opening::Opening;

pub(crate) fn cases() -> Vec<Case> {
    asynchronous![
        pieces_are_whole_characters_and_bounded,
        a_flood_is_told_in_part_and_kept_in_the_reply,
        every_call_has_one_beginning_and_one_end,
    ]
}

/// What was told of a call, in a form of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    Begin,
    Output(Stream, String),
    NotStreamed(u64),
    End(Option<i32>),
}

fn listening(home: &TestHome, max_deltas: u64) -> (Engine, Arc<Mutex<Vec<Told>>>) {
    let told: Arc<Mutex<Vec<Told>>> = Arc::default();
    let listener = {
        let told = Arc::clone(&told);
        Arc::new(move |event: &Event<'_>| {
            let new = match event {
                Event::Begin { .. } => Told::Begin,
                Event::Output { stream, text, .. } => Told::Output(*stream, (*text).to_owned()),
                Event::NotStreamed { bytes, .. } => Told::NotStreamed(*bytes),
                Event::End { exit_code, .. } => Told::End(*exit_code),
                _ => return,
            };
            told.lock().unwrap().push(new);
        })
    };
    let mut opening = Opening {
        listener,
        ..Opening::default()
    };
    opening.config.output.max_deltas = max_deltas;
    (opening.engine(home, &home.work()), told)
}

async fn pieces_are_whole_characters_and_bounded() {
    let home = TestHome::new();
    let (engine, told) = listening(&home, 10_000);
    let text = "ä€𝄞 ".repeat(5000);
    std::fs::write(home.work().join("text"), &text).unwrap();
    // Byte by byte at first, so that characters arrive in parts.
    let command = "dd if=text bs=1 count=200 status=none; tail -c +201 text; echo no >&2; exit 3";
    engine
        .call("bash", json!({"command": command}))
        .await
        .unwrap();
    let told = told.lock().unwrap().clone();
    assert_eq!(
        (told.first(), told.last()),
        (Some(&Told::Begin), Some(&Told::End(Some(3))))
    );
    let stream = |wanted| -> String {
        let pieces = told.iter().filter_map(|told| match told {
            Told::Output(stream, text) if *stream == wanted => Some(text.as_str()),
            _ => None,
        });
        pieces
            .inspect(|piece| assert!(piece.len() <= 8192))
            .collect()
    };
    assert!(stream(Stream::Stdout) == text, "the text came through");
    assert_eq!(stream(Stream::Stderr), "no\n");
}

async fn a_flood_is_told_in_part_and_kept_in_the_reply() {
    let home = TestHome::new();
    let (engine, told) = listening(&home, 5);
    let reply = engine
        .call(
            "bash",
            json!({"command": "head -c 1000000 /dev/zero | tr '\\0' x"}),
        )
        .await
        .unwrap();
    assert!(reply["stdout"].as_str().unwrap().len() > 20_000);
    let told = told.lock().unwrap().clone();
    let mut streamed = 0;
    let mut pieces = 0;
    let mut not_streamed = 0;
    for told in &told {
        match told {
            Told::Output(_, text) => {
                streamed += text.len() as u64;
                pieces += 1;
            }
            Told::NotStreamed(bytes) => not_streamed += bytes,
            _ => {}
        }
    }
    assert_eq!((pieces, streamed + not_streamed), (5, 1_000_000));
}

async fn every_call_has_one_beginning_and_one_end() {
    let home = TestHome::new();
    let (engine, told) = listening(&home, 10_000);
    for (tool, arguments) in [
        ("shell", json!({"command": ["true"]})),
        ("shell", json!({"command": ["/no/such/program"]})),
        ("bash", json!({"command": "rm -rf /"})),
        (
            "bash",
            json!({"command": "true", "run_in_background": true}),
        ),
        (
            "exec_command",
            json!({"command": ["cat"], "process_id": "cat", "yield_time_ms": 0}),
        ),
        (
            "write_stdin",
            json!({"process_id": "cat", "resize": {"rows": 1, "cols": 1}}),
        ),
        (
            "write_stdin",
            json!({"process_id": "cat", "close": true, "yield_time_ms": 20_000}),
        ),
        ("run_code", json!({"source": "export default 1"})),
    ] {
        told.lock().unwrap().clear();
        let _ = engine.call(tool, arguments.clone()).await;
        let told = told.lock().unwrap().clone();
        let begins = told.iter().filter(|told| **told == Told::Begin).count();
        let ends = told
            .iter()
            .filter(|told| matches!(told, Told::End(_)))
            .count();
        assert_eq!((begins, ends), (1, 1), "{tool} {arguments}: {told:?}");
        assert!(matches!(told.last(), Some(Told::End(_))), "{told:?}");
    }
}
