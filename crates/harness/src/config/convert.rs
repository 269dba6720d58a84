//! Settings by name into settings by type.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use ringfence_policy::permissions::{EnvironmentPolicy, Inherit, Limits};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as WordError, StrDeserializer};

use super::resolve::Resolved;
use super::typed::{
    ApprovalConfig, AuditConfig, BashConfig, Config, ExposeConfig, FilesConfig, NetworkConfig,
    OutputConfig, ProcessConfig, SandboxConfig, ScriptConfig, ScriptLimits, ShellConfig,
    WorkerPool,
};
use super::value::Value;

impl From<&Resolved> for Config {
    fn from(resolved: &Resolved) -> Self {
        let from = Typed(resolved);
        Self {
            sandbox: from.sandbox(),
            network: NetworkConfig {
                allow: from.list("network.allow"),
                deny: from.list("network.deny"),
                inject: from.table("network.inject"),
                terminate_tls: from.switch("network.terminate_tls"),
                max_connections: from.number("network.max_connections"),
                connect_timeout: from.millis("network.connect_timeout_ms"),
            },
            approval: ApprovalConfig {
                policy: from.word("approval.policy"),
                timeout: from.millis("approval.timeout_ms"),
            },
            environment: EnvironmentPolicy {
                inherit: from.word::<Inherit>("environment.inherit"),
                include: from.list("environment.include"),
                exclude: from.list("environment.exclude"),
                set: from.table("environment.set"),
            },
            limits: Limits {
                cpu_time: from.limit("limits.cpu_seconds").map(Duration::from_secs),
                memory_bytes: from.limit("limits.memory_bytes"),
                process_memory_bytes: from.limit("limits.process_memory_bytes"),
                processes: from.limit("limits.processes"),
                file_size_bytes: from.limit("limits.file_size_bytes"),
                open_files: from.limit("limits.open_files"),
                disk_bytes: from.limit("limits.disk_bytes"),
                tmp_bytes: from.limit("limits.tmp_bytes"),
                wall_time: from.limit("limits.wall_seconds").map(Duration::from_secs),
                control_groups: from.word("limits.control_groups"),
            },
            shell: ShellConfig {
                path: from.path("shell.path"),
                login: from.switch("shell.login"),
                timeout: from.millis("shell.timeout_ms"),
                silence: from
                    .limit("shell.silence_timeout_ms")
                    .map(Duration::from_millis),
            },
            process: from.process(),
            bash: from.bash(),
            output: OutputConfig {
                buffer_bytes: from.number("output.buffer_bytes"),
                spill_cap_bytes: from.number("output.spill_cap_bytes"),
                drain: from.millis("output.drain_ms"),
                ansi: from.word("output.ansi"),
                max_image_bytes: from.number("output.max_image_bytes"),
                delta_bytes: from.number("output.delta_bytes"),
                max_deltas: from.number("output.max_deltas"),
            },
            audit: AuditConfig {
                enabled: from.switch("audit.enabled"),
                dir: from.path("audit.dir"),
            },
            files: FilesConfig {
                max_patch_bytes: from.number("files.max_patch_bytes"),
                max_file_bytes: from.number("files.max_file_bytes"),
                search_limit: from.number("files.search_limit"),
                search_max_files: from.number("files.search_max_files"),
            },
            script: from.script(),
        }
    }
}

/// Settings by name and type. The table of keys has made sure of both: a setting has the type of
/// its key, and a test reads every key and every word of every choice through here.
struct Typed<'a>(&'a Resolved);

