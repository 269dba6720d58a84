//! `ringfence status`: which sessions live on this machine for this user, and which names they hold
//! in people's folders.

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use ringfence::audit::Timestamp;
use ringfence::jail::mark::{self, LiveSession};
use serde_json::json;

use crate::locations::Locations;
use crate::paint;
use ringfence_protocol::reveal;

/// Arguments of `status`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
While a command runs, protected names that do not exist in its folder (.vscode, say) are held by
empty folders, so that the command cannot make them. They are yours to use: put something in, and it
stays. Those that nobody has put anything into go with the command. To have them gone at once, end
the session that holds them.

Examples:
  ringfence status          the sessions that live now
  ringfence status --json   the same for programs")]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn serve(arguments: &Arguments) -> Result<ExitCode> {
    let locations = Locations::find(None)?;
    let folder = locations
        .marks()
        .context("there is no place where sessions are noted: set HOME or RINGFENCE_STATE_HOME")?;
    let sessions = mark::sessions(&folder)
        .with_context(|| format!("{} cannot be looked at", folder.display()))?;
    if arguments.json {
        let sessions: Vec<_> = sessions.iter().map(for_programs).collect();
        let text = serde_json::to_string_pretty(&json!({ "sessions": sessions }))?;
        paint::line(&text);
    } else if sessions.is_empty() {
        paint::line("no session is open");
    } else {
        for session in &sessions {
            for line in for_people(session) {
                paint::line(&line);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn for_programs(session: &LiveSession) -> serde_json::Value {
    let holds: Vec<_> = session
        .holds
        .iter()
        .map(|path| path.to_string_lossy())
        .collect();
    json!({
        "pid": session.pid,
        "since": Timestamp::from(session.since).to_string(),
        "workspace": session.workspace.to_string_lossy(),
        "holds": holds,
    })
}

fn for_people(session: &LiveSession) -> Vec<String> {
    let mut lines = vec![format!(
        "process {}, for {}, in {}",
        session.pid,
        duration(session.since),
        reveal::line(&session.workspace.to_string_lossy())
    )];
    lines.extend(session.holds.iter().map(|path| {
        let name = path.strip_prefix(&session.workspace).unwrap_or(path);
        format!("  holds {}", reveal::line(&name.to_string_lossy()))
    }));
    lines
}

fn duration(since: SystemTime) -> String {
    let seconds = since.elapsed().unwrap_or(Duration::ZERO).as_secs();
    match (seconds / 3600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}
