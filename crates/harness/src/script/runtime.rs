//! The runtime that scripts run on, made as the configuration says.

use std::sync::{Arc, OnceLock};

use ringfence_jail::WardenProgram;
use ringfence_script::{
    Pool, PoolConfig, RealmKind, RunLimits, ScriptRuntime as Runtime, ThreadRuntime,
    WORKER_ARGUMENT, WorkerProgram,
};

use crate::config::{ScriptRuntime, WorkerPool};
use crate::engine::Engine;

/// The runtimes of an engine, each made when it is first needed.
pub(crate) struct Runtimes {
    code: OnceLock<Arc<dyn Runtime>>,
    tool_scripts: OnceLock<Arc<dyn Runtime>>,
    worker: WorkerProgram,
    /// The time zone of scripts' dates.
    time_zone: Option<String>,
}

impl Runtimes {
    /// Runtimes whose worker is whoever serves as warden.
    pub(crate) fn new(warden: &WardenProgram, time_zone: Option<String>) -> Self {
        Self {
            code: OnceLock::new(),
            tool_scripts: OnceLock::new(),
            worker: worker_of(warden),
            time_zone,
        }
    }
}

fn worker_of(warden: &WardenProgram) -> WorkerProgram {
    match warden {
        WardenProgram::ThisProgram | WardenProgram::Forked(_) => WorkerProgram::CurrentExecutable,
        WardenProgram::At(path) => WorkerProgram::Program {
            path: path.clone(),
            arguments: vec![WORKER_ARGUMENT.to_owned()],
        },
    }
}

impl Engine {
    /// A runtime for one kind of scripts.
    fn new_runtime(&self, realm: RealmKind) -> Arc<dyn Runtime> {
        match self.config.script.runtime {
            ScriptRuntime::InProcess => Arc::new(ThreadRuntime::new(RunLimits::default())),
            ScriptRuntime::QuickJs => Arc::new(Pool::new(self.pool_config(realm))),
        }
    }

    /// The runtime of code.
    pub(crate) fn code_runtime(&self) -> Arc<dyn Runtime> {
        self.runtimes
            .code
            .get_or_init(|| self.new_runtime(RealmKind::Module))
            .clone()
    }

    /// The runtime of tool scripts.
    pub(super) fn tool_runtime(&self) -> Arc<dyn Runtime> {
        self.runtimes
            .tool_scripts
            .get_or_init(|| self.new_runtime(RealmKind::ToolScript))
            .clone()
    }

    fn pool_config(&self, realm: RealmKind) -> PoolConfig {
        PoolConfig {
            realm,
            worker: self.runtimes.worker.clone(),
            time_zone: self.runtimes.time_zone.clone(),
            ..pool_of(&self.config.script.worker_pool)
        }
    }
}

fn pool_of(setting: &WorkerPool) -> PoolConfig {
    let size = usize::try_from(setting.size).unwrap_or(usize::MAX).max(1);
    let defaults = PoolConfig::default();
    PoolConfig {
        // No more wait than can run.
        ready: size.min(defaults.concurrent),
        recycle_after: if setting.reuse_workers {
            setting.max_scripts_per_worker.max(1)
        } else {
            1
        },
        ..defaults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_the_pool_is_how_many_processes_stand_ready() {
        // Size, whether the zygote is used again, after how many: ready, recycled after.
        for (size, reuse_workers, scripts, expected) in [
            (1, true, 100, (1, 100)),
            (2, true, 7, (2, 7)),
            (u64::MAX, false, 7, (64, 1)),
        ] {
            let pool = pool_of(&WorkerPool {
                size,
                reuse_workers,
                max_scripts_per_worker: scripts,
            });
            let made = (pool.ready, pool.recycle_after);
            assert_eq!(made, expected);
        }
    }
}
