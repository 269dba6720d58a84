//! The command line: its verbs and the flags they share.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand};
use ringfence::config::words_of;

use crate::size;
use crate::verb::{
    agent, audit, call, check, code, completions, config, doctor, gateway, man, mcp, respond,
    rules, run, script, session, shell, status, tools, trust,
};

/// Runs commands inside a fence: judged, approved, confined, bounded and recorded.
#[derive(Debug, Parser)]
#[command(name = "ringfence", max_term_width = 100, after_help = EXAMPLES)]
#[command(
    disable_version_flag = true,
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
    /// Print the version
    #[arg(short = 'V', long)]
    version: bool,
    /// With --version: the commit, the target and the features too
    #[arg(short, long, requires = "version")]
    pub(crate) verbose: bool,
}

const EXAMPLES: &str = "\
Examples:
  ringfence run -- npm install            run a command inside the fence
  ringfence shell                         a shell inside the fence, to look around
  ringfence check 'rm -rf ~/projects'     what would become of a command, and why
  ringfence call bash '{\"command\": \"ls\"}'  one tool call, its reply as JSON
  ringfence session < calls.jsonl         many tool calls that share processes and /tmp
  ringfence mcp                           tools for an agent, over MCP
  ringfence code untrusted.ts             code in a process of its own
  ringfence script fix-tests.ts           a script that calls tools
  ringfence agent 'fix the failing test'  a model at work, with everything it does inside the fence
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
    /// Serve an agent's tool calls over MCP, on standard input and output or over HTTP
    Mcp(mcp::Arguments),
    /// Say what would become of a command, and why, without running it
    Check(check::Arguments),
    /// Run JavaScript or TypeScript that reaches nothing but what it is given
    Code(code::Arguments),
    /// Run a script that calls tools
    Script(script::Arguments),
    /// Work through a model's message: run the scripts in it, keep everything around them
    Respond(respond::Arguments),
    /// Have a model work on a task, on this terminal
    Agent(agent::Arguments),
    /// Serve the APIs of models, and run the scripts in their answers
    Gateway(gateway::Arguments),
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
    /// Print the manual page, or write those of all verbs
    Man(man::Arguments),
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
    /// A package manager that may reach its public hosts, such as npm, pip or cargo (may be repeated); the network is an
    /// allow-list then, unless --network says otherwise
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(preset_names()))]
    pub(crate) preset: Vec<String>,
    /// A socket of the machine's that may be connected to, by its path (may be repeated)
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_socket: Vec<PathBuf>,
    /// A file or folder that may be read although it is kept from commands (may be repeated)
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_read: Vec<PathBuf>,
    /// A variable that is passed on whatever else says no, or set: NAME or NAME=VALUE (may be repeated)
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<String>,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Who answers questions: `ask` (you, on the terminal), `all` (yes to what stays inside the fence), `all,unfenced` (yes to
    /// everything) or `none`
    #[arg(long, value_name = "WHO", default_value = "ask", value_parser = approve)]
    pub(crate) approve: Approve,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn preset_names() -> impl Iterator<Item = PossibleValue> {
    let all = ringfence::policy::preset::TABLE.iter();
    all.map(|preset| PossibleValue::new(preset.name).aliases(preset.also))
}

/// How much commands may use. Sizes are written like 512MB or 2GiB.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Limits")]
pub(crate) struct Limits {
    /// Memory of a run, such as 512MB
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) memory: Option<u64>,
    /// CPU time of a run, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) cpu_seconds: Option<u64>,
    /// Processes and threads alive at once in a run
    #[arg(long, value_name = "COUNT")]
    pub(crate) processes: Option<u64>,
    /// Size of any file that is written
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) file_size: Option<u64>,
    /// Open descriptors of any one process
    #[arg(long, value_name = "COUNT")]
    pub(crate) open_files: Option<u64>,
    /// What a run may write to disks
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) disk: Option<u64>,
    /// Size of the session's own /tmp
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) tmp_size: Option<u64>,
}

impl Limits {
    /// Those that are given, by their flags and settings.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        let all = [
            ("--memory", "limits.memory_bytes", self.memory),
            ("--cpu-seconds", "limits.cpu_seconds", self.cpu_seconds),
            ("--processes", "limits.processes", self.processes),
            ("--file-size", "limits.file_size_bytes", self.file_size),
            ("--open-files", "limits.open_files", self.open_files),
            ("--disk", "limits.disk_bytes", self.disk),
            ("--tmp-size", "limits.tmp_bytes", self.tmp_size),
        ];
        let given = all.into_iter();
        given.filter_map(|(flag, key, value)| Some((flag, key, value?)))
    }
}

/// Who answers questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Approve {
    /// Yes to everything that stays inside the fence.
    All,
    /// Yes to everything.
    AllUnfenced,
    /// No to everything.
    None,
    /// Whoever is at the terminal.
    #[default]
    Ask,
}

fn approve(written: &str) -> Result<Approve, String> {
    match written {
        "ask" => Ok(Approve::Ask),
        "all" => Ok(Approve::All),
        "all,unfenced" => Ok(Approve::AllUnfenced),
        "none" => Ok(Approve::None),
        _ => Err("write ask, all, `all,unfenced` or none".to_owned()),
    }
}
