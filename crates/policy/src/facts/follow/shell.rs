//! What a shell is given to run: a script in its arguments, a file, or what it reads.

use super::{Followed, program_name, script_text};
use crate::{
    facts::{
        command::Position,
        unclear::Obstacle,
        walk::{Spot, Walker},
        word::Word,
    },
    shell::ShellKind,
};

/// What a shell runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShellInput {
    /// The word at this index.
    Script(usize),
    /// The file named by the word at this index.
    File(usize),
    /// What it reads.
    StandardInput,
    /// It cannot be told.
    Unknown,
}

/// What a shell with these arguments runs.
pub(crate) fn shell_input(words: &[Word]) -> ShellInput {
    let (mut at, mut script, mut reads) = (1, false, false);
    while let Some(word) = words.get(at) {
        let Some(value) = word.literal() else {
            return if script {
                ShellInput::Script(at)
            } else {
                ShellInput::Unknown
            };
        };
        at += 1;
        match value {
            "--" | "-" => break,
            "--login" | "--posix" | "--norc" | "--noprofile" | "--restricted" | "--verbose"
            | "--noediting" | "--debugger" => {}
            "--rcfile" | "--init-file" => return ShellInput::Unknown,
            _ if value.starts_with("--") => return ShellInput::Unknown,
            _ if value.len() > 1 && value.starts_with(['-', '+']) => {
                for letter in value[1..].chars() {
                    match letter {
                        'c' if value.starts_with('-') => script = true,
                        's' => reads = true,
                        'o' | 'O' => at += 1,
                        'a'..='z' | 'A'..='Z' => {}
                        _ => return ShellInput::Unknown,
                    }
                }
            }
            _ => {
                at -= 1;
                break;
            }
        }
    }
    match words.get(at) {
        Some(_) if script => ShellInput::Script(at),
        _ if script => ShellInput::Unknown,
        Some(word) if !reads => match word.literal() {
            Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") => ShellInput::StandardInput,
            _ => ShellInput::File(at),
        },
        _ => ShellInput::StandardInput,
    }
}

/// `sh -c script`, `sh file`, `sh`.
pub(super) fn shell(walker: &mut Walker, words: &[Word], spot: &Spot) -> Followed {
    let kind = ShellKind::of_program(program_name(words)).unwrap_or(ShellKind::Sh);
    match shell_input(words) {
        ShellInput::Script(at) => {
            let script = words[at].clone();
            for (index, word) in words[at + 1..].iter().enumerate() {
                walker.assign(&index.to_string(), word);
            }
            script_text(walker, &script, kind, Position::Script, spot);
            if spot.supplied {
                let text = script.text.clone();
                walker.unclear(Obstacle::SuppliedScript, &text);
            }
            Followed::Through
        }
        ShellInput::Unknown => Followed::Hidden,
        ShellInput::File(_) | ShellInput::StandardInput => Followed::Plain,
    }
}
