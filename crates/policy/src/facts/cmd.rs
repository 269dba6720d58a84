//! The Windows command processor: literal pipelines only.

use super::{
    Facts,
    windows::{Dialect, read},
};
use crate::shell::ShellKind;

static DIALECT: Dialect = Dialect {
    kind: ShellKind::Cmd,
    refuses: "%^!()@,;=`\n\r*?",
    quotes: "\"",
    refuses_quoted: "%!^",
    separators: &["&&", "||", "|", "&"],
};

/// Facts about a `cmd` text.
pub(super) fn understand(text: &str) -> Facts {
    read(text, &DIALECT)
}
