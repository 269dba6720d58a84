//! From a file's old content and hunks to its new content. Lines that stay are kept byte for byte
//! as the file has them, also where a hunk spells them differently.

use super::change::{Hunk, HunkLine, NewEnd};
use super::fit::{self, Fit, Looseness, Nearest};
use super::text::Text;

/// What hunks make of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Amended {
    pub(super) content: Vec<u8>,
    /// The loosest comparison that was needed.
    pub(super) looseness: Looseness,
}

/// A hunk that fits nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Misfit {
    /// Which, counted from one.
    pub(super) hunk: usize,
    /// What it says is there.
    pub(super) expected: Vec<String>,
    /// The heading that is not there, if that is the trouble.
    pub(super) heading: Option<String>,
    /// What is there instead.
    pub(super) nearest: Option<Nearest>,
}

/// Applies hunks to a content.
pub(super) fn amend(old: &[u8], hunks: &[Hunk]) -> Result<Amended, Misfit> {
    let text = Text::of(old);
    let mut fits: Vec<Fit> = Vec::new();
    let mut drift = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let Some(fit) = fit::find(&text, hunk, &fits, drift) else {
            return Err(misfit(&text, index, hunk));
        };
        if let Some(line) = hunk.line.filter(|_| fit.len > 0) {
            drift = fit.at.cast_signed() - line.saturating_sub(1).cast_signed();
        }
        fits.push(fit);
    }
    let looseness = fits.iter().map(|fit| fit.looseness).max();
    Ok(Amended {
        content: rewrite(&text, hunks, &fits),
        looseness: looseness.unwrap_or(Looseness::Exact),
    })
}

fn misfit(text: &Text<'_>, index: usize, hunk: &Hunk) -> Misfit {
    let old = hunk.old();
    let mut expected: Vec<&str> = old.clone();
    let heading = hunk.headings.last().filter(|_| old.is_empty());
    if let Some(heading) = heading {
        expected = vec![heading];
    }
    Misfit {
        hunk: index + 1,
        nearest: fit::nearest(text, &expected),
        heading: heading.cloned(),
        expected: expected.into_iter().map(str::to_owned).collect(),
    }
}

fn rewrite(text: &Text<'_>, hunks: &[Hunk], fits: &[Fit]) -> Vec<u8> {
    let mut order: Vec<usize> = (0..fits.len()).collect();
    // What is put in before a line comes before what replaces it.
    order.sort_by_key(|index| (fits[*index].at, fits[*index].len));
    let mut lines: Vec<(&[u8], &[u8])> = Vec::new();
    let mut at = 0;
    let mut end = NewEnd::Newline;
    for index in order {
        let (fit, hunk) = (fits[index], &hunks[index]);
        let kept = text.lines()[at..fit.at].iter();
        lines.extend(kept.map(|line| (line.body, line.end)));
        at = fit.at;
        for line in &hunk.lines {
            match line {
                HunkLine::Keep(_) => {
                    let line = text.lines()[at];
                    lines.push((line.body, line.end));
                    at += 1;
                }
                HunkLine::Remove(_) => at += 1,
                HunkLine::Add(body) => lines.push((body.as_bytes(), text.usual_end())),
            }
        }
        if at == text.len() {
            end = match hunk.new_end {
                NewEnd::Unsaid if !text.ends_with_newline() => NewEnd::NoNewline,
                NewEnd::Unsaid => NewEnd::Newline,
                said => said,
            };
        }
    }
    let rest = &text.lines()[at..];
    if !rest.is_empty() && !text.ends_with_newline() {
        end = NewEnd::NoNewline;
    }
    lines.extend(rest.iter().map(|line| (line.body, line.end)));
    join(&lines, text.usual_end(), end)
}

/// Puts lines together. Every line but the last has an end; that of the last is as it is told.
fn join(lines: &[(&[u8], &[u8])], usual: &[u8], end: NewEnd) -> Vec<u8> {
    let mut content = Vec::new();
    for (index, (body, own)) in lines.iter().enumerate() {
        content.extend_from_slice(body);
        let last = index + 1 == lines.len();
        if !last || end != NewEnd::NoNewline {
            content.extend_from_slice(if own.is_empty() { usual } else { own });
        }
    }
    content
}
