//! `ringfence doctor`: what this machine can enforce, why not, and what it costs.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use ringfence::jail::doctor::{self, Finding, State};
use serde_json::json;

use crate::paint;

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn serve(arguments: &Arguments) -> Result<ExitCode> {
    let started = Instant::now();
    let findings = doctor::examine().await;
    if arguments.json {
        paint::line(&serde_json::to_string_pretty(
            &json!({ "mechanisms": findings }),
        )?);
    } else {
        for Finding {
            name,
            state,
            detail,
            cost_micros,
        } in &findings
        {
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
        paint::line(&format!("examined in {} ms", started.elapsed().as_millis()));
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
