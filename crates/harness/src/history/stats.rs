//! How often somebody was asked, about what, and what they said.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Decided, History};

/// The numbers of a period.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Calls that were judged.
    pub calls: u64,
    /// Those that ran without a question.
    pub unasked: u64,
    /// Those that somebody was asked about and said yes to.
    pub approved: u64,
    /// Those that somebody was asked about and did not say yes to.
    pub declined: u64,
    /// Those that were refused without a question.
    pub refused: u64,
    /// Those that ran outside the fence.
    pub outside: u64,
    /// Lines of the log that could not be read.
    pub unreadable: u64,
    /// What was asked about, the most often first.
    pub asked: Vec<Counted>,
}

/// A command that was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// The command, without its secrets.
    pub command: String,
    /// How often somebody was asked.
    pub asked: u64,
    /// How often they said yes.
    pub approved: u64,
    /// Why they were asked, the last time.
    pub because: String,
}

impl History {
    /// The numbers.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats {
            calls: self.calls.len() as u64,
            unreadable: self.unreadable,
            ..Stats::default()
        };
        let mut asked: BTreeMap<String, Counted> = BTreeMap::new();
        for call in &self.calls {
            *match call.decided {
                Decided::Unasked => &mut stats.unasked,
                Decided::Approved => &mut stats.approved,
                Decided::Declined => &mut stats.declined,
                Decided::Refused => &mut stats.refused,
            } += 1;
            stats.outside += u64::from(call.outside);
            if !call.was_asked() {
                continue;
            }
            let command = call.text();
            let counted = asked.entry(command.clone()).or_insert_with(|| Counted {
                command,
                asked: 0,
                approved: 0,
                because: String::new(),
            });
            counted.asked += 1;
            counted.approved += u64::from(call.decided == Decided::Approved);
            counted.because = call.because.clone().unwrap_or_default();
        }
        stats.asked = asked.into_values().collect();
        stats
            .asked
            .sort_by_key(|counted| std::cmp::Reverse(counted.asked));
        stats
    }
}
