//! Questions about hosts, through the proxy: how far a yes goes, and how often somebody is asked.
//! The host is a server of the test's own on the loopback, whose address is named; its name is not.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ringfence::Engine;
use ringfence::approval::{AnswerFuture, Approver};
use ringfence::config::Config;
use ringfence::policy::action::Action;
use ringfence::policy::permissions::{ApprovalPolicy, Network};
use ringfence::policy::settle::Answer;
use ringfence::policy::verdict::{Grounds, Question};
use ringfence_testkit::home::TestHome;
use serde_json::json;
use tokio::sync::Notify;

use crate::support::Case;
use crate::support::opening::Opening;

pub(crate) fn cases() -> Vec<Case> {
    asynchronous![
        a_yes_goes_as_far_as_it_was_meant,
        a_no_is_said_once_to_a_command_that_tries_again,
        connections_that_wait_share_one_question,
        calls_that_wait_share_one_question,
    ]
}

/// How somebody answers about `localhost`. Everything else is refused.
#[derive(Clone, Copy, PartialEq)]
enum Says {
    Once,
    ForSession,
    WithRule,
    /// Yes, once a question about another host has come.
    OnceAnotherIsAsked,
    No,
}

/// Somebody who answers, and remembers what was asked.
struct Somebody {
    says: Says,
    asked: Mutex<Vec<String>>,
    /// A question about `localhost` has come.
    came: Notify,
    /// One about another host has.
    another: Notify,
}

impl Somebody {
    fn who_says(says: Says) -> Arc<Self> {
        Arc::new(Self {
            says,
            asked: Mutex::default(),
            came: Notify::new(),
            another: Notify::new(),
        })
    }

    /// The hosts that were asked about since the last time.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }

    async fn answer(&self, question: &Question) -> Answer {
        let Action::Connect(connect) = question.action() else {
            panic!("only hosts are asked about: {question:?}");
        };
        let host = connect.host.to_string();
        self.asked.lock().unwrap().push(host.clone());
        if host != "localhost" {
            self.another.notify_one();
            return Answer::Denied { message: None };
        }
        self.came.notify_one();
        match self.says {
            Says::Once => Answer::Approved,
            Says::ForSession => Answer::ApprovedForSession,
            Says::WithRule => Answer::ApprovedWithRule(question.proposals()[0].to_toml()),
            Says::OnceAnotherIsAsked => {
                self.another.notified().await;
                Answer::Approved
            }
            Says::No => Answer::Denied { message: None },
        }
    }
}

impl Approver for Somebody {
    fn name(&self) -> &'static str {
        "somebody"
    }

    fn ask<'a>(&'a self, question: &'a Question, _: &'a Grounds) -> AnswerFuture<'a> {
        Box::pin(self.answer(question))
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
            let _ = client.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nserved\n",
            );
        }
    });
    port
}

fn open(home: &TestHome, somebody: &Arc<Somebody>, rules_file: Option<PathBuf>) -> Engine {
    let mut config = Config::default();
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

async fn bash(engine: &Engine, command: &str) -> String {
    let reply = engine.call("bash", json!({ "command": command })).await;
    let reply = reply.unwrap();
    reply["stdout"].as_str().unwrap().to_owned()
}

fn get(port: u16) -> String {
    format!("curl -s --noproxy x -x $HTTP_PROXY http://localhost:{port}/")
}

async fn a_yes_goes_as_far_as_it_was_meant() {
    let port = server();
    // How often somebody is asked: by two connections of a call, by the next call of the session,
    // and by a session that follows.
    for (says, first, second, next) in [
        (Says::Once, 1, 1, 1),
        (Says::ForSession, 1, 0, 1),
        (Says::WithRule, 1, 0, 0),
    ] {
        let home = TestHome::new();
        let rules = home.path().join("rules.toml");
        let somebody = Somebody::who_says(says);
        let engine = open(&home, &somebody, Some(rules.clone()));
        let twice = format!("{}; {}", get(port), get(port));
        assert_eq!(bash(&engine, &twice).await, "served\nserved\n");
        assert_eq!(somebody.asked().len(), first);
        assert_eq!(bash(&engine, &get(port)).await, "served\n");
        assert_eq!(somebody.asked().len(), second);
        drop(engine);
        let written = std::fs::read_to_string(&rules).unwrap_or_default();
        assert_eq!(
            written.contains("localhost"),
            says == Says::WithRule,
            "{written}"
        );
        let engine = open(&home, &somebody, Some(rules));
        assert_eq!(bash(&engine, &get(port)).await, "served\n");
        assert_eq!(somebody.asked().len(), next, "{written}");
    }
}

async fn a_no_is_said_once_to_a_command_that_tries_again() {
    let port = server();
    let home = TestHome::new();
    let somebody = Somebody::who_says(Says::No);
    let engine = open(&home, &somebody, None);
    let thrice = [get(port), get(port), get(port)].join("; ");
    let said = bash(&engine, &thrice).await;
    assert!(!said.contains("served"), "{said}");
    assert_eq!(somebody.asked(), ["localhost"]);
    // The next call may be about something else: it is asked about again.
    bash(&engine, &get(port)).await;
    assert_eq!(somebody.asked(), ["localhost"]);
}

/// Asks for the host on five connections at once, then for another, and prints what came of the five.
const AT_ONCE: &str = r#"python3 -c '
import os, socket, sys
proxy = os.environ["HTTP_PROXY"].removeprefix("http://").split(":")
proxy = (proxy[0], int(proxy[1]))
def ask(host):
    s = socket.create_connection(proxy)
    s.sendall(b"GET http://%s/ HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % (host, host))
    return s.makefile("rb")
waiting = [ask(b"localhost:" + sys.argv[1].encode()) for i in range(5)]
ask(b"another.test").read()
for one in waiting: print(one.read().split(b"\r\n\r\n")[1].decode().strip())
' "#;

async fn connections_that_wait_share_one_question() {
    let port = server();
    let home = TestHome::new();
    let somebody = Somebody::who_says(Says::OnceAnotherIsAsked);
    let engine = open(&home, &somebody, None);
    let said = bash(&engine, &format!("{AT_ONCE}{port}")).await;
    assert_eq!(said, "served\n".repeat(5));
    assert_eq!(somebody.asked(), ["localhost", "another.test"]);
}

async fn calls_that_wait_share_one_question() {
    let port = server();
    let home = TestHome::new();
    let somebody = Somebody::who_says(Says::OnceAnotherIsAsked);
    let engine = open(&home, &somebody, None);
    // The second call begins when the question of the first is out, and has it answered.
    let (one, five) = (get(port), format!("{AT_ONCE}{port}"));
    let second = async {
        somebody.came.notified().await;
        bash(&engine, &five).await
    };
    let (said, also) = tokio::join!(bash(&engine, &one), second);
    assert_eq!((said, also), ("served\n".to_owned(), "served\n".repeat(5)));
    assert_eq!(somebody.asked(), ["localhost", "another.test"]);
}
