//! Code that a model wrote, with functions of the host bridged in: all that it can reach.

#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;
use std::time::Duration;

use ringfence::Engine;
use ringfence::script::{CodeOptions, HostError, HostFunction, Value};

/// What a model might have written.
const SOURCE: &str = "
    import { price } from 'shop';
    export async function total(names: string[]): Promise<number> {
        let sum = 0;
        for (const name of names) sum += await price(name);
        note(`${names.length} things`);
        return sum;
    }";

fn options(names: &[&str]) -> CodeOptions {
    // Asynchronous: the script awaits it, and the host may take its time.
    let price = HostFunction::asynchronous("price", |arguments| async move {
        match arguments.first().and_then(Value::as_str) {
            Some("tea") => Ok(3.into()),
            Some("cake") => Ok(4.into()),
            other => Err(HostError::named(
                "RangeError",
                format!("no price for {other:?}"),
            )),
        }
    });
    // Synchronous: the script gets a plain value.
    let note = HostFunction::sync("note", |arguments| {
        println!("noted: {}", arguments[0].as_str().unwrap_or_default());
        Ok(Value::Undefined)
    });
    let names = names.iter().map(|name| Value::from(*name));
    CodeOptions::new()
        .import("shop", [("price", price)])
        .global("note", note)
        .execute("total", [Value::array(names)])
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run() -> Result<(), Box<dyn Error>> {
    let workspace = tempfile::tempdir()?;
    let engine = Engine::builder(workspace.path()).open()?;
    for names in [&["tea", "cake"][..], &["gold"]] {
        let call = engine.new_call();
        let deadline = Some(Duration::from_secs(5));
        let source = SOURCE.to_owned();
        let result = engine.run_code(&call, source, options(names), deadline);
        let result = result.await?;
        match (&result.result, &result.error) {
            (Some(value), _) => println!("total: {:?}", value.as_number()),
            (None, error) => println!("failed: {:?}", error.as_ref().map(|error| &error.message)),
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    ringfence::init();
    run()
}
