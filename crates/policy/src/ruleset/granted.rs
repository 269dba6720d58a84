//! What rules grant to a text of several commands. They share one fence, and nobody was asked whether what stands beside a command
//! may have what was granted to it: so what counts is what every one of them was granted.

use super::RuleDecision;
use super::command::Cover;
use crate::facts::{Facts, SimpleCommand, Word};
use crate::rule::{Fence, Grant};

/// Builtins that reach nothing and start nothing, and so get nothing from what is granted beside them.
#[rustfmt::skip]
const IDLE: &[&str] = &[
    "cd", "echo", "printf", "true", "false", ":", "test", "[", "pwd", "exit", "sleep", "set", "wait",
];
/// Programs that read what is piped to them and nothing else, as long as no file is named.
const FILTERS: &[&str] = &["cat", "head", "tail", "wc", "uniq"];

/// What is granted to every command of a text, and to every file that the shell opens for one of them. `opened` is which rule
/// about paths allows each redirection.
pub(super) fn granted_to_all(
    facts: &Facts,
    covered: &[Option<Cover<'_>>],
    opened: &[Option<RuleDecision>],
) -> Grant {
    let mut common = Common::default();
    let mut doing = 0;
    for (index, command) in facts.commands.iter().enumerate() {
        let just_runs_another = runs_another(index, facts);
        doing += usize::from(!command.supposed && !just_runs_another);
        match covered[index] {
            _ if command.supposed => {}
            Some(cover) => common.add(cover.grant),
            None if just_runs_another || gets_nothing(command) => {}
            None => return Grant::default(),
        }
    }
    for (redirection, allowed) in facts.redirections.iter().zip(opened) {
        match allowed {
            _ if redirection.target.literal() == Some("/dev/null") => {}
            Some(rule) if !rule.grant.is_plain() => common.add(&rule.grant),
            // A file that the shell opens for one command is opened with what was granted to another.
            _ if doing > 1 => return Grant::default(),
            _ => {}
        }
    }
    let mut common = common.0.unwrap_or_default();
    common.fence = Fence::Fenced;
    common
}

/// What is granted to all so far; nothing as long as there was nobody.
#[derive(Default)]
struct Common(Option<Grant>);

impl Common {
    fn add(&mut self, granted: &Grant) {
        match &mut self.0 {
            Some(common) => common.keep_common(granted),
            None => self.0 = Some(granted.clone()),
        }
    }
}

/// Whether a command has to be granted what its text is to have.
pub(crate) fn needs_a_grant(index: usize, facts: &Facts) -> bool {
    let command = &facts.commands[index];
    !command.supposed && !runs_another(index, facts) && !gets_nothing(command)
}

/// Whether a command does nothing but run another one of the text.
fn runs_another(index: usize, facts: &Facts) -> bool {
    let is_run_by_it = |other: &SimpleCommand| other.via == Some(index);
    facts.commands[index].wrapper && facts.commands.iter().any(is_run_by_it)
}

/// Whether a command has no use for anything that is granted beside it.
fn gets_nothing(command: &SimpleCommand) -> bool {
    let Some(program) = command.program() else {
        return false;
    };
    IDLE.contains(&program) || FILTERS.contains(&program) && names_no_file(command)
}

fn names_no_file(command: &SimpleCommand) -> bool {
    let is_no_file = |word: &Word| {
        let text = word.literal().unwrap_or("/");
        let option = text.starts_with('-') && !text.contains(['/', '=', '~']);
        option || !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    command.words[1..].iter().all(is_no_file)
}
