//! Functions that cross between a client and its code.

use serde_json::{Value, json};

use crate::client::{Client, code};
use crate::program::Place;

fn function(name: &str) -> Value {
    json!({"$": "function", "name": name})
}

/// Code with two functions of the client's: `later` gives a promise, `now` is waited for.
fn run(client: &mut Client, id: u64, source: &str, timeout_ms: u64) {
    let mut now = function("now");
    now["sync"] = json!(true);
    let options = json!({"imports": {"client": {"later": function("later")}}, "globals": {"now": now}, "report": true});
    let source = format!("import {{ later }} from 'client';\n{source}");
    client.call(
        id,
        "run_code",
        &json!({"source": source, "options": options, "timeout_ms": timeout_ms}),
    );
}

/// What the client does when a function is called.
enum Does {
    /// Answers with this.
    Answers(Value),
    /// Calls the function that is its first argument, with these, and answers with what that returns.
    CallsBack(Value),
}

#[test]
fn a_function_is_answered_as_the_client_answers() {
    use Does::{Answers, CallsBack};
    let value = |value: Value| Answers(json!({"result": {"value": value}}));
    let error = |name: Value| {
        Answers(json!({"error": {"code": 1, "message": "no", "data": {"name": name}}}))
    };
    let caught = |what: &str| {
        format!(
            "let seen; try {{ {what} }} catch (error) {{ seen = [error.name, error.message] }}\nexport default seen"
        )
    };
    // The code, what the client does at each call, and the result.
    let table: Vec<(String, Vec<Does>, Value)> = vec![
        (
            "export default now(1) + 1".into(),
            vec![value(json!(41))],
            json!(42),
        ),
        (
            "export default (await later(1)) + 1".into(),
            vec![value(json!(41))],
            json!(42),
        ),
        (
            "export default (later() instanceof Promise) && !(now() instanceof Promise)".into(),
            vec![value(json!(1)), value(json!(1))],
            json!(true),
        ),
        (
            "export default typeof now()".into(),
            vec![Answers(json!({"result": {}}))],
            json!("undefined"),
        ),
        (
            "export default now()".into(),
            vec![value(Value::Null)],
            Value::Null,
        ),
        (
            caught("now()"),
            vec![error(json!("RangeError"))],
            json!(["RangeError", "no"]),
        ),
        (
            caught("await later()"),
            vec![error(json!("MyError"))],
            json!(["MyError", "no"]),
        ),
        (
            caught("await later()"),
            vec![error(json!(7))],
            json!(["Error", "no"]),
        ),
        (
            caught("now()").replace("error.message", "/cannot be read/.test(error.message)"),
            vec![Answers(json!({"result": {"valu": 1}}))],
            json!(["TypeError", true]),
        ),
        (
            caught("now()").replace("error.message", "/cannot be read/.test(error.message)"),
            vec![value(json!({"$": "nope"}))],
            json!(["TypeError", true]),
        ),
        (
            caught("now()").replace("error.message", "/no function `h77`/.test(error.message)"),
            vec![value(json!({"$": "function", "handle": "h77"}))],
            json!(["TypeError", true]),
        ),
        // Callbacks, from a promise and from within a call that the code waits for.
        (
            "export default await later((n) => n * 2)".into(),
            vec![CallsBack(json!([21]))],
            json!(42),
        ),
        (
            "export default await later(async (n) => { await null; return n * 2 })".into(),
            vec![CallsBack(json!([21]))],
            json!(42),
        ),
        (
            "export default now((n) => n * 2)".into(),
            vec![CallsBack(json!([21]))],
            json!(42),
        ),
        (
            "export default now((n) => now((m) => n + m))".into(),
            vec![CallsBack(json!([40])), CallsBack(json!([2]))],
            json!(42),
        ),
        // A function that the client returns is another of its own.
        (
            "const f = now(); export default f(1)".into(),
            vec![
                value(json!({"$": "function", "name": "other", "sync": true})),
                value(json!(42)),
            ],
            json!(42),
        ),
    ];
    let place = Place::new();
    let mut client = Client::open(&place, &json!({}));
    for (id, (source, does, expected)) in (0_u64..).zip(table) {
        run(&mut client, id, &source, 60_000);
        let mut waiting = Vec::new();
        for does in does {
            let asked = client.told("function");
            assert_eq!(asked["params"]["id"], id);
            match does {
                Does::Answers(mut response) => {
                    response["id"] = asked["id"].clone();
                    client.say(&response);
                }
                Does::CallsBack(arguments) => {
                    let handle = &asked["params"]["arguments"][0]["handle"];
                    client.request(
                        format!("i{}", asked["id"]),
                        "invoke",
                        &json!({"handle": handle, "arguments": arguments}),
                    );
                    waiting.push(asked);
                }
            }
        }
        while let Some(asked) = waiting.pop() {
            let returned = client.reply(format!("i{}", asked["id"]));
            client.answer(&asked, &returned["result"]);
        }
        let reply = client.reply(id);
        assert_eq!(
            reply["result"]["reply"]["result"], expected,
            "{source}: {reply:#}"
        );
    }
}

