//! Programs that take orders from whoever types into them.

use super::{Class, Classification, Reason, part::shown};
use crate::facts::{Facts, SimpleCommand, base_name};

/// Readers whose keys run programs or write files.
const TAKES_KEYS: &[&str] = &[
    "less", "more", "most", "man", "info", "top", "htop", "btop", "bat", "batcat",
];

/// The class of a command whose terminal somebody else types into.
pub(crate) fn on_a_terminal(facts: &Facts, mut found: Classification) -> Classification {
    let typed_into = |command: &&SimpleCommand| {
        let name = command.program().map(base_name).unwrap_or_default();
        TAKES_KEYS.contains(&name) && reaches_the_terminal(command, facts)
    };
    if let Some(command) = facts.commands.iter().find(typed_into) {
        found.reasons.push(Reason {
            part: shown(command),
            class: Class::Unknown,
            why: "on a terminal its keys run programs and write files".to_owned(),
            whole: true,
        });
        found.class = found.class.max(Class::Unknown);
        found
            .reasons
            .sort_by_key(|reason| std::cmp::Reverse(reason.class));
    }
    found
}

/// Whether its output goes to the terminal, rather than into a pipe or a file.
fn reaches_the_terminal(command: &SimpleCommand, facts: &Facts) -> bool {
    let piped = facts.commands.iter().any(|other| command.feeds(other));
    let mut written = facts.redirections.iter().filter(|r| r.direction.writes());
    let redirected = written.any(|redirection| {
        redirection
            .command
            .and_then(|at| facts.commands.get(at))
            .is_some_and(|own| std::ptr::eq(own, command))
    });
    !piped && !redirected
}
