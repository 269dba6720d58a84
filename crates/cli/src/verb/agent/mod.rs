//! `ringfence agent`: a model that works on a task in this folder, on a terminal.
//!
//! - `view`: what a person sees; `wrap` and `look`: how; `lines`: what a program reads instead
//! - `conversation`: the file that a conversation is kept in; `lead`: how its model is reached; `resume_line`: the command that goes
//!   on with it
//! - `noted`: who is asked, with what was said noted for the view
//! - `stopping`: Ctrl-C once and twice, and what is said after the first
//! - `briefing`: what the model is told before everything else

mod briefing;
mod conversation;
mod lead;
mod lines;
mod look;
mod noted;
mod resume_line;
mod stopping;
mod view;
mod wrap;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use ringfence::agent::{
    Agent, AgentListener, AgentOptions, AgentReport, Ended, Journal, ModelClient,
};
use ringfence::config::Config;
use ringfence::dialect::provider::{RequestOptions, Usage};
use ringfence::event::Listener;
use ringfence::{Cancel, Engine};
use ringfence_model::Reach;
use ringfence_protocol::Parts;

use crate::arguments::Common;
use crate::locations::Locations;
use crate::model_place::{ModelPlace, SdkVariables};
use crate::opening;
use crate::own_secrets::OwnSecrets;
use crate::prompt::{SessionLength, TerminalApprover};
use crate::{exit, paint, workspace};
use conversation::Conversations;
use lead::Lead;
use look::{many, time, tokens};
use noted::Noted;
use tokio::sync::Notify;
use view::View;

/// Arguments of `agent`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ringfence agent 'fix the failing test' --provider anthropic --model MODEL
  ringfence agent 'what does this project do?' --provider http://localhost:11434/v1 --model MODEL
  ringfence agent --resume
  ringfence agent --resume 'now write a test for it'
  ringfence agent 'fix it' --json --approve none --max-turns 10

The model calls tools, and writes scripts that call them; each call is judged, asked about, confined and recorded.
Keys come from ANTHROPIC_API_KEY or OPENAI_API_KEY (or what `model.*_key_env` and `model.*_key_file` name) and are not
seen by commands. Ctrl-C stops the turn, and a second one leaves. A conversation that was left, or whose program was
killed, goes on with --resume: nothing that has been executed is executed again. Exit code 0 if the model is done, 1
at a limit or a refusal, 125 if the model cannot be asked, 137 if it was stopped. See docs/agent.md.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// What to do
    task: Option<String>,
    /// Whose API: anthropic, openai, openai-chat, or the URL of a server that speaks Chat Completions
    #[arg(long, value_name = "WHO")]
    provider: Option<String>,
    /// The model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The variable that has the key, for a provider that is named by its URL
    #[arg(long, value_name = "NAME")]
    key_env: Option<String>,
    /// Go on with a conversation: that of this name or file, or the last one of this folder
    #[arg(long, value_name = "CONVERSATION", num_args = 0..=1, default_missing_value = "", require_equals = true)]
    resume: Option<String>,
    /// How many turns the model has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: Option<u32>,
    /// Have answers come whole, not as they are written
    #[arg(long)]
    no_stream: bool,
}

/// The tools that the model sees.
const TOOLS: &[&str] = &[
    "bash",
    "bash_task_output",
    "bash_task_stop",
    "apply_patch",
    "file_search",
];

const FAILED: u8 = 1;

pub(crate) async fn serve(arguments: Arguments) -> Result<ExitCode> {
    let common = &arguments.common;
    if arguments.task.is_none() && arguments.resume.is_none() {
        bail!("say what to do: ringfence agent 'fix the failing test'; or go on with --resume");
    }
    workspace::check(common.cwd.as_deref())?;
    let locations = Locations::find(common.cwd.as_deref())?;
    let (config, environment) = opening::settings(common)?;
    let conversations = locations
        .state_home
        .as_deref()
        .map(|state| Conversations::of(state, &locations.workspace))
        .context("there is no place for the conversation: set HOME or RINGFENCE_STATE_HOME")?;
    let begun = arguments.resume.as_ref();
    let begun = begun.map(|which| conversations.resume(which)).transpose()?;
    let note = begun.as_ref().map(|(journal, _)| journal.note());
    let lead = Lead::find(&arguments, &config.model, note);
    let place = ModelPlace::find(lead.wanted(), &config, &environment, SdkVariables::Count)?;
    let model = lead.model.as_ref();
    let model = model.context("which model? Name it with --model, or set `model.name`")?;
    let (journal, path) = match begun {
        Some(begun) => begun,
        None => conversations.begin(place.provider, lead.note(&place.url))?,
    };
    agreed(&journal, &place, arguments.provider.is_some())?;
    let view = Arc::new(View::new());
    let stop = Arc::new(Notify::new());
    let mut secrets = OwnSecrets::of_models(&config.model);
    if let Some(name) = lead.wanted().key_env {
        secrets = secrets.with_variable(name);
    }
    let engine = open(common, &view, &stop, &secrets)?;
    let options = options(&arguments, &config, &engine, &place, model);
    let listener: Arc<dyn AgentListener> = if common.json {
        Arc::new(lines::Lines)
    } else {
        view.clone()
    };
    let model = Reach::new(place.client, place.headers);
    let agent = Agent::new(&engine, model, options, journal, listener);
    let report = work(agent, &arguments, &view, &stop).await;
    view.rest();
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            if common.json {
                paint::line(&lines::failed(&error, path.to_str()).to_string());
            } else {
                tell_resume(&path);
            }
            return Err(error);
        }
    };
    if common.json {
        paint::line(&lines::report(&report, path.to_str()).to_string());
    } else {
        summarise(&report);
        if report.ended != Ended::Done {
            tell_resume(&path);
        }
    }
    Ok(match report.ended {
        Ended::Done => ExitCode::SUCCESS,
        Ended::Cancelled => ExitCode::from(exit::CANCELLED),
        _ => ExitCode::from(FAILED),
    })
}

