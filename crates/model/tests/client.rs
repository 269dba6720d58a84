//! The client against a server that fails in every way that models' servers do.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ringfence_model::{
    Client, Endpoint, KeyHeader, Limits, ModelError, Options, Retries, Secret, Waiting,
};
use ringfence_testkit::model::{Answer, Api, FakeModel, Part, Script};
use serde_json::json;

const KEY: &str = "sk-planted-7f3a9c";

fn hello() -> Answer {
    Answer::of([Part::text("hello")])
}

fn quick() -> Options {
    Options {
        retries: Retries {
            first_wait: Duration::from_millis(1),
            ..Retries::default()
        },
        limits: Limits {
            answer: Duration::from_millis(600),
            silence: Duration::from_millis(300),
            ..Limits::default()
        },
        ..Options::default()
    }
}

fn client(server: &FakeModel, options: Options) -> Client {
    let endpoint = Endpoint::new(&server.url()).unwrap();
    Client::new(
        endpoint.with_key(KeyHeader::Bearer, Secret::new(KEY)),
        options,
    )
}

async fn ask(client: &Client, body: &serde_json::Value) -> Result<Vec<u8>, ModelError> {
    let answer = client
        .send(
            Api::Messages.path(),
            &hyper::HeaderMap::default(),
            body.to_string(),
        )
        .await?;
    answer.whole().await
}

/// What comes of a script of answers, and how often was asked.
async fn outcome(answers: Vec<Answer>) -> (Result<Vec<u8>, ModelError>, usize) {
    let server = FakeModel::start(Script::of(answers)).unwrap();
    let client = client(&server, quick());
    let result = ask(&client, &json!({"model": "m", "stream": true})).await;
    (result, server.requests().len())
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    let wait = |status, wait: &str| Answer {
        retry_after: Some(wait.to_owned()),
        ..Answer::status(status)
    };
    let hang_up = Answer {
        hang_up: true,
        ..Answer::default()
    };
    let cut = Answer {
        cut_after: Some(40),
        ..hello()
    };
    let silent = Answer {
        stall_after: Some(40),
        ..hello()
    };
    let late = Answer {
        delay_ms: 900,
        ..hello()
    };
    let table: Vec<(&str, Vec<Answer>, Option<&str>, usize)> = vec![
        ("429", vec![wait(429, "0.01"), hello()], None, 2),
        (
            "529",
            vec![Answer::status(529), Answer::status(529), hello()],
            None,
            3,
        ),
        (
            "500, 502, 503, 504",
            vec![
                Answer::status(500),
                Answer::status(502),
                Answer::status(503),
                Answer::status(504),
                hello(),
            ],
            None,
            5,
        ),
        (
            "one too many",
            vec![Answer::status(503); 6],
            Some("model_overloaded"),
            5,
        ),
        (
            "a wait that is too long",
            vec![wait(429, "500"), hello()],
            Some("model_rate_limited"),
            1,
        ),
        (
            "400",
            vec![Answer::status(400), hello()],
            Some("model_refused"),
            1,
        ),
        (
            "401",
            vec![Answer::status(401), hello()],
            Some("model_unauthorised"),
            1,
        ),
        (
            "no answer at all",
            vec![hang_up.clone(), hang_up, hello()],
            None,
            3,
        ),
        (
            "cut off in its middle",
            vec![cut, hello()],
            Some("model_cut_off"),
            1,
        ),
        (
            "silent in its middle",
            vec![silent, hello()],
            Some("model_silent"),
            1,
        ),
        ("late", vec![late, hello()], Some("model_no_answer"), 1),
    ];
    for (name, answers, expected, asked) in table {
        let (result, requests) = outcome(answers).await;
        let code = result.as_ref().err().map(ModelError::code);
        assert_eq!((code, requests), (expected, asked), "{name}: {result:?}");
        if let Ok(body) = result {
            assert!(
                String::from_utf8(body).unwrap().contains("message_stop"),
                "{name}"
            );
        }
    }
}

#[tokio::test]
async fn it_waits_as_long_as_it_is_told_and_says_so() {
    let busy = Answer {
        retry_after: Some("0.3".to_owned()),
        ..Answer::status(429)
    };
    let server = FakeModel::start(Script::of([busy, hello()])).unwrap();
    let waits: Arc<Mutex<Vec<Waiting>>> = Arc::default();
    let heard = Arc::clone(&waits);
    let told: ringfence_model::client::Patient =
        Arc::new(move |waiting| heard.lock().unwrap().push(waiting.clone()));
    let client = client(
        &server,
        Options {
            told: Some(told),
            ..quick()
        },
    );
    let begin = Instant::now();
    ask(&client, &json!({})).await.unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(300));
    let waits = waits.lock().unwrap();
    let expected = Waiting {
        why: format!(
            "{} answers 429 (rate_limit_error)",
            server.url().trim_start_matches("http://")
        ),
        wait: Duration::from_millis(300),
        next_try: 2,
        most_tries: Retries::default().most + 1,
    };
    assert_eq!(*waits, [expected]);
}

