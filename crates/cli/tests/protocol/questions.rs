//! Questions that the client answers.

use serde_json::{Value, json};

use crate::client::{Client, code};
use ringfence_testkit::processes::gone_within_a_second;

use crate::program::Place;

/// A command that is asked about under `on-request`.
const ASKED: &str = "python3 -c 'print(1)'";

fn asking(place: &Place) -> Client {
    Client::open(place, &json!({"approval": "on-request"}))
}

fn ask(client: &mut Client, id: u64) -> Value {
    client.call(id, "bash", &json!({"command": ASKED}));
    client.told("question")
}

#[test]
fn a_question_says_what_there_is_to_know() {
    let place = Place::new();
    let mut client = asking(&place);
    let question = ask(&mut client, 5);
    assert!(question["id"].is_string());
    let params = &question["params"];
    assert_eq!(params["id"], 5, "{question:#}");
    assert_eq!(
        (&params["kind"], &params["tool"]),
        (&json!("run"), &json!("bash"))
    );
    assert_eq!(
        (&params["command"], &params["cwd"]),
        (&json!(ASKED), &json!(place.work()))
    );
    assert_eq!(params["class"], "unknown");
    assert_eq!(params["timeout_ms"], 60_000);
    assert!(
        params["reason"]
            .as_str()
            .is_some_and(|reason| !reason.is_empty())
    );
    assert!(params["facts"]["commands"].is_array(), "{question:#}");
    assert_eq!(
        params["reach"],
        json!({"fenced": true, "writable": [place.work()], "network": "off"})
    );
    assert_eq!(params["grants"], json!([]));
    let answers = params["answers"].as_array().unwrap();
    assert!(
        answers.contains(&json!("once")) && answers.contains(&json!("no")),
        "{question:#}"
    );
}

#[test]
fn an_answer_means_what_it_says() {
    // The answer, the code of the refusal or nothing, a word in it, and whether the client is told that it is none.
    let table = [
        (json!({"result": {"answer": "once"}}), None, "1\n", false),
        (json!({"result": {"answer": "session"}}), None, "1\n", false),
        (
            json!({"result": {"answer": "no", "message": "not on my machine"}}),
            Some("denied_by_user"),
            "not on my machine",
            false,
        ),
        (
            json!({"result": {"answer": "no"}}),
            Some("denied_by_user"),
            "said no",
            false,
        ),
        (
            json!({"result": {"answer": "abort"}}),
            Some("aborted"),
            "stopped",
            false,
        ),
        (
            json!({"result": {"answer": "yes"}}),
            Some("denied_by_user"),
            "unknown variant",
            true,
        ),
        (
            json!({"result": {"answer": "once", "more": 1}}),
            Some("denied_by_user"),
            "more",
            true,
        ),
        (
            json!({"result": true}),
            Some("denied_by_user"),
            "answer is none",
            true,
        ),
        (
            json!({"result": {"answer": "rule", "proposal": 99}}),
            Some("denied_by_user"),
            "answer is none",
            true,
        ),
        (
            json!({"result": {"answer": "grant", "grant": 0}}),
            Some("denied_by_user"),
            "not among",
            true,
        ),
        (
            json!({"error": {"code": 1, "message": "nobody is at home"}}),
            Some("denied_by_user"),
            "nobody is at home",
            true,
        ),
    ];
    for (answer, refused, word, told) in table {
        let place = Place::new();
        let mut client = asking(&place);
        let question = ask(&mut client, 1);
        let mut response = answer.clone();
        response["id"] = question["id"].clone();
        client.say(&response);
        if told {
            assert_eq!(
                client.told("unexpected_response")["params"]["id"],
                question["id"],
                "{answer}"
            );
        }
        let reply = client.reply(1);
        assert!(
            reply.to_string().contains(&word.replace('\n', "\\n")),
            "{answer}: {reply}"
        );
        match refused {
            None => assert_eq!(reply["result"]["reply"]["exitCode"], 0, "{answer}: {reply}"),
            Some(expected) => {
                let data = &reply["error"]["data"];
                assert_eq!(
                    (&reply["error"]["code"], code(&reply)),
                    (&json!(-32001), expected),
                    "{answer}: {reply}"
                );
                assert_eq!(
                    (&data["class"], &data["grants"]),
                    (&json!("unknown"), &json!([])),
                    "{reply}"
                );
                assert!(data["reason"].is_string(), "{reply}");
            }
        }
        // A yes for the session is not asked for again; one for once is.
        client.call(2, "bash", &json!({"command": ASKED}));
        let next = client.until(|line| line["method"] == "question" || line["id"] == 2);
        let again = next["method"] == "question";
        assert_eq!(again, answer["result"]["answer"] != "session", "{answer}");
    }
}

