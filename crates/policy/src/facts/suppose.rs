//! What a word or a command would be if variables have the values that the text is seen to give
//! them, and substitutions print what they are seen to print. Only good for finding danger.

use super::{
    bash::tree::{Body, Script, Text},
    word::{FOLDER_MARK, HOME_MARK, Piece, Word},
};

/// How many values of a variable, and how many supposed commands of one command, are followed.
pub(super) const MAX_SUPPOSED: usize = 6;

/// Gives `$(echo text)` the value that it is seen to have.
pub(super) fn give_printed(pieces: &mut [Piece], text: &Text) {
    let substitutions = pieces
        .iter()
        .filter(|p| matches!(p, Piece::Command | Piece::Process));
    let in_word = || text.inner.iter().filter(|inner| inner.is_in_word());
    if substitutions.count() != in_word().count() {
        return;
    }
    let mut inner = in_word();
    for piece in pieces {
        if !matches!(piece, Piece::Command | Piece::Process) {
            continue;
        }
        let Some(inside) = inner.next() else { return };
        if let (Piece::Command, Some(value)) = (&piece, printed(&inside.script)) {
            *piece = Piece::Parameter {
                name: String::new(),
                values: vec![value],
            };
        }
    }
}

/// What a script prints, if it is nothing but `echo`, `printf` or `pwd`.
fn printed(script: &Script) -> Option<String> {
    let [statement] = script.statements.as_slice() else {
        return None;
    };
    let [stage] = statement.stages.as_slice() else {
        return None;
    };
    let Body::Simple { words, .. } = &stage.body else {
        return None;
    };
    let words: Option<Vec<&str>> = words.iter().map(|text| text.word.literal()).collect();
    match words?.as_slice() {
        ["pwd", ..] => Some(FOLDER_MARK.to_string()),
        ["echo", "-n" | "-e" | "-ne", rest @ ..] | ["echo", rest @ ..] => Some(rest.join(" ")),
        ["printf", "%s" | "%s\\n" | "--", rest @ ..] if !rest.is_empty() => Some(rest.join(" ")),
        ["printf", text] => Some((*text).to_owned()),
        _ => None,
    }
}

/// A value in which the home folder and the working directory are marked.
pub(super) fn with_marks(value: &Word) -> Word {
    if value.literal.is_some() {
        return value.clone();
    }
    let marked = value.pieces.iter().map(|piece| match piece {
        Piece::Home(None) => Piece::Text(HOME_MARK.to_string()),
        Piece::Parameter { name, .. } if name == "HOME" => Piece::Text(HOME_MARK.to_string()),
        Piece::Parameter { name, .. } if name == "PWD" => Piece::Text(FOLDER_MARK.to_string()),
        other => other.clone(),
    });
    Word::from_pieces(value.text.clone(), marked.collect())
}

/// What a command would be if variables have the values that the text gives them.
pub(super) fn supposed(words: &[Word]) -> Vec<Vec<Word>> {
    let open = |word: &Word| {
        word.pieces.iter().any(|piece| match piece {
            Piece::Choice(_) => true,
            Piece::Parameter { values, .. } => !values.is_empty(),
            _ => false,
        })
    };
    if !words.iter().any(open) {
        return Vec::new();
    }
    let mut all: Vec<Vec<Word>> = vec![Vec::new()];
    for word in words {
        let options = word.supposed(MAX_SUPPOSED);
        let mut next = Vec::new();
        for option in &options {
            for so_far in &all {
                if next.len() < MAX_SUPPOSED {
                    let mut longer = so_far.clone();
                    longer.extend(option.iter().cloned());
                    next.push(longer);
                }
            }
        }
        all = next;
    }
    all
}
