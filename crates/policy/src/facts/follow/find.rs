//! What `find` runs for the files that it finds.

use super::Followed;
use crate::facts::{
    walk::{Spot, Walker},
    word::{Piece, Word},
};

/// `find … -exec program {} \;`.
pub(super) fn find(walker: &mut Walker, words: &[Word], spot: &Spot) -> Followed {
    let starts: Vec<Word> = find_starts(words).into_iter().cloned().collect();
    let (mut at, mut followed) = (1, Followed::Plain);
    while at < words.len() {
        let runs = words[at]
            .literal()
            .is_some_and(|w| matches!(w, "-exec" | "-execdir" | "-ok" | "-okdir"));
        let elsewhere = words[at].is("-execdir") || words[at].is("-okdir");
        at += 1;
        if !runs {
            continue;
        }
        let outside = walker.directory.clone();
        walker.directory.unknown |= elsewhere;
        let from = at;
        while at < words.len()
            && !words[at].is(";")
            && !(words[at].is("+") && words[at - 1].is("{}"))
        {
            at += 1;
        }
        let inner: Vec<Word> = words[from..at].iter().map(supplied_braces).collect();
        let spot = Spot {
            supplied: true,
            ..spot.clone()
        };
        if inner.is_empty() {
            return Followed::Hidden;
        }
        walker.command(inner, Vec::new(), &spot);
        for start in &starts {
            let variant = words[from..at]
                .iter()
                .map(|w| if w.is("{}") { start.clone() } else { w.clone() });
            walker.command(
                variant.collect(),
                Vec::new(),
                &Spot {
                    supposed: true,
                    ..spot.clone()
                },
            );
        }
        walker.directory = outside;
        followed = Followed::Through;
    }
    followed
}

/// The folders that `find` starts from; options may stand before them.
pub(crate) fn find_starts(words: &[Word]) -> Vec<&Word> {
    let is_early = |word: &&Word| {
        let start = word.known_start();
        matches!(start, "-H" | "-L" | "-P" | "-E" | "-X" | "-s" | "-x" | "-d")
            || start.starts_with("-O")
    };
    let rest = words.iter().skip(1).skip_while(is_early);
    rest.take_while(|word| !word.known_start().starts_with(['-', '(', '!']))
        .collect()
}

/// A word in which `{}` stands for what `find` or `xargs` supplies.
fn supplied_braces(word: &Word) -> Word {
    match word.literal() {
        Some(value) if value.contains("{}") && !value.contains(' ') => {
            let mut pieces = Vec::new();
            for (index, part) in value.split("{}").enumerate() {
                if index > 0 {
                    pieces.push(Piece::Supplied);
                }
                pieces.push(Piece::Text(part.to_owned()));
            }
            Word::from_pieces(word.text.clone(), pieces)
        }
        _ => word.clone(),
    }
}
