//! An approver of one's own, in a chain: the first answers what it knows, the next the rest.

#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use ringfence::Engine;
use ringfence::approval::{AnswerFuture, Approver, Scripted};
use ringfence::config::Config;
use ringfence::policy::permissions::ApprovalPolicy;
use ringfence::policy::settle::Answer;
use ringfence::policy::verdict::{Grounds, Question};
use serde_json::json;

/// Answers about `make` by itself, and leaves the rest to whoever comes next.
struct KnowsMake;

impl Approver for KnowsMake {
    fn name(&self) -> &'static str {
        "knows-make"
    }

    fn ask<'a>(&'a self, question: &'a Question, grounds: &'a Grounds) -> AnswerFuture<'a> {
        Box::pin(async move {
            // What a person would be shown: why it is asked, and what the command would do.
            println!("asked: {}", question.because());
            let facts = grounds.facts.as_ref();
            let only_make = facts.is_some_and(|facts| {
                let mut programs = facts.commands.iter().map(|command| command.program());
                programs.all(|program| program == Some("make"))
            });
            if only_make {
                Answer::ApprovedForSession
            } else {
                Answer::NobodyToAsk("it is not make".to_owned())
            }
        })
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run() -> Result<(), Box<dyn Error>> {
    let workspace = tempfile::tempdir()?;
    std::fs::write(workspace.path().join("Makefile"), "all:\n\t@echo made\n")?;
    let mut config = Config::default();
    config.approval.policy = ApprovalPolicy::UnlessTrusted;
    let engine = Engine::builder(workspace.path())
        .environment(std::env::vars())
        .config(config)
        .approver(KnowsMake)
        .approver(Scripted::DenyAll {
            message: "only make is known here".to_owned(),
        })
        .open()?;
    // The second time nobody is asked; the third command is not make alone.
    for command in ["make", "make", "make && touch other"] {
        match engine.call("bash", json!({ "command": command })).await {
            Ok(reply) => println!("{command}: exit code {}", reply["exitCode"]),
            Err(error) => println!("{command}: {error}"),
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    ringfence::init();
    run()
}
