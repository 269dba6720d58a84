//! Where a hunk fits: the lines that it says are there, looked for as they are and then less and
//! less strictly; and where nothing fits, the nearest place.

use super::change::Hunk;
use super::text::{Line, Text};

/// How strictly lines had to be compared for a hunk to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Looseness {
    /// Byte for byte.
    Exact,
    /// But for blanks at the end of lines.
    TrailingBlanks,
    /// But for blanks around lines.
    Indentation,
    /// But for that, and for quotes, dashes and blanks that look alike.
    Lookalikes,
}

const LEVELS: [Looseness; 4] = [
    Looseness::Exact,
    Looseness::TrailingBlanks,
    Looseness::Indentation,
    Looseness::Lookalikes,
];

/// A place for a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fit {
    /// The first line that is replaced.
    pub(super) at: usize,
    /// How many are.
    pub(super) len: usize,
    pub(super) looseness: Looseness,
}

impl Fit {
    fn overlaps(self, other: Self) -> bool {
        self.at < other.at + other.len && other.at < self.at + self.len
    }
}

/// Finds the place of a hunk, given those of the hunks before it.
pub(super) fn find(text: &Text<'_>, hunk: &Hunk, before: &[Fit], drift: isize) -> Option<Fit> {
    let old = hunk.old();
    let cursor = before.iter().map(|fit| fit.at + fit.len).max().unwrap_or(0);
    if let Some(line) = hunk.line {
        let expected = line
            .saturating_sub(usize::from(!old.is_empty()))
            .saturating_add_signed(drift);
        return near(text, &old, before, expected);
    }
    let start = after_headings(text, &hunk.headings, cursor);
    if old.is_empty() {
        let at = match (hunk.headings.is_empty(), start) {
            (true, _) => text.len(),
            (false, Some(start)) => start,
            (false, None) => return None,
        };
        return Some(Fit {
            at,
            len: 0,
            looseness: Looseness::Exact,
        });
    }
    if hunk.at_end
        && let Some(fit) = at_end(text, &old)
        && fit.at >= cursor
    {
        return Some(fit);
    }
    start
        .and_then(|start| forward(text, &old, start))
        .or_else(|| only_one(text, &old, before))
}

/// The line after the headings.
fn after_headings(text: &Text<'_>, headings: &[String], cursor: usize) -> Option<usize> {
    let mut start = cursor;
    for heading in headings {
        let wanted = heading.trim();
        let lines = text.lines().get(start..)?;
        let found = lines
            .iter()
            .position(|line| line.body == heading.as_bytes())
            .or_else(|| {
                lines
                    .iter()
                    .position(|line| line.body.trim_ascii() == wanted.as_bytes())
            })
            .or_else(|| {
                lines
                    .iter()
                    .position(|line| line.body.trim_ascii().starts_with(wanted.as_bytes()))
            })?;
        start += found + 1;
    }
    Some(start)
}

fn at_end(text: &Text<'_>, old: &[&str]) -> Option<Fit> {
    let at = text.len().checked_sub(old.len())?;
    LEVELS
        .into_iter()
        .find(|level| matches_at(text.lines(), old, at, *level))
        .map(|looseness| Fit {
            at,
            len: old.len(),
            looseness,
        })
}

/// The first place from a line on. What is compared loosely must be the only such place.
fn forward(text: &Text<'_>, old: &[&str], start: usize) -> Option<Fit> {
    LEVELS.into_iter().find_map(|looseness| {
        let mut places = places(text, old, start, looseness);
        let at = places.next()?;
        let sure = looseness <= Looseness::TrailingBlanks || places.next().is_none();
        sure.then_some(Fit {
            at,
            len: old.len(),
            looseness,
        })
    })
}

/// The only place in the file, for hunks that are out of order or whose heading is wrong.
fn only_one(text: &Text<'_>, old: &[&str], before: &[Fit]) -> Option<Fit> {
    LEVELS.into_iter().find_map(|looseness| {
        let mut places = places(text, old, 0, looseness);
        let fit = Fit {
            at: places.next()?,
            len: old.len(),
            looseness,
        };
        let free = before.iter().all(|other| !fit.overlaps(*other));
        (places.next().is_none() && free).then_some(fit)
    })
}

/// The place nearest to where the patch expects it.
fn near(text: &Text<'_>, old: &[&str], before: &[Fit], expected: usize) -> Option<Fit> {
    let free = |fit: &Fit| before.iter().all(|other| !fit.overlaps(*other));
    if old.is_empty() {
        let fit = Fit {
            at: expected.min(text.len()),
            len: 0,
            looseness: Looseness::Exact,
        };
        return free(&fit).then_some(fit);
    }
    LEVELS.into_iter().find_map(|looseness| {
        places(text, old, 0, looseness)
            .map(|at| Fit {
                at,
                len: old.len(),
                looseness,
            })
            .filter(free)
            .min_by_key(|fit| fit.at.abs_diff(expected))
    })
}

