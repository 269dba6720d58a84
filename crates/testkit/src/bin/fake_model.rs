//! The fake model server as a program: `fake-model script.json [--port N] [--record requests.jsonl]`.
//!
//! Prints where it is, and serves until its standard input ends or it is stopped.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use ringfence_testkit::model::{FakeModel, Script};

const USAGE: &str = "usage: fake-model SCRIPT.json [--port N] [--record FILE]";

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fake-model: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let (mut script, mut port, mut record) = (None, 0, None);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| USAGE.to_owned());
        match argument.as_str() {
            "--port" => port = value()?.parse().map_err(|_| USAGE)?,
            "--record" => record = Some(value()?),
            _ if script.is_none() => script = Some(Script::read(Path::new(&argument))?),
            _ => return Err(USAGE.to_owned()),
        }
    }
    let server = FakeModel::start_at(script.ok_or(USAGE)?, port).map_err(|e| e.to_string())?;
    if let Some(path) = record {
        server.record_to(File::create(&path).map_err(|error| format!("{path}: {error}"))?);
    }
    println!("{}", server.url());
    // The end of the input, or a signal, is the end of the program.
    let mut rest = Vec::new();
    std::io::stdin()
        .read_to_end(&mut rest)
        .map_err(|e| e.to_string())?;
    Ok(())
}
