//! The table of all keys.

use super::key::{Key, Kind, Loosens, Merge, Preset};

/// Variables that begin with `RINGFENCE_` (or are `RINGFENCE`) and are not configuration.
pub const RESERVED_VARIABLES: &[&str] = &[
    "RINGFENCE",
    "RINGFENCE_SANDBOX",
    "RINGFENCE_SANDBOX_NETWORK_DISABLED",
    "RINGFENCE_REQUIRE",
    "RINGFENCE_CONFIG_HOME",
    "RINGFENCE_STATE_HOME",
    "RINGFENCE_CACHE_HOME",
    "RINGFENCE_LOG",
];

const fn key(
    section: &'static str,
    name: &'static str,
    kind: Kind,
    default: Preset,
    loosens: Loosens,
    doc: &'static str,
) -> Key {
    Key {
        section,
        name,
        kind,
        default,
        merge: Merge::Replace,
        loosens,
        doc,
    }
}

/// A list or table to which every layer adds.
const fn adds(
    section: &'static str,
    name: &'static str,
    kind: Kind,
    loosens: Loosens,
    doc: &'static str,
) -> Key {
    let default = match kind {
        Kind::Table => Preset::NoTable,
        _ => Preset::List(&[]),
    };
    Key {
        section,
        name,
        kind,
        default,
        merge: Merge::Add,
        loosens,
        doc,
    }
}

/// A number of which more is looser.
const fn bound(
    section: &'static str,
    name: &'static str,
    least: u64,
    default: u64,
    doc: &'static str,
) -> Key {
    let kind = Kind::Number(least, u64::MAX);
    key(
        section,
        name,
        kind,
        Preset::Number(default),
        Loosens::Higher,
        doc,
    )
}

/// A limit that may be absent.
const fn limit(name: &'static str, least: u64, default: Preset, doc: &'static str) -> Key {
    key(
        "limits",
        name,
        Kind::Limit(least),
        default,
        Loosens::Higher,
        doc,
    )
}

const MODES: &[&str] = &[
    "read-only",
    "workspace-write",
    "external-sandbox",
    "danger-full-access",
];
const NETWORKS: &[&str] = &["off", "allow-list", "full"];
const TMPS: &[&str] = &["private", "host"];
const DEGRADED: &[&str] = &["refuse", "allow"];
const APPROVALS: &[&str] = &["never", "on-failure", "on-request", "unless-trusted"];
const INHERITS: &[&str] = &["none", "core", "all"];
const CONTROL_GROUPS: &[&str] = &["auto", "off"];
const ON_TIMEOUTS: &[&str] = &["kill", "background"];
const ANSI: &[&str] = &["remove", "keep"];
const SCRIPT_MODES: &[&str] = &["disabled", "dry-run", "enabled"];
const RUNTIMES: &[&str] = &["quickjs", "in-process"];

/// Read off the verdict table: in each of these steps no cell gets looser.
const TIGHTER_APPROVALS: &[(&str, &str)] = &[
    ("on-failure", "never"),
    ("on-failure", "on-request"),
    ("on-failure", "unless-trusted"),
    ("on-request", "unless-trusted"),
];