#[test]
fn a_rule_is_kept() {
    let place = Place::new();
    let mut client = asking(&place);
    client.call(1, "bash", &json!({"command": "frobnicate tests"}));
    let question = client.told("question");
    let proposals = question["params"]["proposals"].as_array().unwrap();
    let rule = proposals[0]["rule"].as_str().unwrap().to_owned();
    client.answer(&question, &json!({"answer": "rule", "proposal": 0}));
    client.reply(1);
    let kept = std::fs::read_to_string(place.home().join(".config/ringfence/rules.toml")).unwrap();
    assert!(kept.contains(rule.trim()), "{kept}");
    client.call(2, "bash", &json!({"command": "frobnicate tests"}));
    client.reply(2);
    assert!(
        client.heard.iter().all(|line| line["method"] != "question"),
        "{:?}",
        client.heard
    );
}

#[test]
fn nobody_answers_in_time() {
    let place = Place::new();
    let mut client = Client::open(
        &place,
        &json!({"approval": "on-request", "question_timeout_ms": 200}),
    );
    let question = ask(&mut client, 1);
    let withdrawn = client.told("question_withdrawn");
    assert_eq!(
        withdrawn["params"],
        json!({"request": question["id"], "reason": "timed_out"})
    );
    assert_eq!(code(&client.reply(1)), "approval_timed_out");
    client.answer(&question, &json!({"answer": "once"}));
    assert_eq!(
        client.told("unexpected_response")["params"]["id"],
        question["id"]
    );
    client.is_well();
}

#[test]
fn a_question_is_withdrawn_with_its_call_and_keeps_nobody_else_waiting() {
    let place = Place::new();
    let mut client = asking(&place);
    let question = ask(&mut client, 1);
    let other = client.called(2, "shell", &json!({"command": ["echo", "meanwhile"]}));
    assert_eq!(
        other["result"]["reply"]["stdout"]["text"], "meanwhile\n",
        "{other}"
    );
    client.request(3, "cancel", &json!({"id": 1}));
    assert_eq!(client.reply(3)["result"]["found"], true);
    let withdrawn = client.told("question_withdrawn");
    assert_eq!(
        withdrawn["params"],
        json!({"request": question["id"], "reason": "cancelled"})
    );
    assert_eq!(code(&client.reply(1)), "cancelled");
    client.answer(&question, &json!({"answer": "once"}));
    assert_eq!(
        client.told("unexpected_response")["params"]["id"],
        question["id"]
    );
    // An answer that comes twice is one.
    let question = ask(&mut client, 4);
    client.answer(&question, &json!({"answer": "once"}));
    client.answer(&question, &json!({"answer": "no"}));
    assert_eq!(client.reply(4)["result"]["reply"]["exitCode"], 0);
    assert_eq!(
        client.told("unexpected_response")["params"]["id"],
        question["id"]
    );
}

#[test]
fn more_questions_than_calls_run_at_once_are_asked() {
    let place = Place::new();
    let mut client = asking(&place);
    for id in 0..100_u64 {
        client.call(id, "bash", &json!({"command": ASKED}));
    }
    let questions: Vec<Value> = (0..100).map(|_| client.told("question")).collect();
    let other = client.called(200, "shell", &json!({"command": ["echo", "meanwhile"]}));
    assert_eq!(
        other["result"]["reply"]["stdout"]["text"], "meanwhile\n",
        "{other}"
    );
    for question in &questions {
        client.answer(question, &json!({"answer": "no"}));
    }
    for id in 0..100_u64 {
        assert_eq!(code(&client.reply(id)), "denied_by_user");
    }
}

#[test]
fn a_client_that_asks_nobody_is_refused_at_once() {
    let place = Place::new();
    let mut client = Client::start(&place, &[]);
    let params = json!({"protocol_version": 1, "client": {"name": "test"}, "capabilities": {"questions": false}, "options": {"approval": "on-request"}});
    client.request(0, "initialize", &params);
    client.reply(0);
    let refused = client.called(1, "bash", &json!({"command": ASKED}));
    assert_eq!(code(&refused), "approval_not_possible", "{refused}");
    assert!(client.heard.iter().all(|line| line["method"] != "question"));
}

