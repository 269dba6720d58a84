//! The log.

use serde_json::{Value, json};

use crate::web::Web;

#[test]
fn the_log_says_what_was_sent_where_and_what_came_of_it() {
    let Some(web) = Web::new() else { return };
    let url = "http://allowed.test:8080/redirect?to=/missing&api_key=abcdef0123456789abcdef";
    let reply = web.call(&json!({"method": "POST", "url": url, "body": "x"}));
    assert_eq!(reply["status"], 404, "{reply}");
    let records = web.log();
    let of = |event: &str| -> Vec<&Value> {
        records.iter().filter(|one| one["event"] == event).collect()
    };
    let (intents, outcomes) = (of("intent"), of("outcome"));
    assert_eq!((intents.len(), outcomes.len()), (2, 2), "{records:?}");
    let first = intents[0]["command"].as_str().unwrap();
    assert!(
        first.starts_with("POST http://allowed.test:8080/redirect"),
        "{first}"
    );
    assert!(!first.contains("abcdef0123456789"), "{first}");
    assert_eq!(
        intents[1]["command"],
        "GET http://allowed.test:8080/missing"
    );
    assert_eq!(intents[1]["parent"], intents[0]["call"]);
    for intent in &intents {
        assert_eq!(
            (&intent["tool"], &intent["verdict"]),
            (&json!("http"), &json!("allow"))
        );
        let outcome = outcomes
            .iter()
            .find(|one| one["call"] == intent["call"])
            .unwrap();
        let status = if intent["parent"].is_null() { 302 } else { 404 };
        assert_eq!(outcome["http"]["status"], status, "{outcome}");
        assert!(
            outcome["http"]["sent_bytes"].as_u64().unwrap() > 50,
            "{outcome}"
        );
        assert!(
            outcome["http"]["received_bytes"].as_u64().unwrap() > 20,
            "{outcome}"
        );
    }
    let story = web.run(&["audit", "show"]);
    assert!(story.stdout.contains("status 404"), "{story:?}");
    assert_eq!(web.run(&["audit", "verify"]).code, Some(0));
}
