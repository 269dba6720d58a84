//! Injected headers, which reach their host and nobody else.

use serde_json::{Value, json};

use crate::web::{SECRET, Web, error};

#[test]
fn a_secret_reaches_its_host_and_nobody_reads_it() {
    let Some(web) = Web::new() else { return };
    web.configure(
        "[network.inject]\n\"api.test:8080\" = \"Authorization: Bearer ${API_THING}\"\n\
         \"api.test:8443\" = \"Authorization: Bearer ${API_THING}\"\n\"api.test\" = \"Authorization: Bearer ${API_THING}\"\n",
    );
    let own = json!({"Authorization": "Bearer mine"});
    let sent = |token: &str| format!("authorization={token} ");
    let secret = format!("Bearer {SECRET}");
    for (arguments, host, token) in [
        (
            json!({"url": "http://api.test:8080/echo"}),
            "api.test:8080",
            &*secret,
        ),
        (
            json!({"url": "https://api.test:8443/echo"}),
            "api.test:8443",
            &secret,
        ),
        (
            json!({"url": "https://api.test:8443/echo", "headers": own}),
            "api.test:8443",
            &secret,
        ),
        (
            json!({"url": "https://api.test:8443/echo", "maxBytes": 60}),
            "api.test:8443",
            &secret,
        ),
        // It is not for another host, nor for who redirects to one or is redirected to.
        (
            json!({"url": "http://allowed.test:8080/echo"}),
            "allowed.test:8080",
            "-",
        ),
        (
            json!({"url": "http://api.test:8080/redirect?to=http://allowed.test:8080/echo"}),
            "allowed.test:8080/echo",
            "-",
        ),
        (
            json!({"url": "http://allowed.test:8080/redirect?to=http://api.test:8080/echo", "headers": own}),
            "api.test:8080/echo",
            &secret,
        ),
    ] {
        web.0.forget();
        let reply = web.call(&arguments);
        assert_eq!(reply["status"], 200, "{arguments}: {reply}");
        assert!(!reply.to_string().contains(SECRET), "{arguments}: {reply}");
        let seen = web.0.seen();
        let line = seen.iter().rfind(|line| line.contains(host)).unwrap();
        assert!(line.contains(&sent(token)), "{arguments}: {seen:?}");
    }
    // However it is cut, no piece of it is left.
    for most in [40, 80, 100, 120, 140] {
        let reply = web.call(&json!({"url": "http://api.test:8080/echo", "maxBytes": most}));
        assert!(!reply.to_string().contains("s3cret"), "{most}: {reply}");
    }
    let echoed = web.call(&json!({"url": "http://api.test:8080/echo"}));
    assert_eq!(echoed["headers"]["x-echo"], "[secret]", "{echoed}");
    // A host that puts it into a redirect does not get it sent on.
    let leak = web.call(&json!({"url": "http://api.test:8080/leak"}));
    assert_eq!(error(&leak).0, "http_bad_redirect", "{leak}");
    // In the clear it goes only where the port is named.
    web.0.forget();
    assert_eq!(
        web.call(&json!({"url": "http://api.test/page"}))["status"],
        200
    );
    assert!(web.reached("host=api.test token=-"), "{:?}", web.0.seen());
    // In a script neither, thrown or returned.
    let source = "const all = []; for (const path of ['echo', 'cut', 'garbage', 'leak', 'drip']) { \
                  try { all.push(await tools.http({ url: 'http://api.test:8080/' + path, timeoutMs: 500 })) } \
                  catch (e) { all.push({ name: e.name, message: e.message, stack: e.stack, ...e }) } } \
                  return { all, env: typeof process }";
    let returned = web.script(source);
    assert_eq!(
        returned["all"].as_array().map(Vec::len),
        Some(5),
        "{returned}"
    );
    let log: Vec<String> = web.log().iter().map(Value::to_string).collect();
    assert!(log.len() > 30);
    for text in log.iter().chain([&returned.to_string()]) {
        assert!(!text.contains(SECRET), "{text}");
    }
}
