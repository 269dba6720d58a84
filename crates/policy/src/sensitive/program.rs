//! Programs that do whatever they are told: by what they read, by their arguments, or by what they
//! bring from elsewhere.

use std::{collections::HashMap, sync::LazyLock};

use crate::shell::ShellKind;

/// What a program does with what it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// It is data.
    Data,
    /// It is run as a program.
    Program,
}

/// Where what a program prints comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This machine.
    Here,
    /// Somebody else.
    Elsewhere,
}

/// How much of a command a rule about it has to name at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// The program.
    Program,
    /// The program and what it works on: the bare name would allow anything.
    Operand,
    /// All of it: what follows decides what it does.
    Whole,
}

/// Programs that mean the same.
#[derive(Debug, PartialEq, Eq)]
pub struct ProgramRow {
    /// What they do with what they read.
    pub input: Input,
    /// Where what they print comes from.
    pub origin: Origin,
    /// How much of a command a rule has to name.
    pub width: Width,
    /// Why.
    pub reason: &'static str,
    /// The names in small letters, with blanks between them. A version may follow: `python3.12`.
    pub names: &'static str,
}

use Input::{Data, Program};
use Origin::{Elsewhere, Here};
use Width::{Operand, Whole};

#[rustfmt::skip]
const TABLE: &[ProgramRow] = &[
    ProgramRow { input: Program, origin: Here, width: Operand, reason: "an interpreter", names: "
        python pypy node nodejs deno bun tsx ts-node perl ruby irb php lua luajit tclsh wish expect osascript rscript r julia groovy scala kotlin jshell ghci runghc
        guile racket sbcl clisp swipl octave erl elixir" },
    ProgramRow { input: Program, origin: Here, width: Operand, reason: "a shell with a language of its own", names: "
        fish csh tcsh elvish nu xonsh pwsh powershell cmd iex invoke-expression" },
    ProgramRow { input: Program, origin: Here, width: Whole, reason: "the shell runs it in its own place", names: "eval" },
    ProgramRow { input: Program, origin: Here, width: Operand, reason: "the shell runs a file in its own place", names: "source ." },
    ProgramRow { input: Program, origin: Here, width: Whole, reason: "it runs what it is given later, or many times", names: "at batch crontab parallel" },
    ProgramRow { input: Program, origin: Here, width: Operand, reason: "its language can run programs", names: "
        gdb lldb ed ex vi vim nvim emacs psql mysql mariadb sqlite3 redis-cli mongosh bc dc m4 make" },
    ProgramRow { input: Data, origin: Here, width: Whole, reason: "its arguments are a program, or say which one to run", names: "
        awk gawk mawk nawk sed gsed find gfind fd xargs exec open xdg-open" },
    ProgramRow { input: Data, origin: Here, width: Operand, reason: "it runs a program of many, or fetches one first", names: "
        java sh go npx uvx pnpx bunx pipx tmux screen" },
    ProgramRow { input: Data, origin: Here, width: Whole, reason: "which files it changes is all that matters", names: "
        rm mv cp ln dd tee install chmod chown chgrp truncate shred kill pkill killall tar zip unzip" },
    ProgramRow { input: Data, origin: Here, width: Operand, reason: "it changes the machine, or what is elsewhere", names: "
        systemctl service launchctl apt apt-get brew dnf yum pacman openssl gpg gcloud kubectl helm terraform tofu ansible ansible-playbook" },
    ProgramRow { input: Data, origin: Elsewhere, width: Whole, reason: "it brings data from elsewhere, or takes it there", names: "
        curl wget wget2 fetch http https xh aria2c axel nc ncat netcat socat telnet ftp lftp sftp scp ssh rsync rclone gsutil tftp invoke-webrequest iwr
        invoke-restmethod irm start-bitstransfer certutil bitsadmin" },
    ProgramRow { input: Data, origin: Elsewhere, width: Operand, reason: "it shows what is elsewhere", names: "lynx w3m links elinks aws az gh dig nslookup host" },
];

/// Every row.
pub fn rows() -> impl Iterator<Item = &'static ProgramRow> {
    TABLE.iter()
}

/// The row of a program of this name, which may end in `.exe` or in a version.
pub(crate) fn row(name: &str) -> Option<&'static ProgramRow> {
    static INDEX: LazyLock<HashMap<&'static str, &'static ProgramRow>> = LazyLock::new(|| {
        let named = |row: &'static ProgramRow| {
            let names = row.names.split_ascii_whitespace();
            names.map(move |name| (name, row))
        };
        TABLE.iter().flat_map(named).collect()
    });
    let lower = name.to_ascii_lowercase();
    let name = lower.strip_suffix(".exe").unwrap_or(&lower);
    let versioned = || {
        let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        INDEX.get(base)
    };
    INDEX.get(name).or_else(versioned).copied()
}

/// Whether a program of this name runs what it reads.
pub(crate) fn interprets(name: &str) -> bool {
    ShellKind::of_program(name).is_some() || row(name).is_some_and(|row| row.input == Program)
}

/// Whether a program of this name brings data from elsewhere.
pub(crate) fn downloads(name: &str) -> bool {
    row(name).is_some_and(|row| row.origin == Elsewhere)
}

/// How much of a command a rule about this program has to name at least.
pub(crate) fn width(name: &str) -> Width {
    if ShellKind::of_program(name).is_some() {
        return Operand;
    }
    row(name).map_or(Width::Program, |row| row.width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_is_there_once_and_means_something() {
        let mut seen = std::collections::HashSet::new();
        for row in rows() {
            assert!(!row.reason.is_empty());
            for name in row.names.split_ascii_whitespace() {
                assert!(seen.insert(name), "{name} stands twice");
                assert_eq!(name, name.to_ascii_lowercase());
                assert_eq!(super::row(name), Some(row), "{name}");
                assert_eq!(interprets(name), row.input == Program || name == "sh");
                assert_eq!(downloads(name), row.origin == Elsewhere);
                assert_ne!(width(name), Width::Program, "{name}");
            }
        }
    }

    #[test]
    fn versions_and_endings_are_seen_through() {
        for (name, expected) in [
            ("python3", true),
            ("python3.12", true),
            ("Python.exe", true),
            ("Rscript", true),
            ("bash", true),
            ("pythonic", false),
            ("cat", false),
        ] {
            assert_eq!(interprets(name), expected, "{name}");
        }
    }
}
