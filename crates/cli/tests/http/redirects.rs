//! Redirects: each is a request like any other.

use serde_json::json;

use crate::web::{Web, error};

#[test]
fn a_redirect_is_judged_like_any_request() {
    let Some(web) = Web::new() else { return };
    for (to, code, words) in [
        (
            "http://other.test/page",
            "http_redirect_refused",
            "allowed.test:8080 redirects to other.test:80, which is refused: no rule",
        ),
        (
            "http://tracker.test/page",
            "http_redirect_refused",
            "network.deny",
        ),
        (
            "http://private.test/page",
            "http_redirect_refused",
            "a private address",
        ),
        (
            "http://169.254.169.254/page",
            "http_redirect_refused",
            "metadata",
        ),
        (
            "http://127.0.0.1/page",
            "http_redirect_refused",
            "this machine itself",
        ),
        (
            "http://allowed.test:9999/page",
            "http_unreachable",
            "could not be reached",
        ),
    ] {
        web.0.forget();
        let reply = web.odd(&format!("redirect?to={to}"));
        let (found, message) = error(&reply);
        assert_eq!(found, code, "{to}: {reply}");
        assert!(message.contains(words), "{to}: {reply}");
        assert!(!web.reached("GET /page"), "{to}: {:?}", web.0.seen());
    }
    let records = web.log();
    let refused: Vec<_> = records
        .iter()
        .filter(|one| one["event"] == "intent" && one["verdict"] == "deny")
        .collect();
    assert_eq!(refused.len(), 4, "{refused:?}");
    for one in refused {
        let parent = records
            .iter()
            .find(|other| other["call"] == one["parent"])
            .unwrap();
        assert_eq!(parent["verdict"], "allow", "{one}");
    }
}

#[test]
fn credentials_stay_with_the_host_that_they_are_for() {
    let Some(web) = Web::new() else { return };
    let asked = |to: &str, status: u16| {
        web.0.forget();
        let reply = web.call(&json!({
            "method": "POST", "body": "sent", "timeoutMs": 5000,
            "url": format!("http://allowed.test:8080/redirect?status={status}&to={to}"),
            "headers": {"Authorization": "Bearer mine", "Cookie": "a=b", "X-Api-Key": "mine"},
        }));
        let seen = web.0.seen();
        (reply, seen.last().cloned().unwrap_or_default())
    };
    for (to, status, expected) in [
        (
            "/echo",
            307,
            "POST allowed.test:8080/echo authorization=Bearer mine cookie=a=b x-api-key=mine content-type=text/plain;charset=UTF-8",
        ),
        (
            "/echo",
            302,
            "GET allowed.test:8080/echo authorization=Bearer mine cookie=a=b x-api-key=mine content-type=-",
        ),
        (
            "http://api.test:8080/echo",
            307,
            "POST api.test:8080/echo authorization=- cookie=- x-api-key=- content-type=text/plain;charset=UTF-8",
        ),
        (
            "http://api.test:8080/echo",
            303,
            "GET api.test:8080/echo authorization=- cookie=- x-api-key=- content-type=-",
        ),
    ] {
        let (reply, last) = asked(to, status);
        assert_eq!(reply["status"], 200, "{to}: {reply}");
        assert_eq!(
            last,
            format!("odd 203.0.113.10 {expected}"),
            "{to}: {reply}"
        );
        let body = reply["body"].as_str().unwrap();
        assert_eq!(body.ends_with("\n\nsent"), status == 307, "{body}");
    }
}
