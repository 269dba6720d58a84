//! Wrappers that set variables first: `env`, `sudo`.

use super::{Followed, program_name, text};
use crate::facts::{
    command::Assignment,
    options::Arguments,
    walk::{Spot, Walker},
    word::{Piece, Word},
};

/// `env A=b program`, `sudo A=b program`, `env -S 'program argument'`.
pub(super) fn assignments(
    walker: &mut Walker,
    words: &[Word],
    rest: &[Word],
    found: &Arguments<'_>,
    spot: &Spot,
) -> Followed {
    if !found.unknown.is_empty() {
        return split_string(walker, words, spot);
    }
    let mut given = Vec::new();
    // A bare `-` is `-i`.
    let mut at = usize::from(rest.first().is_some_and(|word| word.is("-")));
    while let Some(word) = rest.get(at) {
        let Some((name, value)) = word.known_start().split_once('=') else {
            break;
        };
        let mut pieces = vec![Piece::Text(value.to_owned())];
        pieces.extend(word.pieces.iter().skip(1).cloned());
        let value = Word::from_pieces(word.text.clone(), pieces);
        walker.assign(name, &value);
        given.push(Assignment {
            name: name.to_owned(),
            value,
        });
        at += 1;
    }
    if rest.len() == at {
        walker.facts.assignments.extend(given);
        let shell = found.has(&["-s", "-i", "--login", "--shell"]) && program_name(words) == "sudo";
        return if shell {
            Followed::Hidden
        } else {
            Followed::Plain
        };
    }
    let before = walker.directory.clone();
    if let Some(folder) = found.value(&["-C", "-D", "--chdir"]) {
        walker.enter(folder);
    }
    walker.command(rest[at..].to_vec(), given, spot);
    walker.directory = before;
    Followed::Through
}

/// `env -S'…'`: the value is split into words.
fn split_string(walker: &mut Walker, words: &[Word], spot: &Spot) -> Followed {
    if program_name(words) != "env" {
        return Followed::Hidden;
    }
    let Some(at) = words.iter().position(|w| {
        let start = w.known_start();
        start.starts_with("-S") || start.starts_with("-vS") || start.starts_with("--split-string")
    }) else {
        return Followed::Hidden;
    };
    let Some(first) = words[at].literal() else {
        return Followed::Hidden;
    };
    let mut script = first
        .trim_start_matches("--split-string")
        .trim_start_matches("-vS")
        .trim_start_matches("-S")
        .trim_start_matches('=')
        .to_owned();
    for word in &words[at + 1..] {
        let Some(value) = word.literal() else {
            return Followed::Hidden;
        };
        script.push(' ');
        script.push_str(value);
    }
    text(walker, &Word::of(script), spot)
}