#[test]
fn whoever_started_the_program_can_answer_for_the_client() {
    for (flag, asked) in [("all", false), ("none", false), ("ask", true)] {
        let place = Place::new();
        let mut client = Client::start(&place, &["--approve", flag]);
        client.initialize(&json!({"approval": "on-request"}));
        client.call(1, "bash", &json!({"command": ASKED}));
        let next = client.until(|line| line["method"] == "question" || line["id"] == 1);
        assert_eq!(next["method"] == "question", asked, "{flag}: {next}");
    }
}

#[test]
fn a_client_that_vanishes_in_the_middle_of_a_question_leaves_nothing() {
    let place = Place::new();
    let mut client = asking(&place);
    let long = client.called(
        1,
        "bash",
        &json!({"command": "sleep 86374", "run_in_background": true}),
    );
    assert!(
        long["result"]["reply"]["backgroundTaskId"].is_string(),
        "{long}"
    );
    ask(&mut client, 2);
    let (rest, code) = client.end();
    let kinds: Vec<&Value> = rest
        .iter()
        .map(|line| &line["method"])
        .filter(|kind| *kind != "event")
        .collect();
    assert_eq!(
        kinds,
        [&json!("question_withdrawn"), &Value::Null, &json!("closed")],
        "{rest:#?}"
    );
    assert_eq!(code, Some(0));
    gone_within_a_second("sleep 86374").unwrap();
}

#[test]
fn a_retry_is_asked_about_with_what_was_refused() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({}));
    client.call(1, "bash", &json!({"command": "touch ../outside"}));
    let question = client.told("question");
    let params = &question["params"];
    assert_eq!(params["kind"], "retry_unfenced", "{question:#}");
    assert!(
        params["denied"][0].as_str().unwrap().contains("outside"),
        "{question:#}"
    );
    assert_eq!(params["reach"]["fenced"], false);
    assert!(
        params["class"].is_string() && params["facts"].is_object(),
        "{question:#}"
    );
    client.answer(
        &question,
        &json!({"answer": "no", "message": "stay inside"}),
    );
    let reply = client.reply(1);
    let why = reply["result"]["reply"]["not_retried"].as_str();
    assert!(
        why.is_some_and(|why| why.contains("stay inside")),
        "{reply}"
    );
}

/// What the fence refused is offered inside: each answer, what came of it, and whether the same is asked about again.
#[test]
fn a_grant_is_an_answer() {
    for (answer, made, fenced, asked_again) in [
        (json!({"answer": "once"}), true, true, true),
        (json!({"answer": "grant", "grant": 0}), true, true, true),
        (
            json!({"answer": "grant", "grant": 0, "holds": "session"}),
            true,
            true,
            false,
        ),
        (
            json!({"answer": "grant", "grant": 0, "holds": "rule"}),
            true,
            true,
            false,
        ),
        (json!({"answer": "session"}), true, true, false),
        (json!({"answer": "rule", "proposal": 0}), true, true, false),
        (json!({"answer": "outside"}), true, false, true),
        (json!({"answer": "grant", "grant": 1}), false, true, true),
        (
            json!({"answer": "grant", "grant": 0, "holds": "ever"}),
            false,
            true,
            true,
        ),
        (json!({"answer": "no"}), false, true, true),
    ] {
        let place = Place::new();
        let file = place.outside().join("new");
        let mut client = Client::open(&place, &json!({}));
        let arguments = json!({"command": format!("touch {}", file.display())});
        client.call(1, "bash", &arguments);
        let question = client.told("question");
        let params = &question["params"];
        assert_eq!(params["kind"], "retry_granted", "{question:#}");
        let grant = json!({"kind": "writable", "path": place.outside()});
        assert_eq!(params["grants"], json!([grant]), "{question:#}");
        assert_eq!(
            params["reach"],
            json!({"fenced": true, "writable": [place.work(), place.outside()], "network": "off"})
        );
        assert_eq!(
            params["answers"],
            json!(["once", "session", "rule", "grant", "outside", "no", "abort"])
        );
        client.answer(&question, &answer);
        let reply = client.reply(1);
        let reply = &reply["result"]["reply"];
        assert_eq!(file.exists(), made, "{answer}: {reply:#}");
        let retried = reply["retried"].as_str();
        assert_eq!(retried.is_some(), made, "{answer}: {reply:#}");
        assert_eq!(
            retried.is_some_and(|said| said.contains("OUTSIDE")),
            !fenced,
            "{answer}"
        );
        if !made {
            continue;
        }
        std::fs::remove_file(&file).unwrap();
        client.call(2, "bash", &arguments);
        if asked_again {
            let question = client.told("question");
            client.answer(&question, &json!({"answer": "no"}));
        }
        client.reply(2);
        assert_eq!(file.exists(), !asked_again, "{answer}");
    }
}

