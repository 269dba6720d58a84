//! What it means to set a variable: for the shell itself, or for the programs that it starts.
//!
//! The shell gives a meaning to some names. A program may give one to any name, so that only those
//! that are known to be harmless are harmless in front of one. Which these are is in
//! [`sensitive::variable`](crate::sensitive::variable).

use super::{Class, Findings, path::spread};
use crate::{
    facts::{Assignment, Directory, Word},
    ground::Ground,
    sensitive::variable,
};

/// Who sees a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The shell alone.
    Shell,
    /// Programs as well.
    Programs,
}

/// What a variable is judged with.
pub(super) struct Setting<'s> {
    pub(super) seen: Seen,
    /// Whether a part of the text is read by Zsh, which has names of its own.
    pub(super) zsh: bool,
    pub(super) directory: &'s Directory,
    pub(super) ground: &'s Ground,
}

/// Parameters by which Zsh is told what names mean and what to run.
const ZSH_MEANINGS: &[&str] = &[
    "functions",
    "aliases",
    "galiases",
    "saliases",
    "commands",
    "builtins",
    "options",
    "parameters",
    "modules",
    "path",
    "fpath",
    "cdpath",
    "module_path",
    "FPATH",
    "MODULE_PATH",
    "NULLCMD",
    "READNULLCMD",
    "chpwd_functions",
    "precmd_functions",
    "preexec_functions",
    "periodic_functions",
    "zshexit_functions",
    "zshaddhistory_functions",
    "nameddirs",
    "userdirs",
    "dirstack",
    "prompt",
    "PROMPT",
    "RPROMPT",
    "TIMEFMT",
];

/// Judges a variable that gets a value.
pub(super) fn judge(assignment: &Assignment, setting: &Setting<'_>, findings: &mut Findings) {
    let name = assignment.name.as_str();
    let text = format!("{name}={}", assignment.value.text);
    if name == "PYTHONPATH" {
        return modules(assignment, setting, &text, findings);
    }
    let steers_zsh = setting.zsh && (ZSH_MEANINGS.contains(&name) || name.starts_with("dis_"));
    let meant = match variable::row(name).map(|row| row.setting) {
        _ if steers_zsh => variable::Setting::Asked,
        meant => meant.unwrap_or(variable::Setting::Unknown),
    };
    match meant {
        variable::Setting::Refused => {
            let why = "it tampers with the shell's history";
            findings.add(Class::Dangerous, &text, why);
        }
        variable::Setting::Asked => {
            let why = format!("{name} makes programs load or run something else");
            findings.add(Class::Suspicious, &text, why);
        }
        variable::Setting::Harmless if is_plain(&assignment.value) => {}
        variable::Setting::Harmless | variable::Setting::Unknown => {
            if setting.seen == Seen::Programs {
                let why = format!("what {name} makes a program do is not known");
                findings.add(Class::Unknown, &text, why);
            }
        }
    }
}

/// A value that names no file and no command.
fn is_plain(value: &Word) -> bool {
    value.literal().is_some_and(|value| {
        let letter = |c: char| c.is_ascii_alphanumeric() || "_.,:=@%+*/-".contains(c);
        value.chars().all(letter) && !value.starts_with(['/', ':']) && !value.contains("..")
    })
}

/// Modules of the workspace are what its own programs load anyway.
fn modules(assignment: &Assignment, setting: &Setting<'_>, text: &str, findings: &mut Findings) {
    let inside = assignment.value.literal().is_some_and(|folders| {
        folders.split(':').all(|folder| {
            let place = spread(&Word::of(folder), setting.directory, setting.ground);
            place.is_in(&setting.ground.workspace)
        })
    });
    if inside {
        let why = "python loads modules of the workspace";
        return findings.add(Class::Safe, text, why);
    }
    findings.add(
        Class::Suspicious,
        text,
        "PYTHONPATH makes programs load or run something else",
    );
}
