//! Functions and scripts that start themselves again and again.

use crate::{
    classify::{Class, Findings, part::shown},
    facts::{Facts, Piece},
};

/// Functions and scripts that start themselves again and again.
pub(super) fn multiplying(facts: &Facts, findings: &mut Findings) {
    for function in &facts.functions {
        if function.multiplies && reaches(facts, &function.name, &function.name, 0) {
            findings.whole(
                Class::Dangerous,
                &function.name,
                "a function that starts itself again and again (a fork bomb)",
            );
        }
    }
    for command in &facts.commands {
        let itself = matches!(command.words.first().map(|w| w.pieces.as_slice()), Some([Piece::Parameter { name, .. }]) if name == "0");
        if itself && (command.background || command.stage > 0) {
            findings.whole(
                Class::Dangerous,
                &shown(command),
                "a script that starts itself again and again (a fork bomb)",
            );
        }
    }
}

fn reaches(facts: &Facts, from: &str, to: &str, depth: u8) -> bool {
    let Some(function) = facts.functions.iter().find(|f| f.name == from) else {
        return false;
    };
    function.calls.iter().any(|call| {
        call == to || (depth < 4 && call != from && reaches(facts, call, to, depth + 1))
    })
}
