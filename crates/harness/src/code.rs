//! Code in a process of its own, which reaches nothing but what it was given.
//!
//! [`Bridge`] is how a front end gives it functions of a program elsewhere, and hears it while it runs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ringfence_script::{
    CodeExecutionLog, CodeExecutionResult, CodeOptions, HostFunction, Value, run_code_on,
};
use serde_json::Map;

use crate::engine::{Call, Engine};

/// Somebody elsewhere whose functions code may call, and who hears what it says. One for each call.
pub trait CodeBridge: Send + Sync {
    /// The function that `{"$": "function", …}` in the options stands for, or why there is none.
    fn function(
        self: Arc<Self>,
        tagged: &Map<String, serde_json::Value>,
    ) -> Result<HostFunction, String>;
    /// The code has reported something.
    fn report(&self, value: &Value);
    /// The code has written a line to its console.
    fn log(&self, line: &CodeExecutionLog);
}

/// A bridge that a call carries.
#[derive(Clone)]
pub struct Bridge(pub Arc<dyn CodeBridge>);

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bridge")
    }
}

impl Bridge {
    /// The options with somebody who hears what the code says.
    pub(crate) fn heard(&self, options: CodeOptions) -> CodeOptions {
        let Self(bridge) = self.clone();
        let reporting = Arc::clone(&bridge);
        let options = if options.reports() {
            options.report(move |value| reporting.report(value))
        } else {
            options
        };
        options.log(move |line| bridge.log(line))
    }
}

impl Engine {
    /// Evaluates code, to its end, to the deadline, or until the call is cancelled.
    pub(crate) async fn evaluate(
        &self,
        call: &Call,
        source: String,
        options: CodeOptions,
        deadline: Option<Duration>,
    ) -> CodeExecutionResult {
        let mut run = run_code_on(self.code_runtime(), source, options);
        let over = async {
            match deadline {
                Some(deadline) => tokio::time::sleep(deadline).await,
                None => std::future::pending().await,
            }
        };
        let reason = tokio::select! {
            result = &mut run => return result,
            () = call.cancel.cancelled() => "the call was cancelled".to_owned(),
            () = over => {
                let most = deadline.unwrap_or_default().as_millis();
                format!("it took more than {most} ms")
            }
        };
        run.terminate(Some(&reason));
        run.await
    }
}
