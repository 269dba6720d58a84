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

/// From where on output counts as news for a wait.
#[derive(Debug, Clone, Default)]
pub(crate) struct Since {
    /// What had been printed before.
    pub(crate) bytes: u64,
    /// What a terminal prints of what was typed, which is no answer to it.
    pub(crate) echo: Vec<u8>,
}

impl Since {
    /// The beginning: all that has not been fetched yet is news.
    pub(crate) const BEGINNING: &'static Self = &Self {
        bytes: 0,
        echo: Vec::new(),
    };
}