/// Every key, in the order in which they are shown.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    key("sandbox", "mode", Kind::Choice(MODES), Preset::Text("workspace-write"), Loosens::Later(MODES),
        "How far a command may reach."),
    key("sandbox", "backend", Kind::Choice(&["auto", "native", "bubblewrap", "container", "none"]),
        Preset::Text("auto"), Loosens::To(&["container", "none"]),
        "What builds the fence; `auto` takes the first of `native` and `bubblewrap` that holds the whole policy here."),
    key("sandbox", "container_image", Kind::Text, Preset::Text("ubuntu:22.04"), Loosens::Always,
        "The image of the `container` backend. It must be there already: none is fetched."),
    key("sandbox", "container_engine", Kind::Choice(&["auto", "podman", "docker"]), Preset::Text("auto"), Loosens::Always,
        "What makes containers; `auto` takes whichever answers."),
    adds("sandbox", "writable_roots", Kind::Paths, Loosens::Outside,
        "Folders that may be written besides the workspace."),
    adds("sandbox", "denied_reads", Kind::Paths, Loosens::Never,
        "Files and folders that cannot be read, besides the default ones."),
    adds("sandbox", "allowed_reads", Kind::Paths, Loosens::Each,
        "Default denied reads that are readable after all."),
    adds("sandbox", "protected_paths", Kind::RootedPaths, Loosens::Never,
        "Paths that cannot be changed, besides the default ones; relative ones in every writable root."),
    adds("sandbox", "unprotected_paths", Kind::RootedPaths, Loosens::Each,
        "Default protected paths that may be changed after all."),
    key("sandbox", "network", Kind::Choice(NETWORKS), Preset::Text("off"), Loosens::Later(NETWORKS),
        "What of the network a command sees."),
    adds("sandbox", "unix_sockets", Kind::Paths, Loosens::Each,
        "Sockets of the machine's, by their paths, that commands can connect to."),
    key("sandbox", "tmp", Kind::Choice(TMPS), Preset::Text("private"), Loosens::Later(TMPS),
        "Whether `/tmp` is the session's own or the machine's."),
    key("sandbox", "lookout", Kind::Choice(&["off", "connections", "writes"]), Preset::Text("connections"),
        Loosens::Never,
        "Which calls are looked at, so that refusals are facts; `writes` makes every change of a file slower."),
    key("sandbox", "degraded", Kind::Choice(DEGRADED), Preset::Text("refuse"), Loosens::Later(DEGRADED),
        "What to do where the fence cannot hold all that the policy asks for."),
    key("sandbox", "allow_disable_sandbox", Kind::Bool, Preset::Bool(false), Loosens::When(true),
        "Whether a model may ask to run a command outside the fence; a person is always asked."),
    adds("network", "allow", Kind::Hosts, Loosens::Each,
        "Hosts that commands may reach when `sandbox.network` is `allow-list`, such as \"*.example.com\" or \"db.example.com:5432\"."),
    adds("network", "deny", Kind::Hosts, Loosens::Never,
        "Hosts that commands may not reach, whatever allows them."),
    adds("network", "inject", Kind::Table, Loosens::Always,
        "A header for requests to a host, such as `\"api.example.com\" = \"Authorization: Bearer ${API_TOKEN}\"`: the variable is read here, and commands never see it."),
    key("network", "terminate_tls", Kind::Bool, Preset::Bool(false), Loosens::When(true),
        "Whether headers are added inside TLS too, by a certificate authority of the session's own."),
    bound("network", "max_connections", 1, 256, "Connections of one run at once."),
    bound("network", "connect_timeout_ms", 1, 10_000, "How long to wait for a host to answer."),
    key("approval", "policy", Kind::Choice(APPROVALS), Preset::Text("on-failure"),
        Loosens::Unless(TIGHTER_APPROVALS), "When a person is asked."),
    key("approval", "timeout_ms", Kind::Number(1, u64::MAX), Preset::Number(60_000), Loosens::Never,
        "How long to wait for an answer; then it counts as no."),
    key("environment", "inherit", Kind::Choice(INHERITS), Preset::Text("core"), Loosens::Later(INHERITS),
        "Which variables a command inherits before the lists below."),
    adds("environment", "include", Kind::Names, Loosens::Each,
        "Variables that are inherited whatever else says no; `*` matches anything."),
    adds("environment", "exclude", Kind::Names, Loosens::Never,
        "Variables that are dropped, besides secrets and what makes programs load or run something."),
    adds("environment", "set", Kind::Table, Loosens::LoaderNames,
        "Variables that are set to a value of their own."),
    limit("cpu_seconds", 1, Preset::Nothing, "CPU time of a run, all its processes together."),
    limit("memory_bytes", 1 << 20, Preset::Nothing,
        "Memory of a run; where no control group can be had, the address space of each process."),
    limit("process_memory_bytes", 1 << 20, Preset::Nothing, "Address space of any one process."),
    limit("processes", 1, Preset::Number(2048), "Processes and threads alive at once in a run."),
    limit("file_size_bytes", 0, Preset::Nothing, "Size of any file that is written."),
    limit("open_files", 16, Preset::Nothing, "Open descriptors of any one process."),
    limit("disk_bytes", 0, Preset::Nothing, "What a run may write to disks, all its processes together."),
    limit("tmp_bytes", 1 << 20, Preset::Number(4 << 30), "Size of the session's own `/tmp`."),
    limit("wall_seconds", 1, Preset::Nothing,
        "How long a run may last, with what it left running; a call's time-out holds besides."),
    key("limits", "control_groups", Kind::Choice(CONTROL_GROUPS), Preset::Text("auto"),
        Loosens::Later(CONTROL_GROUPS), "Whether control groups hold limits, where some can be made."),
    key("shell", "path", Kind::Path, Preset::Nothing, Loosens::Always,
        "The shell that runs commands; found from the user's account when absent."),
    key("shell", "login", Kind::Bool, Preset::Bool(true), Loosens::Never,
        "Whether commands see the environment of a login shell."),
    bound("shell", "timeout_ms", 1, 10_000, "Time-out of `shell` and `shell_command` when the call names none."),
    key("shell", "silence_timeout_ms", Kind::Limit(1), Preset::Nothing, Loosens::Higher,
        "How long a command of `shell`, `shell_command` or `bash` may print nothing before it is stopped."),
    bound("process", "max", 1, 64, "Processes of `exec_command` that are open at once."),
    bound("process", "warn_at", 1, 60, "Open processes from which on every reply warns."),
    bound("process", "keep_recent", 0, 8, "Open processes, last used, that never give way to a new one."),
    bound("process", "yield_ms", 0, 10_000, "How long `exec_command` waits for output when the call does not say."),
    bound("process", "input_yield_ms", 0, 250, "How long `write_stdin` waits for output when the call does not say."),
    bound("process", "max_wait_ms", 0, 600_000, "The longest that a call may wait for a process or a task."),
    bound("bash", "default_timeout_ms", 1, 120_000, "Time-out of `bash` when the call names none."),
    bound("bash", "max_timeout_ms", 1, 600_000, "The longest time-out that a call of `bash` may name."),
    bound("bash", "max_output_chars", 1, 30_000, "Characters of output in a reply; the whole goes to a file."),
    bound("bash", "max_background_tasks", 0, 10, "Background tasks of a session at once."),
    bound("bash", "task_retention_hours", 0, 1, "How long an ended task's output is kept."),
    bound("bash", "max_ended_tasks", 0, 64, "Ended tasks that are kept at most."),
    key("bash", "on_timeout", Kind::Choice(ON_TIMEOUTS), Preset::Text("kill"), Loosens::Later(ON_TIMEOUTS),
        "What happens to a command that takes too long."),
    bound("output", "buffer_bytes", 1024, 1 << 20, "Output of a command that is held in memory, head and tail."),
    bound("output", "spill_cap_bytes", 0, 64 << 20, "Output of a command that is kept in a file."),
    bound("output", "drain_ms", 0, 2000, "How long to read on after a command ended and others hold its output open."),
    key("output", "ansi", Kind::Choice(ANSI), Preset::Text("remove"), Loosens::Never,
        "Whether escape sequences, such as colours, stay in replies."),
    bound("output", "max_image_bytes", 0, 3_750_000, "Size of all images in a reply; larger ones are only named."),
    bound("output", "delta_bytes", 4, 8192, "Size of a piece of output that is told while a command runs."),
    bound("output", "max_deltas", 0, 10_000, "Pieces of output of one call that are told while it runs."),
    key("audit", "enabled", Kind::Bool, Preset::Bool(true), Loosens::When(false), "Whether an audit log is kept."),
    key("audit", "dir", Kind::Path, Preset::Nothing, Loosens::Always,
        "Where it is kept; below the user's state folder when absent."),
    bound("files", "max_patch_bytes", 1, 8 << 20, "Size of a patch."),
    bound("files", "max_file_bytes", 1, 64 << 20, "Size of a file that a patch changes."),
    bound("files", "search_limit", 1, 100, "Results of `file_search` when the call names no limit."),
    bound("files", "search_max_files", 1, 2_000_000, "Files that `file_search` looks at."),
    key("script", "mode", Kind::Choice(SCRIPT_MODES), Preset::Text("disabled"), Loosens::Later(SCRIPT_MODES),
        "Whether scripts in `<tool-calls>` run."),
    adds("script", "enabled_providers", Kind::Names, Loosens::Each,
        "Providers whose scripts run, whatever `mode` says."),
    adds("script", "dry_run_providers", Kind::Names, Loosens::Each,
        "Providers whose scripts are checked and not run, whatever `mode` says."),
    adds("script", "disabled_providers", Kind::Names, Loosens::Never,
        "Providers whose scripts do not run, whatever else says."),
    key("script", "runtime", Kind::Choice(RUNTIMES), Preset::Text("quickjs"), Loosens::Later(RUNTIMES),
        "What runs them: a fresh process for each, or a thread where that is not possible."),
    bound("script.limits", "timeout_ms", 1, 30_000, "How long a script may run, approvals not counted."),
    bound("script.limits", "memory_mb", 1, 96, "Memory of a script, in MiB."),
    bound("script.limits", "max_stack_bytes", 65_536, 524_288, "Stack of a script."),
    bound("script.limits", "max_tool_calls", 0, 32, "Tool calls of one script."),
    bound("script.limits", "max_concurrent_tool_calls", 1, 4, "Tool calls of one script at once."),
    bound("script.limits", "max_return_size_bytes", 0, 131_072, "Size of what a script returns."),
    bound("script.limits", "max_source_bytes", 1, 20_480, "Size of a script."),
    key("script.limits", "allow_detached_promises", Kind::Bool, Preset::Bool(false), Loosens::When(true),
        "Whether a script may end with calls that it did not await."),
    bound("script.limits", "max_log_events", 0, 200, "Log lines of one script."),
    bound("script.limits", "log_rate_per_sec", 1, 20, "Log lines of one script in a second."),
    key("script.expose", "tools", Kind::Names, Preset::List(&["applyPatch", "exec", "fileSearch"]),
        Loosens::Each, "Tools that a script sees."),
    key("script.expose", "enable_mcp", Kind::Bool, Preset::Bool(false), Loosens::When(true),
        "Whether a script sees the tools of MCP servers."),
    key("script.expose", "enable_spawn", Kind::Bool, Preset::Bool(false), Loosens::When(true),
        "Whether a script may start tasks that outlive it."),
    key("script.expose", "enable_http", Kind::Bool, Preset::Bool(false), Loosens::When(true),
        "Whether a script may send HTTP requests."),
    bound("script.worker_pool", "size", 1, 2, "Scripts that run at once."),
    key("script.worker_pool", "reuse_workers", Kind::Bool, Preset::Bool(true), Loosens::Never,
        "Whether the process from which workers are forked serves more than one script."),
    bound("script.worker_pool", "max_scripts_per_worker", 1, 100, "Scripts after which that process is started anew."),
];
