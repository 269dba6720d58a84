//! What git does by where it runs and by the words it is given: another folder has other settings,
//! and those name programs.

use super::{
    Class, Findings,
    part::Case,
    path::{Spread, spread},
    table::{Options, Tool},
};
use crate::facts::{Piece, Word, options::Arguments};

const LOST: &str = "it throws work away that nothing brings back";

/// Looks at the folder that git is run in. Only the repository at the top of the workspace has
/// settings that the fence protects.
pub(super) fn folder(case: &Case<'_>, tool: &Tool, findings: &mut Findings) {
    let command = case.command;
    let climbs = |word: &Word| word.known_text().contains("..");
    let here = spread(&Word::of("."), &command.directory, case.ground);
    let mut top = is_top(&here, case);
    top &= !command.directory.chains.iter().flatten().any(climbs);
    if let Options::Known(grammar) = tool.options {
        let found = grammar.read(&case.words[1..]);
        let named = found.options.iter().filter(|(name, _)| name == "-C");
        for folder in named.filter_map(|(_, value)| value.as_ref()) {
            let there = spread(folder, &command.directory, case.ground);
            top &= folder.literal.is_some() && !climbs(folder) && is_top(&there, case);
        }
    }
    let signed = |word: &Word| {
        let (start, text) = (word.known_start(), word.known_text());
        let format = start.starts_with("--format") || start.starts_with("--pretty");
        (format && word.literal.is_none()) || text.contains("%G") || text.contains("%(signature")
    };
    if case.words.iter().any(signed) {
        let why = "it checks signatures with another program";
        findings.add(Class::Unknown, case.text, why);
    }
    if !top {
        let why = "git follows the settings of the folder it runs in, and this is not the workspace's top";
        findings.add(Class::Unknown, case.text, why);
    }
}

fn is_top(place: &Spread, case: &Case<'_>) -> bool {
    let top = |path: &std::path::PathBuf| *path == case.ground.workspace;
    place
        .fixed()
        .is_some_and(|paths| !paths.is_empty() && paths.iter().all(top))
}

/// `git checkout`: a branch, or files whose changes are thrown away.
pub(super) fn checked_out(case: &Case<'_>, found: &Arguments<'_>, findings: &mut Findings) {
    let after_dashes = case.words.iter().skip_while(|word| !word.is("--")).nth(1);
    let files = match found.operands.as_slice() {
        _ if after_dashes.is_some() => true,
        [] => false,
        [one] => is_file(one),
        _ => !found.has(&["-b", "-B", "--orphan", "-t", "--track"]),
    };
    if files {
        findings.add(Class::Suspicious, case.text, LOST);
    }
}

/// Whether a word is rather a file than a branch.
fn is_file(word: &Word) -> bool {
    let Some(name) = word.literal() else {
        return word
            .pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Glob(_)));
    };
    matches!(name, "." | ".." | ":/")
        || name.starts_with("./")
        || name.starts_with("../")
        || name.ends_with('/')
        || super::loss::named_like_source(word)
}

/// Whether `git config` with these words only asks.
pub(super) fn only_asks(found: &Arguments<'_>) -> bool {
    const ASKING: &[&str] = &[
        "--get",
        "--get-all",
        "--get-regexp",
        "--list",
        "-l",
        "--get-urlmatch",
        "--get-color",
    ];
    const HARMLESS: &[&str] = &[
        "--show-origin",
        "--show-scope",
        "--show-names",
        "--name-only",
        "--all",
        "--regexp",
        "--value",
        "--fixed-value",
        "--url",
        "--global",
        "--local",
        "--system",
        "--worktree",
        "--null",
        "-z",
        "--type",
        "--includes",
        "--no-includes",
        "--bool",
        "--int",
        "--path",
        "--default",
    ];
    let words: Vec<Option<&str>> = found.operands.iter().map(|word| word.literal()).collect();
    let asks = match words.as_slice() {
        _ if found.has(ASKING) => true,
        [Some("get" | "list"), ..] => true,
        [Some(name)] => name.contains('.'),
        _ => false,
    };
    let mut options = found.options.iter().map(|(name, _)| name.as_str());
    let harmless = options.all(|name| ASKING.contains(&name) || HARMLESS.contains(&name));
    asks && harmless && found.unknown.is_empty() && !found.open
}

/// `git config` that changes settings.
pub(super) fn setting(case: &Case<'_>, found: &Arguments<'_>, findings: &mut Findings) {
    if found.operands.len() > 1 || found.operands.iter().any(|word| word.literal.is_none()) {
        let why = "it changes settings, which can name programs";
        findings.add(Class::Suspicious, case.text, why);
    }
    if found.has(&["--global", "--system"]) {
        let why = "it uses settings outside the repository";
        findings.add(Class::Suspicious, case.text, why);
    }
}