#[test]
fn values_cross_in_the_tagged_form_both_ways() {
    let values = [
        json!({"$": "undefined"}),
        json!({"$": "number", "v": "-0"}),
        json!({"$": "number", "v": "NaN"}),
        json!({"$": "bigint", "v": "12345678901234567890"}),
        json!({"$": "Date", "v": "2026-01-01T00:00:00.000Z"}),
        json!({"$": "Map", "v": [[1, {"$": "Set", "v": [2]}]]}),
        json!({"$": "Uint8Array", "base64": "AQID"}),
        json!({"$": "RegExp", "v": ["a+", "g"]}),
        json!({"$": "Error", "name": "TypeError", "message": "no"}),
        json!({"$": "object", "v": {"$": "function"}}),
        json!([{"$": "id", "n": 1, "v": {"a": 1}}, {"$": "ref", "n": 1}, {"$": "hole"}]),
        json!({"$": "id", "n": 1, "v": {"self": {"$": "ref", "n": 1}}}),
    ];
    let place = Place::new();
    let mut client = Client::open(&place, &json!({}));
    for (id, value) in (0_u64..).zip(values) {
        run(&mut client, id, "export default await later(now())", 60_000);
        let asked = client.told("function");
        client.answer(&asked, &json!({"value": value}));
        let asked = client.told("function");
        assert_eq!(asked["params"]["arguments"], json!([value]), "out");
        client.answer(&asked, &json!({"value": value}));
        assert_eq!(client.reply(id)["result"]["reply"]["result"], value, "back");
    }
}

#[test]
fn reports_and_logs_come_as_they_are_made() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({}));
    run(
        &mut client,
        1,
        "report({at: 1n}); console.warn('half', 2); await later(); export default 3",
        60_000,
    );
    // The code is still waiting.
    let asked = client.told("function");
    assert_eq!(
        client.told("report")["params"],
        json!({"id": 1, "value": {"at": {"$": "bigint", "v": "1"}}})
    );
    let log = client.told("log");
    assert_eq!(
        (&log["params"]["level"], &log["params"]["args"]),
        (&json!("warn"), &json!(["half", 2]))
    );
    client.answer(&asked, &json!({}));
    let reply = client.reply(1);
    assert_eq!(
        reply["result"]["reply"]["reports"]
            .as_array()
            .unwrap()
            .len(),
        1,
        "{reply}"
    );
}

#[test]
fn a_function_that_never_answers_or_answers_twice_harms_nobody() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({}));
    for (id, source) in [
        (1, "export default now()"),
        (2, "export default await later()"),
    ] {
        run(&mut client, id, source, 400);
        let asked = client.told("function");
        let abandoned = client.told("function_abandoned");
        assert_eq!(abandoned["params"]["request"], asked["id"], "{source}");
        let reply = client.reply(id);
        assert_eq!(reply["result"]["reply"]["status"], "terminated", "{reply}");
        client.answer(&asked, &json!({"value": 1}));
        assert_eq!(
            client.told("unexpected_response")["params"]["id"],
            asked["id"]
        );
    }
    run(
        &mut client,
        3,
        "export default [now(), await later()]",
        60_000,
    );
    let asked = client.told("function");
    client.answer(&asked, &json!({"value": 1}));
    client.answer(&asked, &json!({"value": 2}));
    assert_eq!(
        client.told("unexpected_response")["params"]["id"],
        asked["id"]
    );
    let asked = client.told("function");
    client.answer(&asked, &json!({"value": 3}));
    assert_eq!(client.reply(3)["result"]["reply"]["result"], json!([1, 3]));
    // While the code waits, others do not.
    run(&mut client, 4, "export default now()", 60_000);
    let asked = client.told("function");
    client.is_well();
    client.notify("cancel", &json!({"id": 4}));
    assert_eq!(
        client.told("function_abandoned")["params"]["request"],
        asked["id"]
    );
    assert_eq!(client.reply(4)["result"]["reply"]["status"], "terminated");
}

