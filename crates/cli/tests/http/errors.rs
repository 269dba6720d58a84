//! Whatever goes wrong has its own code, and nothing was reached that may not be.

use serde_json::json;

use crate::web::{Web, error};

#[test]
fn whatever_goes_wrong_has_its_own_code() {
    let Some(web) = Web::new() else { return };
    for (url, code, words) in [
        (
            "http://allowed.test:8080/garbage",
            "http_bad_answer",
            "allowed.test:8080: its answer cannot be used",
        ),
        (
            "http://allowed.test:8080/badchunk",
            "http_bad_answer",
            "cannot be used",
        ),
        (
            "http://allowed.test:8080/lengths",
            "http_bad_answer",
            "cannot be used",
        ),
        (
            "http://allowed.test:8080/headers",
            "http_bad_answer",
            "cannot be used",
        ),
        (
            "http://allowed.test:8080/head",
            "http_bad_answer",
            "cannot be used",
        ),
        (
            "http://allowed.test:8080/nohead",
            "http_bad_answer",
            "cannot be used",
        ),
        (
            "http://allowed.test:8080/switch",
            "http_bad_answer",
            "answers 101",
        ),
        (
            "http://allowed.test:8080/cut",
            "http_cut_off",
            "before the answer was whole",
        ),
        (
            "http://allowed.test:8080/closed",
            "http_cut_off",
            "before the answer was whole",
        ),
        (
            "http://allowed.test:8080/loop",
            "http_too_many_redirects",
            "`http.max_redirects`",
        ),
        (
            "http://allowed.test:8080/count?left=6",
            "http_too_many_redirects",
            "after 5 redirects",
        ),
        (
            "http://allowed.test:8080/redirect?to=file:///etc/passwd",
            "http_bad_redirect",
            "does not begin with",
        ),
        (
            "http://allowed.test:8080/redirect?to=http://a%40b@allowed.test/",
            "http_bad_redirect",
            "user name",
        ),
        // TLS to a port that does not speak it, with a name that is not the certificate's.
        (
            "https://allowed.test:8080/page",
            "http_tls_failed",
            "no secure connection",
        ),
        (
            "https://two.test/page",
            "http_tls_failed",
            "no secure connection",
        ),
        (
            "http://allowed.test:443/page",
            "http_cut_off",
            "before the answer",
        ),
        (
            "http://missing.test/",
            "http_not_resolved",
            "could not be looked up",
        ),
        (
            "http://rebind.test:81/",
            "http_unreachable",
            "could not be reached",
        ),
        // Refused before anything is looked up.
        (
            "http://other.test/page",
            "approval_not_possible",
            "no rule is about other.test:80",
        ),
        ("http://tracker.test/page", "denied_by_rule", "network.deny"),
        (
            "https://allowed.test:9/",
            "http_unreachable",
            "could not be reached",
        ),
        (
            "http://127.0.0.1/page",
            "address_not_named",
            "this machine itself",
        ),
        ("http://2130706433/page", "address_not_named", "127.0.0.1"),
        ("http://0x7f.1/page", "address_not_named", "127.0.0.1"),
        (
            "http://[::ffff:169.254.169.254]/page",
            "address_not_named",
            "metadata",
        ),
        (
            "http://169.254.169.254/latest/meta-data/",
            "address_not_named",
            "metadata",
        ),
        // Refused once the address is known.
        (
            "http://private.test/page",
            "address_not_named",
            "private.test resolves to 10.9.9.9, a private address",
        ),
        ("http://metadata.test/page", "address_not_named", "metadata"),
        (
            "http://loop.test/page",
            "address_not_named",
            "this machine itself",
        ),
        ("http://mapped.test/page", "address_not_named", "metadata"),
        // No addresses at all.
        (
            "file:///etc/passwd",
            "bad_arguments",
            "`url`: it does not begin with",
        ),
        (
            "ftp://allowed.test/",
            "bad_arguments",
            "`url`: it does not begin with",
        ),
        (
            "http://user:pass@allowed.test/page",
            "bad_arguments",
            "a user name or password",
        ),
        (
            "http://allowed.test\\@other.test/",
            "bad_arguments",
            "backslash",
        ),
        (
            "http://allowed.test/\r\nX: y",
            "bad_arguments",
            "control character",
        ),
        ("http://\u{430}llowed.test/", "bad_arguments", "xn--"),
        (
            "http://[fe80::1%25lo]/",
            "bad_arguments",
            "network interface",
        ),
    ] {
        web.0.forget();
        let reply = web.call(&json!({"url": url, "timeoutMs": 20_000}));
        let (found, message) = error(&reply);
        assert_eq!(found, code, "{url}: {reply}");
        assert!(message.contains(words), "{url}: {reply}");
        assert!(!web.reached("/page"), "{url}: {:?}", web.0.seen());
    }
    // The harmless twin: one of its addresses is an ordinary one.
    assert_eq!(
        web.call(&json!({"url": "http://two.test/page"}))["body"],
        "the page\n"
    );
}

#[test]
fn a_name_is_looked_up_once_and_never_reached_elsewhere() {
    let Some(web) = Web::new() else { return };
    for round in 0..4 {
        web.0.forget();
        let reply = web.call(&json!({"url": "http://rebind.test/page"}));
        let seen = web.0.seen();
        let asked = seen.iter().filter(|line| *line == "dns rebind.test 1");
        assert_eq!(asked.count(), 1, "{round}: {seen:?}");
        assert!(
            !seen.iter().any(|line| line.contains("10.9.9.9")),
            "{seen:?}"
        );
        // Every other answer is the private address, and is refused.
        if round % 2 == 0 {
            assert_eq!(reply["body"], "the page\n", "{round}: {reply}");
        } else {
            assert_eq!(error(&reply).0, "address_not_named", "{round}: {reply}");
        }
    }
}
