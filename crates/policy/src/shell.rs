//! The shells whose command text is understood.
//!
//! A [`ShellKind`] names a family of shells; it says nothing about where the program lives or
//! whether it is installed.

use serde::{Deserialize, Serialize};

/// A family of shells that share one command language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShellKind {
    /// GNU Bash.
    Bash,
    /// The Z shell, read with Bash's grammar; what differs is not understood.
    Zsh,
    /// A POSIX shell: `sh`, `dash`, `ash`, `ksh`.
    Sh,
    /// Windows `PowerShell` and `pwsh`.
    PowerShell,
    /// The Windows command processor.
    Cmd,
}

impl ShellKind {
    /// The family of the shell program with this name or path, if it is one.
    pub fn of_program(program: &str) -> Option<Self> {
        let base = program.rsplit(['/', '\\']).next().unwrap_or(program);
        let lower = base.to_ascii_lowercase();
        let stem = lower.strip_suffix(".exe").unwrap_or(&lower);
        Some(match stem.strip_prefix('-').unwrap_or(stem) {
            "bash" | "rbash" => Self::Bash,
            "zsh" | "rzsh" => Self::Zsh,
            "sh" | "dash" | "ash" | "ksh" | "mksh" | "ksh93" | "yash" | "posh" => Self::Sh,
            "pwsh" | "powershell" => Self::PowerShell,
            "cmd" => Self::Cmd,
            _ => return None,
        })
    }

    /// Whether the language is a relative of the Bourne shell.
    pub fn is_bourne(self) -> bool {
        matches!(self, Self::Bash | Self::Zsh | Self::Sh)
    }
}
