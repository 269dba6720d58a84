//! What a redirection does to the file that it names.

use crate::{
    classify::{
        Class, Findings,
        path::{self, spread},
        touch,
    },
    facts::{Direction, Redirection},
    ground::Ground,
};

/// What a redirection does.
pub(in crate::classify) fn judge_redirection(
    redirection: &Redirection,
    ground: &Ground,
    findings: &mut Findings,
) {
    let sign = match redirection.direction {
        Direction::Read => "<",
        Direction::Write => ">",
        Direction::Append => ">>",
        Direction::ReadWrite => "<>",
    };
    let text = format!("{sign} {}", redirection.target.text);
    if path::is_unc(&redirection.target) && redirection.target.text.starts_with('\\') {
        return findings.whole(Class::Dangerous, &text, "it uses a Windows network path");
    }
    for word in redirection
        .target
        .supposed(4)
        .into_iter()
        .flatten()
        .chain([redirection.target.clone()])
    {
        let spread = spread(&word, &redirection.directory, ground);
        let (class, why) = if redirection.direction.writes() {
            touch::writing(&spread, ground)
        } else {
            touch::reading(&spread, ground)
        };
        if class > Class::ReadOnly {
            findings.add(class, &text, why);
        }
    }
}
