//! I1 to I10 of the script harness's specification, each for all three APIs, streamed and whole.

use ringfence_testkit::model::{Answer, Api, Part};
use serde_json::{Value, json};

use crate::program::exists;
use crate::program::terminal::OnTerminal;
use crate::talk::{Came, Talk, Way, every};

const ECHO: &str =
    "const r = await tools.exec({command: ['echo', 'from a script']});\nreturn r.stdout";

fn done() -> Answer {
    Answer::of([Part::text("Done.")])
}

/// A turn with a thought, text, a script and text behind it.
fn full_turn(script: &str) -> Answer {
    Answer::of([
        Part::thinking("a thought — é"),
        Part::text("Before.\n\n"),
        Part::script(script),
        Part::text("\n\nBehind."),
    ])
}

fn run(api: Api, way: Way, answers: Vec<Answer>, settings: &str) -> Came {
    let talk = Talk::new(api, way, answers, settings);
    let came = talk.run(&["--approve", "none", "do it"]);
    assert_eq!(talk.model.left(), 0, "{api:?} {way:?}: {:?}", came.ran);
    came
}

/// What the model was told last, as text.
fn told_last(came: &Came) -> &str {
    &came.requests.last().unwrap().body
}

fn said(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

/// Thoughts, text and scripts of one message, from the model to the next request.
fn a_script_with_text_and_thoughts(api: Api, way: Way) {
    let came = run(api, way, vec![full_turn(ECHO), done()], "");
    let kinds = came.kinds();
    let expected = [
        "reasoning",
        "message",
        "script_tool_call",
        "script_tool_call_output",
        "message",
    ];
    assert_eq!(kinds, expected, "{api:?} {way:?}");
    let items = came.items();
    assert_eq!(items[0]["content"][0]["text"], "a thought — é");
    assert_eq!(
        (&items[1], &items[4]),
        (&said("Before.\n\n"), &said("\n\nBehind."))
    );
    assert_eq!(
        (&items[2]["source_code"], &items[2]["status"]),
        (&json!(ECHO), &json!("completed"))
    );
    assert_eq!(items[3]["output_json"], "\"from a script\\n\"");
    assert_eq!(came.result()["ended"]["reason"], "done");
    assert_eq!(
        (came.ran.code, &came.result()["text"]),
        (Some(0), &json!("Done."))
    );
    assert!(
        told_last(&came).contains("from a script"),
        "the model is told"
    );
}

#[test]
fn i1_responses_script_text_and_thinking() {
    for way in [Way::Streamed, Way::Whole] {
        a_script_with_text_and_thoughts(Api::Responses, way);
    }
}

#[test]
fn i2_chat_completions_script_block_is_executed() {
    for way in [Way::Streamed, Way::Whole] {
        a_script_with_text_and_thoughts(Api::Chat, way);
    }
}

#[test]
fn i3_messages_thinking_and_script_streaming() {
    for way in [Way::Streamed, Way::Whole] {
        a_script_with_text_and_thoughts(Api::Messages, way);
    }
    // As it is written, before the turn is whole.
    let came = run(
        Api::Messages,
        Way::Streamed,
        vec![full_turn(ECHO), done()],
        "",
    );
    let place = |kind: &str| {
        came.events
            .iter()
            .position(|event| event["type"] == kind)
            .unwrap()
    };
    assert!(place("thinking") < place("text") && place("text") < place("step_began"));
    let pieces = came
        .events
        .iter()
        .filter(|event| event["type"] == "thinking");
    assert!(pieces.count() > 1);
}

#[test]
fn i4_a_turn_with_a_structured_call_and_a_script() {
    for (api, way) in every() {
        let turn = Answer::of([
            Part::text("Both.\n"),
            Part::script(
                "await tools.exec({command: ['bash', '-c', 'echo one >> order']}); return 'one'",
            ),
            Part::call("bash", json!({"command": "echo two >> order; cat order"})),
        ]);
        let came = run(api, way, vec![turn, done()], "");
        let expected = [
            "message",
            "script_tool_call",
            "script_tool_call_output",
            "function_call",
            "function_call_output",
        ];
        assert_eq!(came.kinds(), expected, "{api:?} {way:?}");
        let items = came.items();
        assert_eq!(items[2]["output_json"], "\"one\"");
        // In the order in which they were written.
        assert!(
            items[4]["output"].as_str().unwrap().contains("one\\ntwo"),
            "{:?}",
            items[4]
        );
        let told = told_last(&came);
        assert!(
            told.contains("call_1_2") && told.contains("<tool-results>"),
            "{told}"
        );
    }
}

#[test]
fn i5_the_question_shows_the_script_and_an_answer_resumes_it() {
    const SCRIPT: &str = "const a = 1;\ntry { await tools.exec({command: ['git', 'clean', '-fdx', 'junk']}); return 'cleaned' }\ncatch (e) { return e.name }";
    for (api, way) in every() {
        for (answer, expected) in [("yes", "cleaned"), ("no", "ApprovalDeniedError")] {
            let talk = Talk::new(
                api,
                way,
                vec![Answer::of([Part::script(SCRIPT)]), done()],
                "[approval]\ntimeout_ms = 15000\n",
            );
            let junk = talk.place.work().join("junk");
            git(&talk, &["init", "-q", "."]);
            std::fs::write(&junk, "x").unwrap();
            let mut terminal = OnTerminal::of(talk.command(&["do it"]));
            terminal.expect("in a script, line 2");
            terminal.answer(answer);
            let (code, seen) = terminal.end();
            assert_eq!(code, Some(0), "{seen}");
            assert_eq!(exists(&junk), answer == "no", "{api:?} {way:?}: {seen}");
            let told = talk.model.requests().last().unwrap().body.clone();
            assert!(told.contains(expected), "{api:?} {way:?} {answer}: {told}");
        }
    }
}

fn git(talk: &Talk, arguments: &[&str]) {
    let ran = std::process::Command::new("git")
        .args(arguments)
        .current_dir(talk.place.work())
        .output();
    assert!(ran.unwrap().status.success());
}

#[test]
fn i6_a_time_out_is_in_the_history() {
    const SETTINGS: &str = "[script.limits]\ntimeout_ms = 300\n";
    for (api, way) in every() {
        let turn = Answer::of([
            Part::text("Round.\n"),
            Part::script("while (true) {}"),
            Part::text("\nBehind."),
        ]);
        let came = run(api, way, vec![turn, done()], SETTINGS);
        let items = came.items();
        assert_eq!(
            items[2]["error"]["code"], "ScriptTimeoutError",
            "{api:?} {way:?}"
        );
        assert_eq!(items[3], said("\nBehind."));
        assert!(told_last(&came).contains("ScriptTimeoutError"));
        assert_eq!(came.result()["ended"]["reason"], "done");
    }
}

#[test]
fn i7_disabled_scripts_are_not_run_and_a_warning_stands_for_them() {
    for (api, way) in every() {
        let script = "await tools.exec({command: ['touch', 'made']})";
        let talk = Talk::new(
            api,
            way,
            vec![full_turn(script), done()],
            "[script]\nmode = \"disabled\"\n",
        );
        let came = talk.run(&["do it"]);
        assert!(!exists(&talk.place.work().join("made")), "{api:?} {way:?}");
        assert_eq!(came.ran.code, Some(0), "{:?}", came.ran);
        let all = format!("{:?} {:?}", came.items(), came.events);
        assert!(
            all.contains("scripts are disabled"),
            "{api:?} {way:?}: {all}"
        );
        // Nor is the model told that it could write one.
        assert!(
            !came.requests[0].body.contains("<tool-calls>"),
            "{api:?} {way:?}"
        );
    }
}

#[test]
fn i8_a_dry_run_checks_and_does_nothing() {
    for (api, way) in every() {
        let scripts = Answer::of([
            Part::script("await tools.exec({command: ['touch', 'made']})"),
            Part::text("\n"),
            Part::script("await tools.nothingLikeThis({})"),
        ]);
        let talk = Talk::new(
            api,
            way,
            vec![scripts, done()],
            "[script]\nmode = \"dry-run\"\n",
        );
        let came = talk.run(&["do it"]);
        assert!(!exists(&talk.place.work().join("made")), "{api:?} {way:?}");
        let outputs: Vec<Value> = came
            .items()
            .into_iter()
            .filter(|item| item["type"] == "script_tool_call_output")
            .collect();
        assert_eq!(outputs.len(), 2, "{:?}", came.ran);
        assert!(
            told_last(&came).contains("nothingLikeThis"),
            "{}",
            told_last(&came)
        );
        // It is on record as what it was.
        let log = talk.place.output(&["audit", "show", "--json"]);
        assert!(log.stdout.contains("run_script"), "{log:?}");
    }
}

#[test]
fn i9_another_runtime_comes_to_the_same() {
    let scripts = || {
        vec![
            full_turn(ECHO),
            Answer::of([Part::script("throw new TypeError('three')")]),
            Answer::of([Part::script(
                "const all = await Promise.all([1, 2].map((n) => tools.exec({command: ['echo', String(n)]}))); return all.map((one) => one.exitCode)",
            )]),
            done(),
        ]
    };
    for (api, way) in every() {
        let own = run(api, way, scripts(), "");
        let other = run(api, way, scripts(), "[script]\nruntime = \"in-process\"\n");
        assert_eq!(own.items(), other.items(), "{api:?} {way:?}");
        assert_eq!(own.items().len(), 9, "{:?}", own.ran);
    }
}

#[test]
fn i10_the_whole_turn_is_in_the_history_in_its_order() {
    for (api, way) in every() {
        let turn = Answer::of([
            Part::thinking("FIRST"),
            Part::text("SECOND\n"),
            Part::script("return 'FIFTH'"),
            Part::text("\nTHIRD"),
            Part::call("bash", json!({"command": "echo FOUR''TH"})),
        ]);
        let came = run(api, way, vec![turn, done()], "");
        // The items as things happened; the request as the provider wants it: what was said, then results.
        let items = serde_json::to_string(&came.items()).unwrap();
        in_order(
            &items,
            &["FIRST", "SECOND", "FIFTH", "THIRD", "FOUR''TH", "FOURTH"],
        );
        let history = told_last(&came);
        let thought = if api == Api::Chat { "SECOND" } else { "FIRST" };
        in_order(
            history,
            &["do it", thought, "SECOND", "THIRD", "FOUR''TH", "FOURTH"],
        );
        assert!(
            history.contains("FIRST") && history.contains("FIFTH"),
            "{history}"
        );
        let signature = match api {
            Api::Messages => r#""signature":"signature/1+0==""#,
            Api::Responses => r#""encrypted_content":"signature/1+0==""#,
            Api::Chat => r#""reasoning_content":"FIRST""#,
        };
        assert!(history.contains(signature), "{api:?} {way:?}: {history}");
    }
}

/// Words stand behind each other, each looked for behind the one before.
fn in_order(text: &str, words: &[&str]) {
    let mut from = 0;
    for word in words {
        let Some(at) = text[from..].find(word) else {
            panic!("{word} is not behind the others of {words:?}: {text}");
        };
        from += at;
    }
}
