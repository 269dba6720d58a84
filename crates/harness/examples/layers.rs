//! A permission layer, an output processor and a listener of one's own.

#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::borrow::Cow;
use std::error::Error;

use ringfence::Engine;
use ringfence::event::Event;
use ringfence::output::OutputProcessor;
use ringfence::permission_layer::PermissionLayer;
use ringfence::policy::Action;
use ringfence::policy::advice::Opinion;
use ringfence::policy::facts::Facts;
use serde_json::json;

/// Nothing is patched while the freeze holds.
struct Freeze;

impl PermissionLayer for Freeze {
    fn name(&self) -> &'static str {
        "freeze"
    }

    fn decide(&self, action: &Action, _: Option<&Facts>) -> Opinion {
        match action {
            Action::ApplyPatch(_) => Opinion::deny("no patches until Monday"),
            _ => Opinion::passthrough(),
        }
    }
}

/// Takes the customer's name out of what a model reads.
struct WithoutCustomer;

impl OutputProcessor for WithoutCustomer {
    fn process<'t>(&self, _tool: &str, text: &'t str) -> Cow<'t, str> {
        Cow::Owned(text.replace("ACME", "[customer]"))
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run() -> Result<(), Box<dyn Error>> {
    let workspace = tempfile::tempdir()?;
    let engine = Engine::builder(workspace.path())
        .environment(std::env::vars())
        .permission_layer(Freeze)
        .output_processor(WithoutCustomer)
        .listener(|event: &Event<'_>| match event {
            Event::Begin { tool, .. } => println!("{tool} begins"),
            Event::Output { text, .. } => println!("printed: {}", text.trim()),
            _ => {}
        })
        .open()?;
    let patch = json!({ "patch": "*** Begin Patch\n*** Add File: a\n+a\n*** End Patch" });
    for (tool, arguments) in [
        ("bash", json!({ "command": "echo for ACME" })),
        ("apply_patch", patch),
    ] {
        match engine.call(tool, arguments).await {
            Ok(reply) => println!("{tool}: {}", reply["stdout"]),
            Err(error) => println!("{tool}: {error}"),
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    ringfence::init();
    run()
}
