//! A command as it was asked for, and the vector that the kernel will be given.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::shell::ShellKind;

/// A shell on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shell {
    /// Which language it speaks.
    pub kind: ShellKind,
    /// Where it is.
    pub path: PathBuf,
}

/// Whether a shell reads the user's profile first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// A login shell: the profile is read.
    Login,
    /// The profile is left alone.
    Plain,
}

/// A command as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandLine {
    /// A program and its arguments, used as they are.
    Argv(Vec<String>),
    /// Text for a shell.
    Shell {
        /// The shell.
        shell: Shell,
        /// What it shall do.
        text: String,
        /// Whether it reads the profile.
        profile: Profile,
    },
}

impl Shell {
    /// The vector that makes this shell run the text.
    pub fn argv(&self, text: &str, profile: Profile) -> Vec<String> {
        let path = self.path.to_string_lossy().into_owned();
        let words = match (self.kind, profile) {
            (ShellKind::Bash | ShellKind::Zsh | ShellKind::Sh, Profile::Login) => {
                [vec!["-lc"], in_arguments(text)].concat()
            }
            (ShellKind::Bash | ShellKind::Zsh | ShellKind::Sh, Profile::Plain) => {
                [vec!["-c"], in_arguments(text)].concat()
            }
            (ShellKind::PowerShell, Profile::Login) => vec!["-Command", text],
            (ShellKind::PowerShell, Profile::Plain) => vec!["-NoProfile", "-Command", text],
            (ShellKind::Cmd, _) => vec!["/c", text],
        };
        std::iter::once(path)
            .chain(words.into_iter().map(str::to_owned))
            .collect()
    }
}

/// A text as arguments of `-c`. The kernel takes none longer than 128 KiB: a longer text comes in
/// pieces, which the shell puts together and evaluates as if it had been given the whole.
fn in_arguments(text: &str) -> Vec<&str> {
    const LONGEST: usize = 96 * 1024;
    const TOGETHER: &str = r#"IFS=; eval "unset IFS; set --; $*""#;
    if text.len() <= LONGEST {
        return vec![text];
    }
    let mut words = vec![TOGETHER, "sh"];
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(LONGEST));
        words.push(piece);
        rest = after;
    }
    words
}

impl CommandLine {
    /// The vector that the kernel is given.
    pub fn argv(&self) -> Vec<String> {
        match self {
            Self::Argv(argv) => argv.clone(),
            Self::Shell {
                shell,
                text,
                profile,
            } => shell.argv(text, *profile),
        }
    }

    /// The command for a person to read.
    pub fn display(&self) -> String {
        match self {
            Self::Shell { text, .. } => text.clone(),
            Self::Argv(argv) => argv
                .iter()
                .map(|word| quoted(word))
                .collect::<Vec<_>>()
                .join(" "),
        }
    }
}

/// A word as one would type it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_are_given_their_own_flags() {
        for (kind, path, profile, expected) in [
            (
                ShellKind::Bash,
                "/bin/bash",
                Profile::Login,
                "/bin/bash -lc X",
            ),
            (ShellKind::Zsh, "/bin/zsh", Profile::Plain, "/bin/zsh -c X"),
            (ShellKind::Sh, "/bin/sh", Profile::Login, "/bin/sh -lc X"),
            (
                ShellKind::PowerShell,
                "pwsh",
                Profile::Login,
                "pwsh -Command X",
            ),
            (
                ShellKind::PowerShell,
                "pwsh",
                Profile::Plain,
                "pwsh -NoProfile -Command X",
            ),
            (ShellKind::Cmd, "cmd.exe", Profile::Login, "cmd.exe /c X"),
        ] {
            let shell = Shell {
                kind,
                path: path.into(),
            };
            assert_eq!(shell.argv("X", profile).join(" "), expected);
        }
    }

    #[test]
    fn words_are_shown_as_one_would_type_them() {
        let line = CommandLine::Argv(["echo", "a b", "it's", ""].map(String::from).into());
        assert_eq!(line.display(), r"echo 'a b' 'it'\''s' ''");
    }
}
