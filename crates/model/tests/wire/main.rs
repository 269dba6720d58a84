//! The loop over the wire: the real client against a server that breaks off at every byte, falls silent, repeats itself and
//! sends what is no JSON. Each ends in a clear outcome, and nothing is executed twice.
//!
//! This program is its own worker, so its `main` serves first.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "a test program without the harness that the lints know"
)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use libtest_mimic::{Arguments, Trial};
use ringfence::agent::{Agent, AgentEvent, AgentOptions, AgentReport, Ended, Journal};
use ringfence::dialect::provider::{Provider, RequestOptions};
use ringfence::tools::{Invocation, Tool, ToolSet};
use ringfence::{CallError, Cancel, Engine};
use ringfence_model::{Client, Endpoint, Limits, Options, Reach, Retries};
use ringfence_testkit::model::script::Call;
use ringfence_testkit::model::{Answer, FakeModel, Part, Request, Script};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

fn main() -> std::process::ExitCode {
    ringfence::init();
    let trial = |name: &str, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let trials = vec![
        trial(
            "a_stream_that_is_cut_at_any_byte_is_asked_for_again",
            cut_at_every_byte,
        ),
        trial("every_fault_ends_clearly_and_nothing_runs_twice", faults),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A tool that counts how often it is called, by a word.
#[derive(Clone, Default)]
struct Count(Arc<Mutex<HashMap<String, usize>>>);

#[derive(Deserialize, JsonSchema)]
struct Word {
    word: String,
}

#[derive(Serialize, JsonSchema)]
struct Counted {
    times: usize,
}

impl Tool for Count {
    type Arguments = Word;
    type Reply = Counted;

    fn name(&self) -> &'static str {
        "count"
    }

    fn description(&self) -> &'static str {
        "Counts."
    }

    async fn run(&self, _: Invocation<'_>, asked: Word) -> Result<Counted, CallError> {
        let mut all = self.0.lock().unwrap();
        let times = all.entry(asked.word).or_default();
        *times += 1;
        Ok(Counted { times: *times })
    }
}

/// An engine with that tool, and the runtime that it lives in.
struct Stage {
    runtime: tokio::runtime::Runtime,
    engine: Engine,
    count: Count,
    _folder: tempfile::TempDir,
}

impl Stage {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let count = Count::default();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let mut config = ringfence::config::Config::default();
        config.audit.enabled = false;
        let engine = runtime.block_on(async {
            Engine::builder(folder.path())
                .config(config)
                .environment(std::env::vars())
                .tools(ToolSet::built_in().with(count.clone()).unwrap())
                .open()
                .unwrap()
        });
        Self {
            runtime,
            engine,
            count,
            _folder: folder,
        }
    }

    /// A loop against these answers, and what was asked.
    async fn run(
        &self,
        provider: Provider,
        streamed: bool,
        answers: Vec<Answer>,
    ) -> (Result<AgentReport, String>, Vec<Request>) {
        let model = FakeModel::start(Script::of(answers)).unwrap();
        let endpoint = Endpoint::new(&model.url()).unwrap();
        let options = Options {
            limits: Limits {
                silence: Duration::from_millis(400),
                ..Limits::default()
            },
            retries: Retries {
                first_wait: Duration::from_millis(1),
                ..Retries::default()
            },
            ..Options::default()
        };
        let reach = Reach::new(Client::new(endpoint, options), hyper::HeaderMap::new());
        let agent_options = AgentOptions {
            request: RequestOptions {
                model: "m".to_owned(),
                stream: streamed,
                ..RequestOptions::default()
            },
            tools: self.engine.tool_table(provider, |name| name == "count", []),
            ..AgentOptions::default()
        };
        let journal = Journal::in_memory(provider);
        let quiet = Arc::new(|_: &AgentEvent<'_>| {});
        let mut agent = Agent::new(&self.engine, reach, agent_options, journal, quiet);
        let report = agent.run(Some("count"), &Cancel::new()).await;
        (
            report.map_err(|error| error.code().to_owned()),
            model.requests(),
        )
    }

    fn times(&self, word: &str) -> usize {
        self.count.0.lock().unwrap().get(word).copied().unwrap_or(0)
    }
}

fn counts(word: &str) -> Answer {
    Answer::of([
        Part::thinking("I count — é"),
        Part::text("Counting."),
        Part::call("count", json!({"word": word})),
    ])
}

fn done() -> Answer {
    Answer::of([Part::text("Done.")])
}

/// How many bytes the body of an answer has.
fn length(provider: Provider, streamed: bool) -> usize {
    use std::io::{Read, Write};
    let model = FakeModel::start(Script::of([counts("xxxxxxxxxxxx")])).unwrap();
    let mut stream =
        std::net::TcpStream::connect(model.url().trim_start_matches("http://")).unwrap();
    let body = json!({"model": "m", "stream": streamed, "stream_options": {"include_usage": true}})
        .to_string();
    let path = provider.path();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut all = Vec::new();
    let mut piece = [0; 4096];
    while !all.ends_with(b"0\r\n\r\n") {
        let many = stream.read(&mut piece).unwrap();
        all.extend_from_slice(&piece[..many]);
    }
    let head = all
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .unwrap();
    all.len() - head
}