#[test]
fn a_handle_lives_as_long_as_its_run_and_no_longer_than_it_is_held() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({}));
    run(
        &mut client,
        1,
        "export default await later((n) => n, () => { throw new RangeError('never') })",
        60_000,
    );
    let asked = client.told("function");
    let handle = |at: usize| asked["params"]["arguments"][at]["handle"].clone();
    let (kept, throws) = (handle(0), handle(1));
    client.request(2, "invoke", &json!({"handle": throws}));
    let threw = client.reply(2);
    assert_eq!(
        (code(&threw), &threw["error"]["data"]["name"]),
        ("function_threw", &json!("RangeError")),
        "{threw}"
    );
    client.request(
        3,
        "invoke",
        &json!({"handle": kept, "arguments": [{"$": "nope"}]}),
    );
    assert_eq!(client.reply(3)["error"]["data"]["path"], "arguments[0]");
    client.request(4, "release", &json!({"handles": [throws, "h99"]}));
    assert_eq!(client.reply(4)["result"]["released"], 1);
    client.request(5, "invoke", &json!({"handle": throws}));
    assert_eq!(code(&client.reply(5)), "no_such_handle");
    // A handle of one run is none of another's.
    run(&mut client, 6, "export default await later()", 60_000);
    let other = client.told("function");
    client.answer(&other, &json!({"value": {"$": "function", "handle": kept}}));
    let reply = client.reply(6);
    assert_eq!(
        reply["result"]["reply"]["error"]["name"], "TypeError",
        "{reply}"
    );
    // One that the client has may go back to the run that it is of.
    client.answer(&asked, &json!({"value": 7}));
    assert_eq!(client.reply(1)["result"]["reply"]["result"], 7);
    client.request(8, "invoke", &json!({"handle": kept}));
    assert_eq!(
        code(&client.reply(8)),
        "no_such_handle",
        "its run has ended"
    );
    client.is_well();
}

#[test]
fn a_call_of_a_function_that_outlives_its_run_is_answered() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({}));
    run(
        &mut client,
        1,
        "export default await later(() => new Promise(() => {}))",
        60_000,
    );
    let asked = client.told("function");
    let handle = &asked["params"]["arguments"][0]["handle"];
    client.request(2, "invoke", &json!({"handle": handle}));
    client.notify("cancel", &json!({"id": 1}));
    client.reply(1);
    assert_eq!(code(&client.reply(2)), "no_such_handle");
}

#[test]
fn a_script_that_hands_out_functions_without_end_is_bounded() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({}));
    let source = "const many = Array.from({length: 5000}, () => () => 1);\nlet seen; try { now(many) } catch (error) { seen = error.name }\nexport default seen";
    run(&mut client, 1, source, 60_000);
    assert_eq!(client.reply(1)["result"]["reply"]["result"], "RangeError");
    client.is_well();
}

#[test]
fn functions_are_for_those_who_can_call_them() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({}));
    let table = [
        json!({"$": "function"}),
        json!({"$": "function", "name": "a", "handle": "h1"}),
        json!({"$": "function", "handle": "h1"}),
        json!({"$": "function", "name": "a", "more": 1}),
    ];
    for (id, wrong) in (0_u64..).zip(table) {
        let options = json!({"globals": {"f": wrong}});
        let told = client.called(id, "run_code", &json!({"source": "", "options": options}));
        assert_eq!(
            (code(&told), &told["error"]["data"]["path"]),
            ("bad_arguments", &json!("arguments.options")),
            "{told}"
        );
    }
    let options = json!({"globals": {"f": function("a")}});
    let alone = place.call("run_code", &json!({"source": "", "options": options}), &[]);
    assert_eq!(
        alone["error"]["code"], "bad_arguments",
        "nobody is there to call: {alone}"
    );
}
