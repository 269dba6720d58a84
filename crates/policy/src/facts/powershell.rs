//! `PowerShell`: literal pipelines only.

use super::{
    Facts,
    windows::{Dialect, read},
};
use crate::shell::ShellKind;

static DIALECT: Dialect = Dialect {
    kind: ShellKind::PowerShell,
    refuses: "$`(){}@&#[]%!^*?\n\r\u{2018}\u{2019}\u{201c}\u{201d}\u{2013}\u{2014}\u{2015}",
    quotes: "'\"",
    refuses_quoted: "$`",
    separators: &["&&", "||", "|", ";"],
};

/// Facts about a `PowerShell` text.
pub(super) fn understand(text: &str) -> Facts {
    read(text, &DIALECT)
}
