//! What may leave the fence without a question: one literal command, and nothing else.
//!
//! A rule or a remembered approval that leaves the fence was given for what somebody saw. Whatever
//! the shell puts in its place at run time (a variable, a pattern, an alias, what stands beside it)
//! nobody saw, so it is asked about again.

use crate::action::RunCommand;
use crate::facts::Facts;
use crate::remembered::understood;

/// Whether a grant that leaves the fence covers a command with these facts.
pub fn covers(facts: &Facts) -> bool {
    facts.one_literal_command().is_some()
}

/// Whether a yes to leaving the fence may be remembered for a command, or used again.
pub fn may_be_remembered(command: &RunCommand) -> bool {
    covers(&understood(command))
}
