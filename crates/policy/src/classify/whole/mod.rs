//! Dangers of the whole: no part alone shows them, and no rule about a part lifts them.

mod download;
mod multiplying;
mod written;

use super::{Class, Findings, part::shown};
use crate::{
    facts::{Facts, SimpleCommand, base_name},
    ground::Ground,
    sensitive::program,
};

/// Looks at the whole of a command.
pub(in crate::classify) fn judge(facts: &Facts, ground: &Ground, findings: &mut Findings) {
    let sources: Vec<&SimpleCommand> = facts
        .commands
        .iter()
        .filter(|command| downloads(command))
        .collect();
    if !sources.is_empty() {
        for runner in facts.commands.iter().filter(|command| interprets(command)) {
            download::downloaded(facts, &sources, runner, findings);
        }
    }
    for shell in facts
        .commands
        .iter()
        .filter(|c| c.reads_script() && c.stage > 0)
    {
        findings.whole(
            Class::Suspicious,
            &shown(shell),
            "a shell runs what another program prints",
        );
    }
    crate::classify::loss::judge(facts, ground, findings);
    written::written_and_run(facts, findings);
    download::saved_and_run(facts, findings);
    multiplying::multiplying(facts, findings);
}

fn lower_name(command: &SimpleCommand) -> String {
    let name = base_name(command.program().unwrap_or_default()).to_ascii_lowercase();
    name.strip_suffix(".exe").map(str::to_owned).unwrap_or(name)
}

fn downloads(command: &SimpleCommand) -> bool {
    program::downloads(&lower_name(command))
}

fn interprets(command: &SimpleCommand) -> bool {
    program::interprets(&lower_name(command))
}
