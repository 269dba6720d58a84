//! `ringfence rules`: which rules there are, whether they hold, and other tools' rules.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use ringfence::audit::{Clock, SystemClock};
use ringfence::policy::import::{self, Dialect};
use ringfence::policy::rule::Rule;
use ringfence::rules::Added;
use serde_json::json;

use super::{check, suggest};
use crate::locations::Locations;
use crate::paint::{self, visible};

/// Arguments of `rules`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one")]
enum What {
    /// Print every rule and where it stands
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Read every rules file and check every rule against its examples
    Test,
    /// Propose the narrowest rules that would have spared the questions of the last week
    #[command(after_help = "\
Only what was approved every time becomes a rule, only inside the fence, and never one that covers
what somebody said no to. Each comes with what else it would have let through in the same time.
Nothing is written.

Examples:
  ringfence rules suggest
  ringfence rules suggest --since 24h --json")]
    Suggest {
        #[command(flatten)]
        period: suggest::Arguments,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say which rule decides about a command
    Explain(check::Arguments),
    /// Add a rule to your rules file, written as it stands there
    #[command(after_help = "\
Examples:
  ringfence rules add '[[rule]]
  prefix = [\"npm\", \"test\"]
  decision = \"allow\"'

Servers and sessions that a refusal came from take it in at their next call.")]
    Add {
        /// The rule, or several
        rule: String,
    },
    /// Read another tool's rules, and say what becomes of each
    #[command(after_help = "\
Examples:
  ringfence rules import ~/.codex/rules/default.rules
  ringfence rules import --from claude .claude/settings.json --write

Prints what became of each rule and the rules as TOML; --write adds them to your rules file. A rule
that cannot be kept exactly is never imported as something looser.")]
    Import {
        /// The file
        file: PathBuf,
        /// Whose rules they are; told by the file's name unless given
        #[arg(long, value_name = "TOOL")]
        from: Option<From>,
        /// Add them to your rules file
        #[arg(long)]
        write: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum From {
    Codex,
    Claude,
    Gemini,
}

pub(crate) fn serve(arguments: &Arguments) -> Result<ExitCode> {
    match &arguments.what {
        What::List { json } => list(*json),
        What::Test => test(),
        What::Suggest { period, json } => suggest::rules(period, *json),
        What::Explain(arguments) => check::serve(arguments),
        What::Add { rule } => add(rule),
        What::Import {
            file,
            from,
            write,
            json,
        } => import_file(file, *from, *write, *json),
    }
}

fn add(rule: &str) -> Result<ExitCode> {
    let locations = Locations::find(None)?;
    let path = locations
        .user_rules()
        .context("there is no place for your rules: set HOME or RINGFENCE_CONFIG_HOME")?;
    let why = "by `ringfence rules add`";
    let added = ringfence::rules::add(&path, rule, why, SystemClock.now())?;
    let shown = visible(&path.display().to_string());
    paint::line(&match added {
        Added::Written => format!("added to {shown}"),
        Added::AlreadyThere => format!("{shown} has it already"),
    });
    Ok(ExitCode::SUCCESS)
}

fn list(as_json: bool) -> Result<ExitCode> {
    let set = Locations::find(None)?.rules()?;
    if as_json {
        let rules: Vec<_> = set
            .rules()
            .iter()
            .map(|rule| {
                json!({
                    "layer": rule.source.layer.name(),
                    "file": rule.source.file,
                    "line": rule.source.line,
                    "decision": rule.decision.name(),
                    "subject": rule.subject(),
                    "grant": rule.grant,
                    "reason": rule.reason,
                    "active": rule.is_active(),
                })
            })
            .collect();
        paint::line(&serde_json::to_string_pretty(&rules)?);
        return Ok(ExitCode::SUCCESS);
    }
    if set.is_empty() {
        paint::line("there are no rules");
    }
    for rule in set.rules() {
        let reason = rule
            .reason
            .as_ref()
            .map(|reason| format!("  ({reason})"))
            .unwrap_or_default();
        let active = if rule.is_active() {
            ""
        } else {
            "  [waits for `ringfence trust`]"
        };
        paint::line(&visible(&format!(
            "{:<11} {}  {}{reason}{active}",
            rule.decision.name(),
            rule.subject(),
            rule.source
        )));
    }
    Ok(ExitCode::SUCCESS)
}

/// Reading a file checks the examples in it, so there is nothing more to do.
fn test() -> Result<ExitCode> {
    let set = Locations::find(None)?.rules()?;
    let examples: usize = set
        .rules()
        .iter()
        .map(|rule| rule.matches.len() + rule.not_matches.len())
        .sum();
    paint::line(&format!(
        "{} rules and {examples} examples hold",
        set.rules().len()
    ));
    Ok(ExitCode::SUCCESS)
}

fn import_file(file: &PathBuf, from: Option<From>, write: bool, as_json: bool) -> Result<ExitCode> {
    let name = file.display().to_string();
    let dialect = match from {
        Some(From::Codex) => Dialect::Codex,
        Some(From::Claude) => Dialect::Claude,
        Some(From::Gemini) => Dialect::Gemini,
        None => Dialect::of_file(&name)
            .with_context(|| format!("whose rules {name} holds cannot be told; use --from"))?,
    };
    let text = std::fs::read_to_string(file).with_context(|| format!("{name} cannot be read"))?;
    let imported = import::import(dialect, &name, &text)?;
    let toml = imported
        .rules
        .iter()
        .map(Rule::to_toml)
        .collect::<Vec<_>>()
        .join("\n");
    if as_json {
        let report = json!({ "report": imported.report, "rules": toml });
        paint::line(&serde_json::to_string_pretty(&report)?);
    } else {
        for item in &imported.report {
            paint::line(&visible(&item.to_string()));
        }
    }
    if write {
        let Some(path) = Locations::find(None)?.user_rules() else {
            bail!("there is no place for your rules: set HOME or RINGFENCE_CONFIG_HOME");
        };
        let why = format!("imported from {name}");
        ringfence::rules::add(&path, &toml, &why, SystemClock.now())?;
        paint::remark(&format!(
            "{} rules are in {}",
            imported.rules.len(),
            path.display()
        ));
    } else if !as_json {
        paint::line(&format!("\n{}", visible(&toml)));
    }
    Ok(ExitCode::SUCCESS)
}
