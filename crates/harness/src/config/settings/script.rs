//! `[script]`: scripts in a model's answer.

use std::time::Duration;

use crate::config::declare::{settings, words};

settings! {
    /// Scripts in a model's answer.
    pub struct ScriptConfig in "script" {
        /// Whether scripts in `<tool-calls>` run.
        mode: ScriptMode = word("disabled"), Later;
        /// Providers whose scripts run, whatever `mode` says.
        enabled_providers: Vec<String> = names(), Each;
        /// Providers whose scripts are checked and not run, whatever `mode` says.
        dry_run_providers: Vec<String> = names(), Each;
        /// Providers whose scripts do not run, whatever else says.
        disabled_providers: Vec<String> = names(), Never;
        /// What runs them: a fresh process for each, or a thread where that is not possible.
        runtime: ScriptRuntime = word("quickjs"), Later;
    }
    where {
        /// `[script.limits]`
        limits: ScriptLimits,
        /// `[script.expose]`
        expose: ExposeConfig,
        /// `[script.worker_pool]`
        worker_pool: WorkerPool,
    }
}

words! {
    /// Whether scripts run.
    pub enum ScriptMode {
        /// They are replaced by a warning.
        Disabled = "disabled",
        /// They are checked and not run.
        DryRun = "dry-run",
        /// They run.
        Enabled = "enabled",
    }
}

words! {
    /// What runs scripts.
    pub enum ScriptRuntime {
        /// A fresh process for each.
        QuickJs = "quickjs",
        /// A thread of the harness.
        InProcess = "in-process",
    }
}

settings! {
    /// Bounds of one script.
    pub struct ScriptLimits in "script.limits" {
        /// How long a script may run, approvals not counted.
        timeout["timeout_ms"]: Duration = millis(1, 30_000), Higher;
        /// Memory of a script, in MiB.
        memory_mb: u64 = number(1, 96), Higher;
        /// Stack of a script.
        max_stack_bytes: u64 = number(65_536, 524_288), Higher;
        /// Tool calls of one script.
        max_tool_calls: u64 = number(0, 32), Higher;
        /// Tool calls of one script at once.
        max_concurrent_tool_calls: u64 = number(1, 4), Higher;
        /// Size of what a script returns.
        max_return_size_bytes: u64 = number(0, 131_072), Higher;
        /// Size of a script.
        max_source_bytes: u64 = number(1, 20_480), Higher;
        /// Whether a script may end with calls that it did not await.
        allow_detached_promises: bool = switch(false), When(true);
        /// Log lines of one script.
        max_log_events: u64 = number(0, 200), Higher;
        /// Log lines of one script in a second.
        log_rate_per_sec: u64 = number(1, 20), Higher;
    }
}

/// The tools that scripts see unless told otherwise.
#[cfg(feature = "commands")]
const EXPOSED: &[&str] = &["applyPatch", "exec", "fileSearch"];
#[cfg(not(feature = "commands"))]
const EXPOSED: &[&str] = &["applyPatch", "fileSearch"];

settings! {
    /// What a script sees.
    pub struct ExposeConfig in "script.expose" {
        /// Tools that a script sees.
        tools: Vec<String> = these_names(EXPOSED), Each;
        /// Whether a script sees the tools of MCP servers.
        enable_mcp: bool = switch(false), When(true);
        /// Whether a script may start tasks that outlive it.
        enable_spawn: bool = switch(false), When(true);
        /// Whether a script may send HTTP requests.
        enable_http: bool = switch(false), When(true);
    }
}

settings! {
    /// The processes that run scripts.
    pub struct WorkerPool in "script.worker_pool" {
        /// Processes that stand ready for scripts, and as many for `run_code`; up to 64 of each run at once, and more wait for their turn, which takes none of their time.
        size: u64 = number(1, 2), Higher;
        /// Whether the process from which workers are forked serves more than one script.
        reuse_workers: bool = switch(true), Never;
        /// Scripts after which that process is started anew.
        max_scripts_per_worker: u64 = number(1, 100), Higher;
    }
}
