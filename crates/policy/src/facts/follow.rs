//! Following wrappers to what they run, and shells to what they read.

use super::{
    command::{Assignment, Place},
    options::Arguments,
    unclear::Obstacle,
    walk::{Spot, Walker},
    word::{Piece, Word},
    wrapper::{self, Runs, Wrapper},
};
use crate::shell::ShellKind;

/// How many wrappers around one another are seen through.
const MAX_WRAPPERS: u8 = 16;

/// Follows a command that was just noted, if it is a wrapper.
pub(super) fn wrapped(walker: &mut Walker, index: usize, spot: &Spot) {
    let command = &walker.facts.commands[index];
    if command.program().is_none() {
        return;
    }
    let words = command.words.clone();
    let Some(wrapper) = wrapper::find(program_name(&words)) else {
        return;
    };
    if spot.wrapped >= MAX_WRAPPERS {
        return walker.unclear(Obstacle::TooDeep, &words[0].text.clone());
    }
    let inside = Spot {
        via: Some(index),
        wrapped: spot.wrapped + 1,
        ..spot.clone()
    };
    let found = wrapper.options.read(&words[1..]);
    let followed = follow(walker, wrapper, &words, &found, &inside);
    walker.facts.commands[index].wrapper = followed == Followed::Through;
    split_words(walker, index);
    if followed == Followed::Hidden {
        let text = words
            .iter()
            .map(|w| w.text.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        walker.unclear(Obstacle::WrapperOptions, &text);
    }
}

/// A wrapper's own words that the shell splits: what is left over of them is the program, unless
/// they are numbers.
fn split_words(walker: &mut Walker, index: usize) {
    let command = &walker.facts.commands[index];
    if command.wrapper {
        let own = crate::classify::own_words(command).iter();
        for word in own.filter(|word| word.several).cloned().collect::<Vec<_>>() {
            walker.numbers.evaluates_word(&word);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Followed {
    /// It runs nothing else here: an ordinary program.
    Plain,
    Through,
    Hidden,
}

pub(super) fn program_name(words: &[Word]) -> &str {
    super::base_name(words[0].literal().unwrap_or_default())
}

fn follow(
    walker: &mut Walker,
    wrapper: &Wrapper,
    words: &[Word],
    found: &Arguments<'_>,
    spot: &Spot,
) -> Followed {
    let unknown = !found.unknown.is_empty();
    let asks = words
        .get(1)
        .is_some_and(|w| matches!(w.literal(), Some("-v" | "-V" | "-pv" | "-pV")));
    if asks && program_name(words) == "command" {
        return Followed::Plain;
    }
    let only_asks = |w: &Word| w.is("--version") || w.is("--help");
    if words.len() == 2 && only_asks(&words[1]) {
        return Followed::Plain;
    }
    let rest = &words[1 + found.rest..];
    match wrapper.runs {
        Runs::Program { skip } => program(walker, rest, skip, unknown, spot),
        Runs::Assignments => assignments(walker, words, rest, found, spot),
        Runs::Supplied => {
            let spot = Spot {
                supplied: true,
                ..spot.clone()
            };
            program(walker, rest, 0, unknown, &spot)
        }
        Runs::Parallel => parallel(walker, rest, unknown, spot),
        Runs::Joined { skip } => {
            joined(walker, rest.get(skip..).unwrap_or_default(), unknown, spot)
        }
        Runs::Option(names) => {
            let names: Vec<&str> = names.split(' ').collect();
            match found.value(&names) {
                Some(script) => text(walker, &script.clone(), spot),
                None if unknown => Followed::Hidden,
                None => Followed::Plain,
            }
        }
        Runs::Locked => match rest.get(1) {
            Some(flag) if flag.is("-c") || flag.is("--command") => match rest.get(2) {
                Some(script) if !unknown => text(walker, script, spot),
                _ => Followed::Hidden,
            },
            _ => program(walker, rest, 1, unknown, spot),
        },
        Runs::Operand(at) => match rest.get(at) {
            _ if unknown => Followed::Hidden,
            Some(script) if rest.len() > at + 1 && !script.is("-") => text(walker, script, spot),
            _ => Followed::Plain,
        },
        Runs::Shell => shell(walker, words, spot),
        Runs::Find => find(walker, words, spot),
        Runs::Alias => {
            for operand in &found.operands {
                let value = operand.literal().and_then(|w| w.split_once('='));
                match value {
                    Some((_, script)) => _ = text(walker, &Word::of(script), spot),
                    None if operand.literal.is_none() => {
                        walker.unclear(Obstacle::ComputedScript, &operand.text);
                    }
                    None => {}
                }
            }
            Followed::Plain
        }
        Runs::Subcommand(name) => subcommand(walker, words, name, spot),
        Runs::Flagged(flag) if found.has(&[flag]) => program(walker, rest, 0, unknown, spot),
        Runs::Flagged(_) => Followed::Plain,
    }
}

/// A program and its arguments after the wrapper's own operands.
fn program(
    walker: &mut Walker,
    rest: &[Word],
    skip: usize,
    unknown: bool,
    spot: &Spot,
) -> Followed {
    match rest.get(skip..) {
        _ if unknown => Followed::Hidden,
        Some(inner) if !inner.is_empty() => {
            walker.command(inner.to_vec(), Vec::new(), spot);
            Followed::Through
        }
        _ => Followed::Plain,
    }
}

/// `env A=b program`, `sudo A=b program`, `env -S 'program argument'`.
fn assignments(
    walker: &mut Walker,
    words: &[Word],
    rest: &[Word],
    found: &Arguments<'_>,
    spot: &Spot,
) -> Followed {
    if !found.unknown.is_empty() {
        return split_string(walker, words, spot);
    }
    let mut given = Vec::new();
    // A bare `-` is `-i`.
    let mut at = usize::from(rest.first().is_some_and(|word| word.is("-")));
    while let Some(word) = rest.get(at) {
        let Some((name, value)) = word.known_start().split_once('=') else {
            break;
        };
        let mut pieces = vec![Piece::Text(value.to_owned())];
        pieces.extend(word.pieces.iter().skip(1).cloned());
        let value = Word::from_pieces(word.text.clone(), pieces);
        walker.assign(name, &value);
        given.push(Assignment {
            name: name.to_owned(),
            value,
        });
        at += 1;
    }
    if rest.len() == at {
        walker.facts.assignments.extend(given);
        let shell = found.has(&["-s", "-i", "--login", "--shell"]) && program_name(words) == "sudo";
        return if shell {
            Followed::Hidden
        } else {
            Followed::Plain
        };
    }
    let before = walker.directory.clone();
    if let Some(folder) = found.value(&["-C", "-D", "--chdir"]) {
        walker.enter(folder);
    }
    walker.command(rest[at..].to_vec(), given, spot);
    walker.directory = before;
    Followed::Through
}

/// `env -S'…'`: the value is split into words.
fn split_string(walker: &mut Walker, words: &[Word], spot: &Spot) -> Followed {
    if program_name(words) != "env" {
        return Followed::Hidden;
    }
    let Some(at) = words.iter().position(|w| {
        let start = w.known_start();
        start.starts_with("-S") || start.starts_with("-vS") || start.starts_with("--split-string")
    }) else {
        return Followed::Hidden;
    };
    let Some(first) = words[at].literal() else {
        return Followed::Hidden;
    };
    let mut script = first
        .trim_start_matches("--split-string")
        .trim_start_matches("-vS")
        .trim_start_matches("-S")
        .trim_start_matches('=')
        .to_owned();
    for word in &words[at + 1..] {
        let Some(value) = word.literal() else {
            return Followed::Hidden;
        };
        script.push(' ');
        script.push_str(value);
    }
    text(walker, &Word::of(script), spot)
}

/// The rest, joined with blanks, is a script.
fn joined(walker: &mut Walker, rest: &[Word], unknown: bool, spot: &Spot) -> Followed {
    if unknown {
        return Followed::Hidden;
    }
    if rest.is_empty() {
        return Followed::Plain;
    }
    let mut pieces = Vec::new();
    for word in rest {
        if !pieces.is_empty() {
            pieces.push(Piece::Text(" ".into()));
        }
        pieces.extend(word.as_pieces());
    }
    let source = rest
        .iter()
        .map(|w| w.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    text(walker, &Word::from_pieces(source, pieces), spot)
}

/// A word that is a script.
fn text(walker: &mut Walker, script: &Word, spot: &Spot) -> Followed {
    let kind = if walker.kind.is_bourne() {
        walker.kind
    } else {
        ShellKind::Bash
    };
    script_text(walker, script, kind, Place::Script, spot);
    Followed::Through
}

pub(super) fn script_text(
    walker: &mut Walker,
    script: &Word,
    kind: ShellKind,
    place: Place,
    spot: &Spot,
) {
    let spot = Spot {
        place,
        depth: spot.depth + 1,
        ..spot.clone()
    };
    if let Some(literal) = script.literal() {
        if spot.supplied && literal.contains("{}") {
            walker.unclear(Obstacle::SuppliedScript, &script.text);
        }
        walker.text(literal, kind, &spot);
        return;
    }
    walker.unclear(Obstacle::ComputedScript, &script.text);
    let spot = Spot {
        supposed: true,
        ..spot
    };
    for words in script.supposed(4) {
        let parts: Option<Vec<&str>> = words.iter().map(Word::literal).collect();
        if let Some(parts) = parts {
            walker.text(&parts.join(" "), kind, &spot);
        }
    }
}

/// `sh -c script`, `sh file`, `sh`.
fn shell(walker: &mut Walker, words: &[Word], spot: &Spot) -> Followed {
    let kind = ShellKind::of_program(program_name(words)).unwrap_or(ShellKind::Sh);
    match shell_input(words) {
        ShellInput::Script(at) => {
            let script = words[at].clone();
            for (index, word) in words[at + 1..].iter().enumerate() {
                walker.assign(&index.to_string(), word);
            }
            script_text(walker, &script, kind, Place::Script, spot);
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

/// The folders that `find` starts from; options may stand before them.
pub(crate) fn find_starts(words: &[Word]) -> Vec<&Word> {
    let is_early = |word: &&Word| {
        let start = word.known_start();
        matches!(start, "-H" | "-L" | "-P" | "-E" | "-X" | "-s" | "-x" | "-d")
            || start.starts_with("-O")
    };
    let rest = words.iter().skip(1).skip_while(is_early);
    rest.take_while(|word| !word.known_start().starts_with(['-', '(', '!']))
        .collect()
}

/// `find … -exec program {} \;`.
fn find(walker: &mut Walker, words: &[Word], spot: &Spot) -> Followed {
    let starts: Vec<Word> = find_starts(words).into_iter().cloned().collect();
    let (mut at, mut followed) = (1, Followed::Plain);
    while at < words.len() {
        let runs = words[at]
            .literal()
            .is_some_and(|w| matches!(w, "-exec" | "-execdir" | "-ok" | "-okdir"));
        let elsewhere = words[at].is("-execdir") || words[at].is("-okdir");
        at += 1;
        if !runs {
            continue;
        }
        let outside = walker.directory.clone();
        walker.directory.unknown |= elsewhere;
        let from = at;
        while at < words.len()
            && !words[at].is(";")
            && !(words[at].is("+") && words[at - 1].is("{}"))
        {
            at += 1;
        }
        let inner: Vec<Word> = words[from..at].iter().map(supplied_braces).collect();
        let spot = Spot {
            supplied: true,
            ..spot.clone()
        };
        if inner.is_empty() {
            return Followed::Hidden;
        }
        walker.command(inner, Vec::new(), &spot);
        for start in &starts {
            let variant = words[from..at]
                .iter()
                .map(|w| if w.is("{}") { start.clone() } else { w.clone() });
            walker.command(
                variant.collect(),
                Vec::new(),
                &Spot {
                    supposed: true,
                    ..spot.clone()
                },
            );
        }
        walker.directory = outside;
        followed = Followed::Through;
    }
    followed
}

/// A word in which `{}` stands for what `find` or `xargs` supplies.
fn supplied_braces(word: &Word) -> Word {
    match word.literal() {
        Some(value) if value.contains("{}") && !value.contains(' ') => {
            let mut pieces = Vec::new();
            for (index, part) in value.split("{}").enumerate() {
                if index > 0 {
                    pieces.push(Piece::Supplied);
                }
                pieces.push(Piece::Text(part.to_owned()));
            }
            Word::from_pieces(word.text.clone(), pieces)
        }
        _ => word.clone(),
    }
}

/// `parallel program ::: arguments`; the program may also be one word that holds a script.
fn parallel(walker: &mut Walker, rest: &[Word], unknown: bool, spot: &Spot) -> Followed {
    let end = rest
        .iter()
        .position(|w| w.known_start().starts_with(":::"))
        .unwrap_or(rest.len());
    let spot = Spot {
        supplied: true,
        ..spot.clone()
    };
    match &rest[..end] {
        _ if unknown => Followed::Hidden,
        [] => {
            walker.unclear(Obstacle::SuppliedScript, "parallel");
            Followed::Through
        }
        [script] if script.literal().is_none_or(|w| w.contains(' ')) => text(walker, script, &spot),
        inner => joined(walker, inner, false, &spot),
    }
}

/// `uv run program`.
fn subcommand(walker: &mut Walker, words: &[Word], name: &str, spot: &Spot) -> Followed {
    let Some(at) = words.iter().position(|w| w.is(name)) else {
        return Followed::Plain;
    };
    if at != 1 {
        return Followed::Plain;
    }
    match words.get(at + 1) {
        Some(first) if first.literal().is_some_and(|w| !w.starts_with('-')) => {
            walker.command(words[at + 1..].to_vec(), Vec::new(), spot);
            Followed::Through
        }
        Some(_) => Followed::Hidden,
        None => Followed::Plain,
    }
}
