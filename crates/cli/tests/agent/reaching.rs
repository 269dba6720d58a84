//! A model that is not there, and one that was found once and is to be found again.

use std::net::TcpListener;
use std::process::Command;

use ringfence_testkit::model::{Answer, Api, FakeModel, Part, Script};
use serde_json::{Value, json};

use crate::program::{Place, Ran};
use crate::talk::{Talk, Way};

/// An address at which nobody listens.
fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/v1", listener.local_addr().unwrap())
}

#[test]
fn a_model_that_is_not_there_is_tried_a_few_times_and_ends_with_125() {
    let place = Place::new();
    let url = nowhere();
    let ask = |arguments: &[&str]| {
        let mut all = vec!["agent", "hello", "--provider", &url, "--model", "m"];
        all.extend(arguments);
        place
            .ringfence(&all)
            .env("RINGFENCE_MODEL_MAX_RETRIES", "2")
            .output()
            .unwrap()
    };
    let ran = Ran::of(&ask(&[]));
    assert_eq!(ran.code, Some(125), "{ran:?}");
    let tries: Vec<&str> = ran.stderr.matches("of 3 follows in").collect();
    assert_eq!(tries.len(), 2, "{ran:?}");
    let place_named = url.trim_start_matches("http://").trim_end_matches("/v1");
    let last = format!("the model cannot be reached: {place_named} cannot be reached");
    assert_eq!(ran.stderr.matches(&last).count(), 1, "{ran:?}");
    assert!(
        ran.stderr
            .contains("to go on: ringfence agent --resume=conv_"),
        "{ran:?}"
    );
    // A program reads it from the last line.
    let ran = Ran::of(&ask(&["--json"]));
    assert_eq!(ran.code, Some(125), "{ran:?}");
    let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["type"], &last["code"]),
        (&json!("error"), &json!("model_unreachable")),
        "{ran:?}"
    );
}

#[test]
fn a_server_that_stays_busy_is_asked_as_often_as_it_may_and_ends_with_125() {
    for api in Api::ALL {
        let talk = Talk::new(api, Way::Streamed, Vec::new(), "[model]\nmax_retries = 2\n");
        let busy = Answer {
            retry_after: Some("0.01".to_owned()),
            ..Answer::status(529)
        };
        talk.model.then([busy.clone(), busy.clone(), busy]);
        let ran = Ran::of(&talk.command(&["hello"]).output().unwrap());
        assert_eq!(ran.code, Some(125), "{api:?} {ran:?}");
        assert_eq!(talk.model.requests().len(), 3, "{api:?} {ran:?}");
    }
}

/// The command that is printed is run as it is: in another shell, without the variables that led to the model.
#[test]
fn the_line_that_goes_on_works_when_it_is_pasted() {
    for (api, by_url) in [
        (Api::Chat, true),
        (Api::Chat, false),
        (Api::Messages, false),
        (Api::Responses, false),
    ] {
        let place = Place::new();
        let touch = json!({"command": "echo x > made; echo told"});
        let model = FakeModel::start(Script::of([
            Answer::of([Part::call("bash", touch)]),
            Answer::of([Part::text("Done.")]),
        ]))
        .unwrap();
        let url = format!("{}/v1", model.url());
        let provider = match api {
            Api::Chat if by_url => url.as_str(),
            Api::Chat => "openai-chat",
            Api::Messages => "anthropic",
            Api::Responses => "openai",
        };
        let work = place.work();
        let mut command = place.ringfence(&["agent", "do it", "--provider", provider]);
        command
            .args(["--model", "m-7", "--key-env", "MY_KEY", "--max-turns", "1"])
            .args(["--sandbox", "read-only", "--approve", "none"])
            .arg("--cwd")
            .arg(&work)
            .current_dir(place.home())
            .env("MY_KEY", "sk-mine-12345");
        if !by_url {
            command
                .env("OPENAI_BASE_URL", &url)
                .env("ANTHROPIC_BASE_URL", model.url());
        }
        let ran = Ran::of(&command.output().unwrap());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let line = ran
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("to go on: ringfence "))
            .unwrap_or_else(|| panic!("{ran:?}"));
        let pasted = format!("exec \"$PROGRAM\" {line}");
        let ran = Command::new("sh")
            .args(["-c", &pasted])
            .current_dir(place.home())
            .env_clear()
            .env("HOME", place.home())
            .env("PATH", "/usr/bin:/bin")
            .env("MY_KEY", "sk-mine-12345")
            .env("PROGRAM", crate::program::RINGFENCE)
            .output();
        let ran = Ran::of(&ran.unwrap());
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        let last = model.requests().pop().unwrap();
        assert_eq!(last.json()["model"], "m-7", "{line}");
        let shown = last.header("authorization").or(last.header("x-api-key"));
        assert!(
            shown.is_some_and(|key| key.ends_with("sk-mine-12345")),
            "{line}"
        );
        assert!(
            last.body.contains("do it") && last.body.contains("told"),
            "{}",
            last.body
        );
        // The fence is the one that it was.
        assert!(line.contains("--sandbox=read-only"), "{line}");
        assert!(!crate::program::exists(&work.join("made")), "{line}");
    }
}

/// What a person stops is told to the model as that.
#[test]
fn a_model_is_told_that_the_user_stopped_its_command() {
    let talk = Talk::new(
        Api::Messages,
        Way::Streamed,
        vec![
            Answer::of([Part::call(
                "bash",
                json!({"command": "echo begun; sleep 300"}),
            )]),
            Answer::of([Part::text("As you like.")]),
        ],
        "",
    );
    let mut terminal = crate::program::terminal::OnTerminal::of(talk.command(&["wait"]));
    terminal.expect("│ begun");
    terminal.press("\u{3}");
    terminal.expect("What instead?");
    terminal.press("go home\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    let told = talk.model.requests().pop().unwrap().body;
    assert!(
        told.contains("the user stopped this turn") && told.contains("stopped on request"),
        "{told}"
    );
    assert!(!told.contains("out of memory"), "{told}");
}