#[tokio::test]
async fn a_key_goes_into_its_header_and_nowhere_else() {
    for (header, name, value) in [
        (KeyHeader::Bearer, "authorization", format!("Bearer {KEY}")),
        (KeyHeader::XApiKey, "x-api-key", KEY.to_owned()),
    ] {
        // A server that repeats what it was sent, in every place that is told.
        let echo = |raw| Answer {
            raw: Some(raw),
            ..Answer::status(401)
        };
        let server = FakeModel::start(Script::of([
            hello(),
            echo(json!({"error": {"type": format!("bad {KEY}"), "message": format!("wrong: {KEY}!")}})),
            echo(json!(format!("no JSON: {KEY}"))),
        ]))
        .unwrap();
        let endpoint = Endpoint::new(&server.url()).unwrap();
        let client = Client::new(endpoint.with_key(header, Secret::new(KEY)), quick());
        ask(&client, &json!({})).await.unwrap();
        let asked = server.requests().remove(0);
        assert_eq!(asked.header(name), Some(value.as_str()));
        let places = asked
            .headers
            .iter()
            .filter(|(_, value)| value.contains(KEY))
            .count();
        assert_eq!(places, 1);
        let mut told = format!("{client:?} {:?}", client.endpoint());
        for _ in 0..2 {
            let error = ask(&client, &json!({})).await.unwrap_err();
            assert_eq!(error.code(), "model_unauthorised");
            let _ = write!(told, "{error} {error:?} {error:#?}");
        }
        assert!(!told.contains(KEY) && told.contains("[key]"), "{told}");
    }
}

#[tokio::test]
async fn connections_serve_again_and_may_end_in_between() {
    let answers = [hello(), hello(), hello()];
    let server = FakeModel::start(Script::of(answers)).unwrap();
    let client = client(&server, quick());
    for _ in 0..3 {
        ask(&client, &json!({})).await.unwrap();
    }
    drop(server);
    let error = ask(&client, &json!({})).await.unwrap_err();
    assert_eq!(error.code(), "model_unreachable", "{error}");
}

#[tokio::test]
async fn an_answer_has_a_bound() {
    let long = Answer::of([Part::text("x".repeat(100_000))]);
    let server = FakeModel::start(Script::of([long])).unwrap();
    let mut options = quick();
    options.limits.most_bytes = 50_000;
    let error = ask(&client(&server, options), &json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "model_too_long");
}

#[tokio::test]
async fn tls_is_checked() {
    let server = FakeModel::start(Script::of([hello()])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let port = terminate(&server.url(), folder.path()).await;
    let endpoint = || Endpoint::new(&format!("https://localhost:{port}")).unwrap();
    let stranger = Client::new(
        endpoint(),
        Options {
            retries: Retries::NONE,
            ..quick()
        },
    );
    let error = ask(&stranger, &json!({})).await.unwrap_err();
    assert_eq!(error.code(), "model_unreachable");
    assert!(error.to_string().contains("TLS"), "{error}");
    let trusted = Some(folder.path().join("ca.pem"));
    let client = Client::new(endpoint(), Options { trusted, ..quick() });
    let body = ask(&client, &json!({"stream": true})).await.unwrap();
    assert!(String::from_utf8(body).unwrap().contains("hello"));
}

/// A port at which TLS is taken off what goes to a server; whom to trust for it is in the folder.
async fn terminate(server: &str, folder: &std::path::Path) -> u16 {
    use tokio_rustls::rustls::{ServerConfig, pki_types::PrivateKeyDer};
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let mut file = std::fs::File::create(folder.join("ca.pem")).unwrap();
    file.write_all(own.cert.pem().as_bytes()).unwrap();
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let ring = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = server.trim_start_matches("http://").to_owned();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut inside) = acceptor.accept(stream).await else {
                continue;
            };
            let mut outside = tokio::net::TcpStream::connect(&server).await.unwrap();
            let _ = tokio::io::copy_bidirectional(&mut inside, &mut outside).await;
        }
    });
    port
}
