//! What a call waits for, instead of asking again and again.

use regex::Regex;

/// What ends a wait before its time is over. A command's end always does.
#[derive(Debug, Clone)]
pub(crate) enum Until {
    /// Nothing else.
    End,
    /// The first output that has not been fetched yet.
    Output,
    /// Output, not fetched yet, in which the pattern is found.
    Pattern(Regex),
}