/// A folder in one that others may write can be replaced by a link: what was granted for the session is not what that leads to.
#[test]
fn a_grant_does_not_follow_a_link_that_came_later() {
    let place = Place::new();
    let (inner, other) = (place.outside().join("inner"), place.home().join("other"));
    std::fs::create_dir(&inner).unwrap();
    std::fs::create_dir(&other).unwrap();
    let mut client = Client::open(&place, &json!({}));
    let arguments = json!({"command": format!("touch {}/new", inner.display())});
    client.call(1, "bash", &arguments);
    let question = client.told("question");
    client.answer(&question, &json!({"answer": "session"}));
    client.reply(1);
    assert!(inner.join("new").exists());
    // Moved, not removed: the next run may be getting ready in it.
    std::fs::rename(&inner, place.outside().join("moved")).unwrap();
    std::os::unix::fs::symlink(&other, &inner).unwrap();
    client.call(2, "bash", &arguments);
    let reply = client.reply(2);
    let said = reply["error"]["message"].as_str().unwrap_or_default();
    assert!(said.contains("leads to"), "{reply:#}");
    assert!(!other.join("new").exists());
}

/// What a denial says would grant it can be sent back as it came, by a client that answers questions.
#[test]
fn a_grant_is_sent_back_with_the_call() {
    let place = Place::new();
    let file = place.outside().join("new");
    let call = |grants: Value| json!({"tool": "bash", "arguments": {"command": format!("touch {}", file.display())}, "grants": grants});
    let mut client = Client::open(&place, &json!({"approval": "never"}));
    client.request(1, "call", &call(json!([])));
    let reply = client.reply(1);
    let grant = reply["result"]["reply"]["denials"][0]["grant"].clone();
    assert_eq!(
        grant,
        json!({"kind": "writable", "path": place.outside()}),
        "{reply:#}"
    );
    client.request(2, "call", &call(json!([grant])));
    assert_eq!(client.reply(2)["result"]["reply"]["exitCode"], 0);
    assert!(file.exists());
    // It was for that call.
    std::fs::remove_file(&file).unwrap();
    client.request(3, "call", &call(json!([])));
    client.reply(3);
    assert!(!file.exists());
    let ours = place.home().join(".config/ringfence");
    std::fs::create_dir_all(&ours).unwrap();
    std::os::unix::fs::symlink("/etc", place.work().join("link")).unwrap();
    for grant in [
        json!({"kind": "writable", "path": place.work().join("link")}),
        json!({"kind": "writable", "path": place.home()}),
        json!({"kind": "readable", "path": ours}),
        json!({"kind": "host", "host": "*"}),
        json!({"kind": "everything"}),
    ] {
        client.request(4, "call", &call(json!([grant])));
        let reply = client.reply(4);
        assert_eq!(reply["error"]["code"], -32602, "{grant}: {reply:#}");
    }
    assert!(!file.exists());
}

/// Whoever started the program and said who answers has not left that to the client.
#[test]
fn a_client_that_is_not_asked_grants_nothing() {
    let place = Place::new();
    let grant = json!({"kind": "writable", "path": place.outside()});
    let mut client = Client::start(&place, &["--approve", "none"]);
    client.initialize(&json!({}));
    let call = json!({"tool": "bash", "arguments": {"command": "true"}, "grants": [grant]});
    client.request(1, "call", &call);
    let reply = client.reply(1);
    assert_eq!(
        reply["error"]["data"]["code"], "not_the_clients",
        "{reply:#}"
    );
}

#[test]
fn a_scripts_call_asks_by_the_name_of_the_script() {
    let place = Place::new();
    let mut client = asking(&place);
    let source =
        "// first\nreturn (await tools.exec({command: ['python3', '-c', 'print(1)']})).stdout";
    client.call(9, "run_script", &json!({"source": source}));
    let question = client.told("question");
    assert_eq!(
        (
            &question["params"]["id"],
            &question["params"]["script"]["line"]
        ),
        (&json!(9), &json!(2)),
        "{question:#}"
    );
    client.answer(&question, &json!({"answer": "once"}));
    let reply = client.reply(9);
    assert_eq!(
        reply["result"]["reply"]["output_json"], "\"1\\n\"",
        "{reply}"
    );
}
