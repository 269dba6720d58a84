//! Questions about the hosts of requests: how far a yes goes, and how often somebody is asked. The host is a server
//! of the test's own on the loopback, whose address is named; its name is not.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ringfence::Engine;
use ringfence::approval::{AnswerFuture, Approver};
use ringfence::config::{Config, ScriptMode};
use ringfence::policy::action::Action;
use ringfence::policy::permissions::{ApprovalPolicy, Network};
use ringfence::policy::settle::Answer;
use ringfence::policy::verdict::{Grounds, Question};
use ringfence_testkit::home::TestHome;
use serde_json::{Value, json};

use crate::support::Case;
use crate::support::opening::Opening;

pub(crate) fn cases() -> Vec<Case> {
    asynchronous![somebody_is_asked_once_for_a_host_and_a_script]
}

/// How somebody answers about `localhost`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Says {
    Once,
    ForSession,
    WithRule,
    No,
}

/// Somebody who answers, and remembers what was asked.
struct Somebody {
    says: Says,
    asked: Mutex<Vec<String>>,
}

impl Somebody {
    fn who_says(says: Says) -> Arc<Self> {
        Arc::new(Self {
            says,
            asked: Mutex::default(),
        })
    }

    /// What was asked about since the last time.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl Approver for Somebody {
    fn name(&self) -> &'static str {
        "somebody"
    }

    fn ask<'a>(&'a self, question: &'a Question, _: &'a Grounds) -> AnswerFuture<'a> {
        let what = match question.action() {
            Action::SendHttp(request) => format!("{} {}", request.method, request.host),
            Action::Connect(connect) => format!("connect {}", connect.host),
            other => panic!("{other:?}"),
        };
        self.asked.lock().unwrap().push(what);
        Box::pin(async move {
            // Whoever else wants the host comes while somebody thinks.
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            match self.says {
                Says::Once => Answer::Approved,
                Says::ForSession => Answer::ApprovedForSession,
                Says::WithRule => Answer::ApprovedWithRule(question.proposals()[0].to_toml()),
                Says::No => Answer::Denied { message: None },
            }
        })
    }
}

/// A server that says `served` to everybody. Ends with the test.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let head = BufReader::new(client.try_clone().unwrap()).lines();
            head.map_while(Result::ok).find(String::is_empty);
            let _ = client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nserved");
        }
    });
    port
}

fn open(home: &TestHome, somebody: &Arc<Somebody>, rules_file: Option<PathBuf>) -> Engine {
    let mut config = Config::default();
    config.script.mode = ScriptMode::Enabled;
    config.script.expose.enable_http = true;
    config.sandbox.network = Network::AllowList;
    config.network.allow = vec!["127.0.0.1".to_owned()];
    config.approval.policy = ApprovalPolicy::OnFailure;
    let opening = Opening {
        config,
        approver: somebody.clone(),
        rules_file,
        ..Opening::default()
    };
    opening.engine(home, &home.work())
}

/// What a script returns that sends three requests at once and one after them; a refusal is its name.
async fn script(engine: &Engine, port: u16) -> Value {
    let source = format!(
        "const get = async () => {{ try {{ return (await tools.http({{ url: 'http://localhost:{port}/' }})).body }} \
         catch (e) {{ return e.name }} }}; \
         return [...await Promise.all([get(), get(), get()]), await get()]"
    );
    let reply = engine.call("run_script", json!({"source": source})).await;
    let reply = reply.unwrap();
    let returned = reply["output_json"].as_str();
    serde_json::from_str(returned.unwrap_or_else(|| panic!("{reply}"))).unwrap()
}

async fn somebody_is_asked_once_for_a_host_and_a_script() {
    let port = server();
    // How often somebody is asked: by a script, by the next one, and by a session that follows.
    for (says, said, first, second, next) in [
        (Says::Once, "served", 1, 1, 1),
        (Says::ForSession, "served", 1, 0, 1),
        (Says::WithRule, "served", 1, 0, 0),
        (Says::No, "ApprovalDeniedError", 1, 1, 1),
    ] {
        let home = TestHome::new();
        let rules = home.path().join("rules.toml");
        let somebody = Somebody::who_says(says);
        let engine = open(&home, &somebody, Some(rules.clone()));
        for times in [first, second] {
            assert_eq!(
                script(&engine, port).await,
                json!(vec![said; 4]),
                "{says:?}"
            );
            assert_eq!(somebody.asked(), vec!["GET localhost"; times], "{says:?}");
        }
        // A yes to requests is none to commands.
        let curl = format!("curl -s --noproxy x -x $HTTP_PROXY http://localhost:{port}/");
        let ran = engine.call("bash", json!({"command": curl})).await;
        let asked = somebody.asked();
        assert_eq!(asked, ["connect localhost"], "{says:?}: {ran:?}");
        drop(engine);
        let engine = open(&home, &somebody, Some(rules));
        assert_eq!(
            script(&engine, port).await,
            json!(vec![said; 4]),
            "{says:?}"
        );
        assert_eq!(somebody.asked(), vec!["GET localhost"; next], "{says:?}");
    }
}