/// The API of a conversation. One that was begun by another cannot be gone on with by this one.
fn agreed(journal: &Journal, place: &ModelPlace, is_named: bool) -> Result<()> {
    let (kept, asked) = (journal.provider(), place.provider);
    if kept != asked {
        let hint = if is_named {
            "name that one"
        } else {
            "name it with --provider"
        };
        bail!(
            "the conversation goes by {}, not by {}: {hint}",
            kept.name(),
            asked.name()
        );
    }
    Ok(())
}

fn open(
    common: &Common,
    view: &Arc<View>,
    stop: &Arc<Notify>,
    secrets: &OwnSecrets,
) -> Result<Engine> {
    let listener: Arc<dyn Listener> = if common.json {
        ringfence::event::nowhere()
    } else {
        view.clone()
    };
    let patience = opening::settings(common)?.0.approval.timeout;
    let terminal = TerminalApprover::new(patience, SessionLength::ManyCalls);
    let approver = Arc::new(Noted::new(terminal, Arc::clone(view), Arc::clone(stop)));
    let parts = Parts { approver, listener };
    opening::open_for_client(common, None, Vec::new(), parts, secrets)
}

fn options(
    arguments: &Arguments,
    config: &Config,
    engine: &Engine,
    place: &ModelPlace,
    model: &str,
) -> AgentOptions {
    let mut limits = config.agent.limits();
    if let Some(turns) = arguments.max_turns {
        limits.max_turns = turns;
    }
    AgentOptions {
        request: RequestOptions {
            model: model.to_owned(),
            instructions: Some(briefing::of(engine)),
            max_output_tokens: Some(config.model.max_output_tokens),
            stream: !arguments.no_stream,
            ..RequestOptions::default()
        },
        tools: engine.tool_table(place.provider, |name| TOOLS.contains(&name), []),
        limits,
        vendor: place.word.to_owned(),
        ..AgentOptions::default()
    }
}

/// Works until the model is done, or somebody leaves.
async fn work<C: ModelClient>(
    mut agent: Agent<'_, C>,
    arguments: &Arguments,
    view: &View,
    stop: &Notify,
) -> Result<AgentReport> {
    let mut task = arguments.task.clone();
    let mut sum: Option<AgentReport> = None;
    loop {
        let cancel = Cancel::new();
        let report = tokio::select! {
            report = agent.run(task.as_deref(), &cancel) => report?,
            never = stopping::watch(&cancel, view, stop, arguments.common.json) => match never? {},
        };
        view.rest();
        let was_stopped = report.ended == Ended::Cancelled;
        let report = match sum.take() {
            Some(before) => together(before, report),
            None => report,
        };
        if !was_stopped || arguments.common.json {
            return Ok(report);
        }
        task = stopping::what_instead().await;
        if task.is_none() {
            return Ok(report);
        }
        sum = Some(report);
    }
}

/// Two runs of one conversation as one.
fn together(before: AgentReport, after: AgentReport) -> AgentReport {
    let mut changed_files = before.changed_files;
    for file in after.changed_files {
        if !changed_files.contains(&file) {
            changed_files.push(file);
        }
    }
    AgentReport {
        turns: before.turns + after.turns,
        steps: before.steps + after.steps,
        failed_steps: before.failed_steps + after.failed_steps,
        usage: before.usage.plus(after.usage),
        duration: before.duration + after.duration,
        changed_files,
        ..after
    }
}

fn summarise(report: &AgentReport) {
    let Usage { input, output, .. } = report.usage;
    let ended = match &report.ended {
        Ended::Done => "done".to_owned(),
        Ended::FailureLimit { last } => format!("given up: {last}"),
        other => other.code().replace('_', " "),
    };
    let failed = match report.failed_steps {
        0 => String::new(),
        some => format!(" ({some} failed)"),
    };
    let files = match report.changed_files.as_slice() {
        [] => "no file changed".to_owned(),
        files => format!("changed: {}", files.join(", ")),
    };
    paint::aside(&format!(
        "\n{ended}: {}, {}{failed}, {} tokens read, {} written, {}; {files}",
        many(report.turns, "turn"),
        many(report.steps, "tool call"),
        tokens(input),
        tokens(output),
        time(report.duration),
    ));
}

fn tell_resume(path: &Path) {
    if let Some(name) = path.file_stem().and_then(|name| name.to_str()) {
        paint::aside(&format!("to go on: {}", resume_line::of(name)));
    }
}
