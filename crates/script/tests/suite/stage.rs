//! Where a case runs, and short words for what most cases do.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use ringfence_script::{
    CodeExecution, CodeExecutionResult, CodeOptions, Pool, PoolConfig, RunLimits, Status,
    ThreadRuntime, run_code_on,
};
use serde_json::Value as Json;

/// A case: its name, and what happens on a stage.
pub(crate) type Case = fn(Stage) -> Pin<Box<dyn Future<Output = ()>>>;

/// Names functions `async fn name(stage) { … }` as cases.
#[macro_export]
macro_rules! cases {
    ($($name:ident($stage:ident) $body:block)*) => {
        pub(crate) fn cases() -> Vec<(&'static str, $crate::stage::Case)> {
            vec![$((stringify!($name), |$stage| Box::pin(async move $body))),*]
        }
    };
}

/// A runtime under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Forked,
    Thread,
}

/// The pool of this program.
pub(crate) fn pool() -> Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(|| Pool::new(PoolConfig::default()))
        .clone()
}

/// Runs a future to its end on a runtime of its own.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}

impl Stage {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Forked => "forked",
            Self::Thread => "thread",
        }
    }

    pub(crate) fn begin(self, source: &str, options: CodeOptions) -> CodeExecution {
        match self {
            Self::Forked => pool().run_code(source, options),
            Self::Thread => run_code_on(
                Arc::new(ThreadRuntime::new(RunLimits::default())),
                source,
                options,
            ),
        }
    }

    pub(crate) async fn run(self, source: &str, options: CodeOptions) -> CodeExecutionResult {
        self.begin(source, options).await
    }

    /// The result of a run that must succeed, as JSON.
    pub(crate) async fn value(self, source: &str, options: CodeOptions) -> Json {
        let result = self.run(source, options).await;
        assert_eq!(
            result.status,
            Status::Success,
            "{source}\n{:?}",
            result.error
        );
        result.result.expect("success has a result").to_json()
    }

    /// The status and error of a run that must not succeed.
    pub(crate) async fn failure(
        self,
        source: &str,
        options: CodeOptions,
    ) -> (Status, ringfence_script::CodeExecutionError) {
        let result = self.run(source, options).await;
        assert_ne!(result.status, Status::Success, "{source}");
        assert!(result.result.is_none(), "a failure has no result");
        (result.status, result.error.expect("a failure has an error"))
    }
}
