//! The best of all names: every one is scored, on as many threads as there are processors, and the
//! best few are kept.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::thread;

use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::query::{Names, Query};

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its path below the folder that was searched.
    pub(crate) path: String,
    /// How well it fits; comparable within one search.
    pub(crate) score: u32,
    /// Which characters of the path fit, as UTF-16 counts them; nothing for a pattern.
    pub(crate) indices: Option<Vec<u32>>,
}

/// The score of what matches a pattern, as there is no better or worse.
const MATCHES: u32 = 100;
/// Fewer names than this are not worth another thread.
const WORTHWHILE: usize = 4096;
const MOST_THREADS: usize = 8;

/// A candidate; the greater, the better.
type Rank<'n> = (u32, Reverse<usize>, Reverse<&'n str>);

/// The best names, best first. `may_show` has the last word on each.
pub(crate) fn best(
    names: &[Box<str>],
    query: &Query,
    limit: usize,
    may_show: &(dyn Fn(&str) -> bool + Sync),
) -> Vec<Found> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let threads = threads
        .min(MOST_THREADS)
        .min(names.len() / WORTHWHILE)
        .max(1);
    let share = names.len().div_ceil(threads).max(1);
    let mut ranked: Vec<Rank<'_>> = thread::scope(|scope| {
        let workers: Vec<_> = names
            .chunks(share)
            .map(|names| scope.spawn(move || best_of(names, query, limit, may_show)))
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_default())
            .collect()
    });
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    ranked.truncate(limit);
    let mut scorer = Scorer::new(query);
    let found = ranked.into_iter().map(|(score, _, Reverse(path))| Found {
        path: path.to_owned(),
        score,
        indices: scorer.indices(path),
    });
    found.collect()
}

fn best_of<'n>(
    names: &'n [Box<str>],
    query: &Query,
    limit: usize,
    may_show: &(dyn Fn(&str) -> bool + Sync),
) -> Vec<Rank<'n>> {
    let mut scorer = Scorer::new(query);
    let mut kept: BinaryHeap<Reverse<Rank<'n>>> = BinaryHeap::new();
    for name in names {
        let Some(score) = scorer.score(name) else {
            continue;
        };
        let rank = (score, Reverse(name.len()), Reverse(&**name));
        let is_full = kept.len() >= limit;
        if is_full && kept.peek().is_none_or(|Reverse(worst)| *worst >= rank) {
            continue;
        }
        if query.excludes(name) || !may_show(name) {
            continue;
        }
        if is_full {
            kept.pop();
        }
        kept.push(Reverse(rank));
    }
    kept.into_iter().map(|Reverse(rank)| rank).collect()
}

/// Scores names, with memory that is used again for each.
struct Scorer<'w> {
    names: &'w Names,
    matcher: Matcher,
    buffer: Vec<char>,
}

impl<'w> Scorer<'w> {
    fn new(query: &'w Query) -> Self {
        Self {
            names: &query.names,
            matcher: Matcher::new(Config::DEFAULT.match_paths()),
            buffer: Vec::new(),
        }
    }

    fn score(&mut self, name: &str) -> Option<u32> {
        match self.names {
            Names::Glob { matcher, whole } => {
                let last = name.rsplit('/').next().unwrap_or(name);
                let subject = if *whole { name } else { last };
                matcher.is_match(subject).then_some(MATCHES)
            }
            Names::Fuzzy(pattern) => {
                let name = Utf32Str::new(name, &mut self.buffer);
                pattern.score(name, &mut self.matcher)
            }
        }
    }

    fn indices(&mut self, name: &str) -> Option<Vec<u32>> {
        let Names::Fuzzy(pattern) = self.names else {
            return None;
        };
        let mut indices = Vec::new();
        let text = Utf32Str::new(name, &mut self.buffer);
        pattern.indices(text, &mut self.matcher, &mut indices)?;
        indices.sort_unstable();
        indices.dedup();
        Some(as_utf16(name, &indices))
    }
}

/// Positions of characters as JavaScript counts them.
fn as_utf16(text: &str, indices: &[u32]) -> Vec<u32> {
    if text.is_ascii() {
        return indices.to_vec();
    }
    let mut starts = Vec::new();
    let mut at = 0;
    for character in text.chars() {
        starts.push(at);
        at += u32::try_from(character.len_utf16()).unwrap_or(1);
    }
    let known = indices
        .iter()
        .filter_map(|index| starts.get(*index as usize).copied());
    known.collect()
}
