//! Conditions: what `test`, `[` and `[[` evaluate of their operands.

use super::plain_name;
use crate::facts::{
    bash::tree::Text, options::may_be_option, unclear::Obstacle, walk::Walker, word::Word,
};
use crate::shell::ShellKind;

/// Looks at the words of `test` or `[`.
pub(super) fn tested(walker: &mut Walker, arguments: &[Word]) {
    operators(walker, arguments);
    for pair in arguments.windows(2) {
        if pair[0].is("-v") || pair[0].is("-R") {
            index_of(walker, &pair[1]);
        }
        if pair[0].is("-t") && walker.kind != ShellKind::Bash {
            walker.numbers.evaluates_word(&pair[1]);
        }
    }
    if walker.kind == ShellKind::Sh {
        comparisons(walker, arguments);
    }
}

/// `-v name`: an index in it is evaluated.
fn index_of(walker: &mut Walker, word: &Word) {
    walker.hidden(std::slice::from_ref(word));
    if word.literal().and_then(plain_name).is_none() {
        walker.doubtful(Obstacle::EvaluatedValue, &word.text);
    }
}

/// Words of a test that may turn out to be its operators: `-v` evaluates an index.
fn operators(walker: &mut Walker, arguments: &[Word]) {
    for (at, word) in arguments.iter().enumerate() {
        if word.literal.is_some() {
            continue;
        }
        let next = arguments.get(at + 1).filter(|next| !next.is("]"));
        let compared = next.is_none_or(|next| {
            let sign = next.literal().unwrap_or_default();
            is_comparison(sign)
                || matches!(
                    sign,
                    "=" | "==" | "!=" | "<" | ">" | "-a" | "-o" | "-nt" | "-ot" | "-ef" | ")"
                )
        });
        if (word.may_be_many() || !compared) && may_be_option(word) {
            // A number is no operator.
            walker.numbers.evaluates_word(word);
        }
    }
}

/// The operands of `[[ … ]]`: `-eq` and its like evaluate both sides, `-v` its index.
pub(in crate::facts) fn compared(walker: &mut Walker, texts: &[Text], words: &[Word]) {
    for (at, word) in words.iter().enumerate() {
        match word.literal() {
            Some("-v" | "-R") => {
                if let Some(name) = words.get(at + 1) {
                    index_of(walker, name);
                }
            }
            Some("-t") if walker.kind != ShellKind::Bash => {
                if let Some(number) = texts.get(at + 1) {
                    walker.hidden(&words[at + 1..=at + 1]);
                    walker.numbers.evaluates_text(number);
                }
            }
            Some(sign) if is_comparison(sign) => {
                let sides = [at.checked_sub(1), Some(at + 1)];
                for side in sides.into_iter().flatten() {
                    let Some(text) = texts.get(side) else {
                        continue;
                    };
                    walker.hidden(&words[side..=side]);
                    walker.numbers.evaluates_text(text);
                }
            }
            _ => {}
        }
    }
}

/// Some of the shells that are called `sh` evaluate the operands of `[` as well.
fn comparisons(walker: &mut Walker, words: &[Word]) {
    for (at, word) in words.iter().enumerate() {
        if !word.literal().is_some_and(is_comparison) {
            continue;
        }
        let sides = [at.checked_sub(1), Some(at + 1)];
        for side in sides.into_iter().flatten().filter_map(|at| words.get(at)) {
            walker.numbers.evaluates_word(side);
        }
    }
}

fn is_comparison(sign: &str) -> bool {
    matches!(sign, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}
