//! The place in a script that makes a call: what a question shows of it, and the clock that stands still meanwhile.

use ringfence_policy::verdict::ScriptLine;
use ringfence_script::Site;

use crate::audit::ScriptSite;
use crate::execution::Stopwatch;

/// The place in a script that makes a call.
#[derive(Debug)]
pub struct ScriptPlace {
    /// The line, as a person is shown it.
    pub line: ScriptLine,
    /// The script's clock, which is held while a person thinks.
    pub clock: Stopwatch,
}

/// Text of a line beyond this is cut.
const LONGEST: usize = 200;

impl ScriptPlace {
    /// The place as the audit log names it.
    pub(crate) fn recorded(&self) -> ScriptSite {
        ScriptSite {
            id: self.line.script.clone(),
            line: self.line.line,
        }
    }

    pub(super) fn new(script: &str, source: &str, site: Option<Site>, clock: Stopwatch) -> Self {
        let line = site.map_or(1, |site| site.line);
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
        }
    }
}