impl Typed<'_> {
    fn sandbox(&self) -> SandboxConfig {
        SandboxConfig {
            mode: self.word("sandbox.mode"),
            backend: self.word("sandbox.backend"),
            container_image: self.word("sandbox.container_image"),
            container_engine: self.word("sandbox.container_engine"),
            writable_roots: self.paths("sandbox.writable_roots"),
            denied_reads: self.paths("sandbox.denied_reads"),
            allowed_reads: self.paths("sandbox.allowed_reads"),
            protected_paths: self.paths("sandbox.protected_paths"),
            unprotected_paths: self.paths("sandbox.unprotected_paths"),
            network: self.word("sandbox.network"),
            unix_sockets: self.paths("sandbox.unix_sockets"),
            tmp: self.word("sandbox.tmp"),
            lookout: self.word("sandbox.lookout"),
            degraded: self.word("sandbox.degraded"),
            allow_disable_sandbox: self.switch("sandbox.allow_disable_sandbox"),
        }
    }

    fn process(&self) -> ProcessConfig {
        ProcessConfig {
            max: self.number("process.max"),
            warn_at: self.number("process.warn_at"),
            keep_recent: self.number("process.keep_recent"),
            yield_time: self.millis("process.yield_ms"),
            input_yield_time: self.millis("process.input_yield_ms"),
            max_wait: self.millis("process.max_wait_ms"),
        }
    }

    fn bash(&self) -> BashConfig {
        let hours = self.number("bash.task_retention_hours");
        BashConfig {
            default_timeout: self.millis("bash.default_timeout_ms"),
            max_timeout: self.millis("bash.max_timeout_ms"),
            max_output_chars: self.number("bash.max_output_chars"),
            max_background_tasks: self.number("bash.max_background_tasks"),
            task_retention: Duration::from_secs(hours.saturating_mul(3600)),
            max_ended_tasks: self.number("bash.max_ended_tasks"),
            on_timeout: self.word("bash.on_timeout"),
        }
    }

    fn script(&self) -> ScriptConfig {
        ScriptConfig {
            mode: self.word("script.mode"),
            enabled_providers: self.list("script.enabled_providers"),
            dry_run_providers: self.list("script.dry_run_providers"),
            disabled_providers: self.list("script.disabled_providers"),
            runtime: self.word("script.runtime"),
            limits: ScriptLimits {
                timeout: self.millis("script.limits.timeout_ms"),
                memory_mb: self.number("script.limits.memory_mb"),
                max_stack_bytes: self.number("script.limits.max_stack_bytes"),
                max_tool_calls: self.number("script.limits.max_tool_calls"),
                max_concurrent_tool_calls: self.number("script.limits.max_concurrent_tool_calls"),
                max_return_size_bytes: self.number("script.limits.max_return_size_bytes"),
                max_source_bytes: self.number("script.limits.max_source_bytes"),
                allow_detached_promises: self.switch("script.limits.allow_detached_promises"),
                max_log_events: self.number("script.limits.max_log_events"),
                log_rate_per_sec: self.number("script.limits.log_rate_per_sec"),
            },
            expose: ExposeConfig {
                tools: self.list("script.expose.tools"),
                enable_mcp: self.switch("script.expose.enable_mcp"),
                enable_spawn: self.switch("script.expose.enable_spawn"),
                enable_http: self.switch("script.expose.enable_http"),
            },
            worker_pool: WorkerPool {
                size: self.number("script.worker_pool.size"),
                reuse_workers: self.switch("script.worker_pool.reuse_workers"),
                max_scripts_per_worker: self.number("script.worker_pool.max_scripts_per_worker"),
            },
        }
    }

    fn value(&self, path: &str) -> Value {
        let Some(setting) = self.0.get(path) else {
            unreachable!("`{path}` is in the table")
        };
        setting.value()
    }

    fn word<T: for<'de> Deserialize<'de>>(&self, path: &str) -> T {
        let Value::Text(word) = self.value(path) else {
            unreachable!("`{path}` is a word")
        };
        let words: StrDeserializer<'_, WordError> = word.as_str().into_deserializer();
        T::deserialize(words).unwrap_or_else(|error| unreachable!("`{path}` is a choice: {error}"))
    }

    fn switch(&self, path: &str) -> bool {
        let Value::Bool(value) = self.value(path) else {
            unreachable!("`{path}` is a switch")
        };
        value
    }

    fn limit(&self, path: &str) -> Option<u64> {
        match self.value(path) {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    fn number(&self, path: &str) -> u64 {
        let Value::Number(number) = self.value(path) else {
            unreachable!("`{path}` is a number")
        };
        number
    }

    fn millis(&self, path: &str) -> Duration {
        Duration::from_millis(self.number(path))
    }

    fn path(&self, path: &str) -> Option<PathBuf> {
        match self.value(path) {
            Value::Text(text) => Some(PathBuf::from(text)),
            _ => None,
        }
    }

    fn list(&self, path: &str) -> Vec<String> {
        let Value::List(items) = self.value(path) else {
            unreachable!("`{path}` is a list")
        };
        items
    }

    fn paths(&self, path: &str) -> Vec<PathBuf> {
        self.list(path).into_iter().map(PathBuf::from).collect()
    }

    fn table(&self, path: &str) -> BTreeMap<String, String> {
        let Value::Table(items) = self.value(path) else {
            unreachable!("`{path}` is a table")
        };
        items
    }
}