fn cut_at_every_byte() {
    let stage = Stage::open();
    for provider in Provider::ALL {
        for streamed in [true, false] {
            // More than its body has, for the lengths of the chunks are in it.
            let most = length(provider, streamed);
            let stage = &stage;
            let runs = stream::iter(0..most).map(|cut| async move {
                let word = format!("{}-{streamed}-{cut:06}", provider.name());
                let broken = Answer {
                    cut_after: Some(cut),
                    ..counts(&word)
                };
                let (report, requests) = stage
                    .run(provider, streamed, vec![broken, counts(&word), done()])
                    .await;
                (word, cut, report, requests.len())
            });
            let came: Vec<_> = stage.runtime.block_on(runs.buffer_unordered(48).collect());
            let mut whole = 0;
            for (word, cut, report, asked) in came {
                let report = report.unwrap_or_else(|error| panic!("{word}: {error}"));
                let times = stage.times(&word);
                if asked == 2 || times == 2 {
                    // All of the answer was there before the cut: the second one is another call.
                    whole += 1;
                } else {
                    assert_eq!(
                        (times, asked, &report.ended),
                        (1, 3, &Ended::Done),
                        "{word}: cut at {cut}"
                    );
                }
            }
            assert!(
                whole < most / 2,
                "{provider:?} {streamed}: most cuts are in the middle: {whole} of {most}"
            );
        }
    }
}

/// The answers that go with a word.
type Answers<'a> = Box<dyn Fn(&str) -> Vec<Answer> + 'a>;

fn faults() {
    let stage = Stage::open();
    let stall = |word: &str| Answer {
        stall_after: Some(60),
        ..counts(word)
    };
    let malformed = |word: &str| {
        Answer::of([Part::Call(Call {
            name: "count".to_owned(),
            arguments: json!(format!("{{\"word\": \"{word}\"")),
            id: None,
        })])
    };
    let same_id = |word: &str| {
        Answer::of([Part::Call(Call {
            name: "count".to_owned(),
            arguments: json!({"word": word}),
            id: Some("call_same".to_owned()),
        })])
    };
    let busy = Answer {
        retry_after: Some("0.05".to_owned()),
        ..Answer::status(429)
    };
    let no_json = Answer {
        raw: Some(json!("<html>not what you think</html>")),
        ..Answer::default()
    };
    for provider in Provider::ALL {
        for streamed in [true, false] {
            let lively = |word: &str| Answer {
                keep_alives: true,
                piece: Some(3),
                chunk: Some(5),
                ..counts(word)
            };
            // The name, the answers for a word, how often the tool runs, how it ends.
            let table: Vec<(&str, Answers<'_>, usize, Result<Ended, &str>)> = vec![
                (
                    "keep-alives",
                    Box::new(|word| vec![lively(word), done()]),
                    1,
                    Ok(Ended::Done),
                ),
                (
                    "429",
                    Box::new(|word| vec![busy.clone(), counts(word), busy.clone(), done()]),
                    1,
                    Ok(Ended::Done),
                ),
                (
                    "529",
                    Box::new(|word| vec![Answer::status(529), counts(word), done()]),
                    1,
                    Ok(Ended::Done),
                ),
                (
                    "silent",
                    Box::new(|word| vec![stall(word), counts(word), done()]),
                    1,
                    Ok(Ended::Done),
                ),
                (
                    "a repeated id",
                    Box::new(|word| vec![same_id(word), same_id(word), done()]),
                    1,
                    Ok(Ended::Done),
                ),
                (
                    "401",
                    Box::new(|_| vec![Answer::status(401)]),
                    0,
                    Err("api_authentication"),
                ),
                (
                    "no JSON",
                    Box::new(|word| vec![no_json.clone(), counts(word), done()]),
                    1,
                    Ok(Ended::Done),
                ),
            ];
            for (name, answers, times, ended) in table {
                let word = format!("{name}-{}-{streamed}", provider.name());
                let (report, _) =
                    stage
                        .runtime
                        .block_on(stage.run(provider, streamed, answers(&word)));
                let came = report.map(|report| report.ended);
                assert_eq!(
                    came.as_ref().map_err(String::as_str),
                    ended.as_ref().map_err(|code| *code),
                    "{word}"
                );
                assert_eq!(stage.times(&word), times, "{word}");
            }
            // Arguments that are no JSON are an error that the model reads. (A whole Messages answer cannot hold them.)
            if streamed || provider != Provider::AnthropicMessages {
                let word = format!("malformed-{}-{streamed}", provider.name());
                let answers = vec![malformed(&word), counts(&word), done()];
                let (report, requests) = stage
                    .runtime
                    .block_on(stage.run(provider, streamed, answers));
                assert_eq!(
                    (report.unwrap().ended, stage.times(&word)),
                    (Ended::Done, 1),
                    "{word}"
                );
                assert!(
                    requests[1].body.contains("call_1_0"),
                    "it has a result: {}",
                    requests[1].body
                );
            }
        }
    }
}
