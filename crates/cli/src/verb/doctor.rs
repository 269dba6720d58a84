//! `ringfence doctor`: what this machine can enforce, why not, and what it costs.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use ringfence::jail::SearchPath;
use ringfence::jail::doctor::{self, BackendFinding, Finding, State};
use ringfence::script::{CodeOptions, Pool, PoolConfig};
use serde_json::json;

use crate::paint;

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs a script in a worker of its own.
async fn script_worker() -> Finding {
    let pool = Pool::new(PoolConfig::default());
    let warm = pool.warm().await;
    let started = Instant::now();
    let result = pool.run_code("export default 1", CodeOptions::new()).await;
    let (state, detail) = match (warm, result.error) {
        (Ok(()), None) => (
            State::Available,
            "a fresh process for every script".to_owned(),
        ),
        (Err(error), _) => (State::Missing, error.to_string()),
        (Ok(()), Some(error)) => (State::Missing, format!("{}: {}", error.name, error.message)),
    };
    let cost_micros = u64::try_from(started.elapsed().as_micros()).ok();
    Finding {
        name: "script worker",
        state,
        detail,
        cost_micros,
    }
}

fn entry(state: State, name: &str, detail: &str, cost_micros: Option<u64>) {
    let mark = match state {
        State::Available => "yes",
        State::Missing => "NO",
        State::Optional => "no",
    };
    let cost = cost_micros
        .map(|micros| format!("  [{}.{:02} ms]", micros / 1000, micros % 1000 / 10))
        .unwrap_or_default();
    paint::line(&format!("{mark:>4}  {name:<22} {detail}{cost}"));
}

/// What it comes to, in one line.
fn verdict(findings: &[Finding], backends: &[BackendFinding]) -> String {
    let missing: Vec<&str> = findings
        .iter()
        .filter(|finding| finding.state == State::Missing)
        .map(|finding| finding.name)
        .collect();
    let whole = backends
        .iter()
        .find(|found| found.state == State::Available && found.lacks.is_empty());
    match (missing.as_slice(), whole) {
        ([], Some(found)) => format!(
            "good: the {} backend holds the default policy here",
            found.name
        ),
        ([], None) => {
            "no backend holds all of the default policy here; see what each cannot hold".to_owned()
        }
        (missing, Some(found)) => format!(
            "missing: {}; the {} backend holds the default policy here all the same",
            missing.join(", "),
            found.name
        ),
        (missing, None) => format!(
            "NOT GOOD: {} missing, and no backend holds the default policy; docs/backends.md says what helps",
            missing.join(", ")
        ),
    }
}

pub(crate) async fn serve(arguments: &Arguments) -> Result<ExitCode> {
    let started = Instant::now();
    let mut findings = doctor::examine().await;
    findings.push(script_worker().await);
    let programs =
        std::env::var("PATH").map_or_else(|_| SearchPath::default(), |path| SearchPath::of(&path));
    let backends = doctor::backends(&programs).await;
    if arguments.json {
        paint::line(&serde_json::to_string_pretty(
            &json!({ "mechanisms": findings, "backends": backends }),
        )?);
    } else {
        for Finding {
            name,
            state,
            detail,
            cost_micros,
        } in &findings
        {
            entry(*state, name, detail, *cost_micros);
        }
        paint::line("\nbackends");
        for found in &backends {
            entry(found.state, found.name, &found.detail, found.cost_micros);
            for lack in &found.lacks {
                paint::line(&format!("{:29}cannot hold {lack}", ""));
            }
        }
        let examined = format!("examined in {} ms", started.elapsed().as_millis());
        paint::line(&format!("\n{} ({examined})", verdict(&findings, &backends)));
    }
    let whole = findings
        .iter()
        .all(|finding| finding.state != State::Missing);
    Ok(if whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
