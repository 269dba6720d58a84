//! The command line: its verbs and the flags they share.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use ringfence::config::words_of;

use crate::verb::{
    audit, call, check, code, completions, config, doctor, respond, rules, run, script, session,
    shell, status, tools, trust,
};

/// Runs commands inside a fence: judged, approved, confined, bounded and recorded.
#[derive(Debug, Parser)]
#[command(name = "ringfence", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  ringfence run -- npm install            run a command inside the fence
  ringfence shell                         a shell inside the fence, to look around
  ringfence check 'rm -rf ~/projects'     what would become of a command, and why
  ringfence call bash '{\"command\": \"ls\"}'  one tool call, its reply as JSON
  ringfence session < calls.jsonl         many tool calls that share processes and /tmp
  ringfence code untrusted.ts             code in a process of its own
  ringfence script fix-tests.ts           a script that calls tools
  ringfence doctor                        what this machine can enforce
  ringfence status                        which sessions live now, and what they hold
  ringfence audit verify                  whether the record is whole

Exit codes: the command's own for `run`; 124 timed out, 125 ringfence failed, 126 refused or not
executable, 127 command not found, 137 stopped by a signal. See docs/exit-codes.md.";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run a command inside the fence
    Run(run::Arguments),
    /// Open a shell inside the fence, on this terminal
    Shell(shell::Arguments),
    /// Call one tool and print its reply as JSON
    Call(call::Arguments),
    /// Call many tools in one session, as JSON lines in and out
    Session(session::Arguments),
    /// Say what would become of a command, and why, without running it
    Check(check::Arguments),
    /// Run JavaScript or TypeScript that reaches nothing but what it is given
    Code(code::Arguments),
    /// Run a script that calls tools
    Script(script::Arguments),
    /// Work through a model's message: run the scripts in it, keep everything around them
    Respond(respond::Arguments),
    /// List the tools, or print what scripts see as TypeScript declarations
    Tools(tools::Arguments),
    /// Report what this machine can enforce, and what it costs
    Doctor(doctor::Arguments),
    /// List the sessions that live now, and the names that they hold
    Status(status::Arguments),
    /// Look at the audit log
    Audit(audit::Arguments),
    /// Look at the configuration
    Config(config::Arguments),
    /// List, test, explain and import rules
    Rules(rules::Arguments),
    /// Show what a project brings, and trust it as it is now
    Trust(trust::Arguments),
    /// Print completions for a shell
    Completions(completions::Arguments),
}

/// Flags that say what a command may do.
#[derive(Debug, Args, Default)]
pub(crate) struct Common {
    /// The workspace; the current folder unless given
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// How far commands reach
    #[arg(long, value_name = "POLICY", value_parser = PossibleValuesParser::new(words_of("sandbox.mode")))]
    pub(crate) sandbox: Option<String>,
    /// When somebody is asked
    #[arg(long, value_name = "POLICY", value_parser = PossibleValuesParser::new(words_of("approval.policy")))]
    pub(crate) approval: Option<String>,
    /// A folder that may be written besides the workspace (may be repeated)
    #[arg(long, value_name = "PATH")]
    pub(crate) writable: Vec<PathBuf>,
    /// What of the network is there
    #[arg(long, value_name = "NETWORK", value_parser = PossibleValuesParser::new(words_of("sandbox.network")))]
    pub(crate) network: Option<String>,
    /// A host that may be reached, such as example.com, *.example.com or db.example.com:5432 (may be
    /// repeated); the network is an allow-list then, unless --network says otherwise
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
    /// A socket of the machine's that may be connected to, by its path (may be repeated)
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_socket: Vec<PathBuf>,
    /// Who answers questions: everything is approved, nothing is, or you are asked on the terminal
    #[arg(long, value_name = "WHO", default_value = "ask")]
    pub(crate) approve: Approve,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Who answers questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub(crate) enum Approve {
    /// Yes to everything
    All,
    /// No to everything
    None,
    /// Whoever is at the terminal
    #[default]
    Ask,
}
