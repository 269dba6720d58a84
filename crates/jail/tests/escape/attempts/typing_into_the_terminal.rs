//! `TIOCSTI` types into the terminal.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "typing_into_the_terminal",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::ProbeOnTerminal("type_into_terminal"),
    escaped: |_, done| done.code == 0,
    twin: Deed::ProbeOnTerminal("terminal_works"),
    worked: |_, done| done.text.contains("TERMINAL"),
};
