//! The place in a script that makes a call: what a question shows of it, and the clock that stands still meanwhile.

use std::sync::Arc;

use ringfence_policy::verdict::ScriptLine;

use crate::audit::ScriptSite;
use crate::execution::Stopwatch;
use crate::network::HostAnswers;

/// The place in a script that makes a call.
#[derive(Debug)]
pub struct CallSite {
    /// The line, as a person is shown it.
    pub line: ScriptLine,
    /// The script's clock, which is held while a person thinks.
    pub clock: Stopwatch,
    /// What was answered about hosts in this script.
    pub(crate) hosts: Arc<HostAnswers>,
}

/// Text of a line beyond this is cut.
#[cfg(feature = "scripts")]
const LONGEST: usize = 200;

impl CallSite {
    /// The place as the audit log names it.
    pub(crate) fn recorded(&self) -> ScriptSite {
        ScriptSite {
            id: self.line.script.clone(),
            line: self.line.line,
        }
    }

    /// A line of a script, from 1.
    #[cfg(feature = "scripts")]
    pub(crate) fn new(
        script: &str,
        (source, line): (&str, u32),
        (clock, hosts): (Stopwatch, Arc<HostAnswers>),
    ) -> Self {
        let text = source.lines().nth(line as usize - 1).unwrap_or_default();
        let mut text: String = text.trim().chars().take(LONGEST + 1).collect();
        if text.chars().count() > LONGEST {
            text.pop();
            text.push('…');
        }
        Self {
            line: ScriptLine {
                script: script.to_owned(),
                line,
                text,
            },
            clock,
            hosts,
        }
    }
}