fn places<'t>(
    text: &'t Text<'_>,
    old: &'t [&str],
    start: usize,
    looseness: Looseness,
) -> impl Iterator<Item = usize> + 't {
    let last = (text.len() + 1).saturating_sub(old.len());
    (start..last.max(start)).filter(move |at| matches_at(text.lines(), old, *at, looseness))
}

fn matches_at(lines: &[Line<'_>], old: &[&str], at: usize, looseness: Looseness) -> bool {
    lines.get(at..at + old.len()).is_some_and(|lines| {
        lines
            .iter()
            .zip(old)
            .all(|(line, old)| same(line.body, old.as_bytes(), looseness))
    })
}

fn same(line: &[u8], old: &[u8], looseness: Looseness) -> bool {
    match looseness {
        Looseness::Exact => line == old,
        Looseness::TrailingBlanks => line.trim_ascii_end() == old.trim_ascii_end(),
        Looseness::Indentation => line.trim_ascii() == old.trim_ascii(),
        Looseness::Lookalikes => {
            (!line.is_ascii() || !old.is_ascii()) && plain(line).trim() == plain(old).trim()
                || line.trim_ascii() == old.trim_ascii()
        }
    }
}

/// The text with look-alikes replaced by what is on a keyboard.
fn plain(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .map(|c| match c {
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            '\u{2018}'..='\u{201b}' => '\'',
            '\u{201c}'..='\u{201f}' => '"',
            '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
            other => other,
        })
        .collect()
}

/// The place that comes nearest to what a hunk says is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nearest {
    /// Its first line, counted from one.
    pub(crate) line: usize,
    /// What is there.
    pub(crate) found: Vec<String>,
    /// Which of the lines is the first that differs, counted from zero.
    pub(crate) differs_at: usize,
}

/// How many places are compared closely.
const CLOSELY: usize = 32;
/// How many line comparisons looking for the nearest place may take.
const MOST_STEPS: usize = 2_000_000;

/// Looks for the nearest place, within bounds.
pub(super) fn nearest(text: &Text<'_>, old: &[&str]) -> Option<Nearest> {
    if old.is_empty() || text.len() == 0 {
        return None;
    }
    let windows = text.len().min(MOST_STEPS / old.len().max(1)).max(1);
    let equal = |at: usize| {
        let lines = &text.lines()[at..(at + old.len()).min(text.len())];
        let pairs = lines.iter().zip(old);
        pairs
            .filter(|(line, old)| line.body.trim_ascii() == old.as_bytes().trim_ascii())
            .filter(|(line, _)| !line.body.trim_ascii().is_empty())
            .count()
    };
    let mut best: Vec<(usize, usize)> = (0..windows).map(|at| (equal(at), at)).collect();
    best.sort_by_key(|(equal, at)| (std::cmp::Reverse(*equal), *at));
    // Where no line is the same, any line may be the one that was meant.
    let closely = match best.first() {
        Some((0, _)) => 1000,
        _ => CLOSELY,
    };
    let (likeness, at) = best
        .into_iter()
        .take(closely)
        .map(|(_, at)| (alike(text, old, at), at))
        .max_by(|(a, left), (b, right)| a.total_cmp(b).then(right.cmp(left)))?;
    if likeness < 0.3 {
        return None;
    }
    let lines = &text.lines()[at..(at + old.len()).min(text.len())];
    let differs_at = lines
        .iter()
        .zip(old)
        .position(|(line, old)| line.body != old.as_bytes())
        .unwrap_or(lines.len());
    Some(Nearest {
        line: at + 1,
        found: lines
            .iter()
            .map(|line| String::from_utf8_lossy(line.body).into_owned())
            .collect(),
        differs_at,
    })
}

/// How alike lines are, from zero to one.
fn alike(text: &Text<'_>, old: &[&str], at: usize) -> f64 {
    /// Longer lines are compared by their beginnings.
    const LONGEST: usize = 200;
    /// And longer hunks by their first lines.
    const MOST: usize = 20;
    let cut = |text: &str| text.trim().chars().take(LONGEST).collect::<String>();
    let compared = old.len().min(MOST);
    let sum: f64 = old[..compared]
        .iter()
        .enumerate()
        .map(|(index, old)| match text.lines().get(at + index) {
            Some(line) => {
                let line = String::from_utf8_lossy(line.body);
                strsim::normalized_levenshtein(&cut(&line), &cut(old))
            }
            None => 0.0,
        })
        .sum();
    #[allow(clippy::cast_precision_loss, reason = "at most twenty")]
    let compared = compared as f64;
    sum / compared
}
