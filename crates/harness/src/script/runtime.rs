//! The runtime that scripts run on, made as the configuration says.

use std::sync::Arc;

use ringfence_script::{
    Pool, PoolConfig, RealmKind, RunLimits, ScriptRuntime as Runtime, ThreadRuntime,
};

use crate::config::ScriptRuntime;
use crate::engine::Engine;

impl Engine {
    /// A runtime for one kind of scripts.
    pub(crate) fn new_runtime(&self, realm: RealmKind) -> Arc<dyn Runtime> {
        match self.config.script.runtime {
            ScriptRuntime::InProcess => Arc::new(ThreadRuntime::new(RunLimits::default())),
            ScriptRuntime::QuickJs => Arc::new(Pool::new(self.pool_config(realm))),
        }
    }

    /// The runtime of tool scripts.
    pub(super) fn tool_runtime(&self) -> Arc<dyn Runtime> {
        self.tool_scripts
            .get_or_init(|| self.new_runtime(RealmKind::ToolScript))
            .clone()
    }

    fn pool_config(&self, realm: RealmKind) -> PoolConfig {
        let pool = &self.config.script.worker_pool;
        PoolConfig {
            realm,
            worker: self.worker.clone(),
            ready: usize::try_from(pool.size).unwrap_or(usize::MAX).max(1),
            recycle_after: if pool.reuse_workers {
                pool.max_scripts_per_worker.max(1)
            } else {
                1
            },
            time_zone: self.time_zone.clone(),
            ..PoolConfig::default()
        }
    }
}
