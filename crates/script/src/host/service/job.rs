//! The job that a run begins with: the source and its options as the worker takes them.

use super::Service;
use crate::host::options::{CodeOptions, Language};
use crate::protocol::{Encoded, Job};
use crate::runtime::RunLimits;
use crate::value::{self, Limits, Value};

impl Service<'_> {
    pub(super) fn job(&mut self, source: String, options: CodeOptions) -> Result<Job, String> {
        let limits = self.limits;
        let global_names = options
            .globals
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        let globals = Value::object(options.globals.iter().map(|(k, v)| (k.as_str(), v.clone())));
        let imports = Value::object(options.imports.iter().map(|(k, v)| (k.as_str(), v.clone())));
        let (incoming, outgoing) = (self.connection.incoming, self.connection.outgoing);
        let mut encode = |what: &str, value: &Value| {
            value::encode(value, outgoing, &mut self.functions)
                .map(Encoded::from)
                .map_err(|error| format!("{what}: {error}"))
        };
        let job = Job {
            source,
            filename: options.filename,
            typescript: options.language == Language::TypeScript,
            export: options.export,
            arguments: encode("execute.args", &Value::array(options.arguments))?,
            imports: encode("imports", &imports)?,
            globals: encode("globals", &globals)?,
            global_names,
            modules: options.modules,
            report: options.report.is_some(),
            memory: options.memory_limit_bytes.unwrap_or(limits.memory_bytes),
            stack: options.stack_bytes.unwrap_or(limits.stack_bytes),
            message_bytes: incoming.bytes as u64,
            message_depth: incoming.depth as u64,
            message_held: incoming.held as u64,
            log_lines: self.most_logs,
            log_bytes: self.log_room as u64,
            log_rate: options.logging.per_second,
            reports: limits.reports as u64,
            report_bytes: self.report_room as u64,
            kind: options.kind,
        };
        self.follow_promises();
        Ok(job)
    }
}

/// The limits of what a script with so much memory says. Half of its memory can be held here for one message.
pub(super) fn incoming(limits: &RunLimits, memory: u64) -> Limits {
    const LEAST: usize = 1 << 20;
    let half = usize::try_from(memory / 2).unwrap_or(usize::MAX);
    Limits {
        held: limits.message.held.min(half.max(LEAST)),
        ..limits.message
    }
}
