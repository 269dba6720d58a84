//! Uses of a program that are better than the program: a dry run, its version, a server on this
//! machine, a tool of the project.

use super::{
    Class, Findings, git,
    part::Case,
    table::{Mode, Operands, Options, Tool},
    tables,
};
use crate::facts::{
    SimpleCommand, Word, base_name,
    options::{Grammar, Style},
};

/// Whether a command asks a program for its version or its usage, and for nothing else.
pub(super) fn prints_version(command: &SimpleCommand) -> bool {
    let asks = |word: &Word| word.is("--version") || word.is("--help") || word.is("-V");
    let [program, word] = command.words.as_slice() else {
        return false;
    };
    // A shell's or a finder's own name for it may be anything; `find -V` is a mistake.
    let known = |name: &str| tables::find(name).is_some_and(|tool| tool.class == Class::ReadOnly);
    asks(word)
        && !command.supplied
        && !program
            .literal()
            .is_some_and(|program| known(base_name(program)))
}

/// What a command is if it is better than its program.
pub(super) fn better(
    case: &Case<'_>,
    tool: &Tool,
    words: &[Word],
    findings: &mut Findings,
) -> Option<(Class, &'static str)> {
    let mode = tool.modes.iter().find(|mode| is_in(mode, case, words));
    if let Some(mode) = mode {
        return Some((mode.class, mode.why));
    }
    if let (Operands::Setting, Options::Known(grammar)) = (tool.operands, tool.options)
        && git::only_asks(&grammar.read(words))
    {
        return Some((Class::ReadOnly, "it prints settings"));
    }
    if tool.is_named("curl") {
        return on_this_machine(case, words, findings);
    }
    if tool.is_named("tar") {
        return lists_an_archive(case, words);
    }
    if tool.is_named("npx") {
        return of_the_project(words);
    }
    None
}

fn is_in(mode: &Mode, case: &Case<'_>, words: &[Word]) -> bool {
    let found = mode.options.read(words);
    let asked = mode.asks.split(' ').any(|name| found.has(&[name]));
    asked && found.unknown.is_empty() && !found.open && !case.command.supplied
}

/// Listing an archive of this machine. A colon in its name would make it one of another machine.
fn lists_an_archive(case: &Case<'_>, words: &[Word]) -> Option<(Class, &'static str)> {
    const TAR: Grammar = Grammar {
        options: "-a -f: -j -J -t -v -z --auto-compress --bzip2 --file= --gzip --list --verbose --wildcards --xz --zstd",
        style: Style::Gnu,
    };
    let found = TAR.read(words);
    let local = |word: &Word| word.literal().is_some_and(|file| !file.contains(':'));
    let file = found.value(&["-f", "--file"])?;
    case.read_only_of(file)?;
    let lists = found.has(&["-t", "--list"]) && local(file) && found.unknown.is_empty();
    (lists && !found.open && !case.command.supplied).then_some((Class::Safe, "it lists an archive"))
}

/// Options of curl that change nothing about whom it talks to, and read no file.
const CURL: Grammar = Grammar {
    options: "-0 -4 -6 -A: -d: -e: -f -g -G -H: -i -I -k -m: -N -o: -s -S -u: -v -w: -X: --compressed --connect-timeout= --data= --data-raw= --data-urlencode= --fail --fail-with-body --get --globoff \
        --head --header= --http1.1 --http2 --include --insecure --ipv4 --ipv6 --json= --max-time= --no-buffer --no-progress-meter --output= --referer= --request= --retry= --retry-all-errors --retry-connrefused --retry-delay= \
        --retry-max-time= --show-error --silent --user= --user-agent= --verbose --write-out=",
    style: Style::Gnu,
};

/// A request to a server on this machine.
fn on_this_machine(
    case: &Case<'_>,
    words: &[Word],
    findings: &mut Findings,
) -> Option<(Class, &'static str)> {
    let found = CURL.read(words);
    let reads_file = |value: &Option<Word>| {
        let start = value.as_ref().map(Word::known_start);
        start.is_some_and(|start| start.starts_with('@') || start.is_empty())
    };
    let sends = found.options.iter().any(|(name, value)| {
        value.is_some() && !matches!(name.as_str(), "-o" | "--output") && reads_file(value)
    });
    let local = |word: &&Word| word.literal().is_some_and(is_loopback);
    let all_local = !found.operands.is_empty() && found.operands.iter().all(local);
    if !all_local || sends || !found.unknown.is_empty() || case.command.supplied {
        return None;
    }
    let outputs = found
        .options
        .iter()
        .filter(|(name, _)| matches!(name.as_str(), "-o" | "--output"));
    for (_, value) in outputs {
        case.write(value.as_ref()?, findings);
    }
    Some((Class::Safe, "it talks to a server on this machine"))
}

/// Whether an address certainly names this machine.
fn is_loopback(url: &str) -> bool {
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"))
        .unwrap_or(url);
    let plain = |c: char| c.is_ascii_alphanumeric() || ".:/?=&%_~+,[]-".contains(c);
    if !rest.chars().all(plain) || rest.contains("//") {
        return false;
    }
    let host = match rest.strip_prefix("[::1]") {
        Some(after) if after.is_empty() || after.starts_with([':', '/', '?']) => return true,
        _ => rest.split([':', '/', '?']).next().unwrap_or_default(),
    };
    let numbers: Option<Vec<u8>> = host.split('.').map(|part| part.parse().ok()).collect();
    host == "localhost"
        || host == "0.0.0.0"
        || matches!(numbers.as_deref(), Some([127, _, _, _])) && !host.contains('+')
}

/// `npx` with a tool that projects install for themselves.
fn of_the_project(words: &[Word]) -> Option<(Class, &'static str)> {
    let mut rest = words
        .iter()
        .skip_while(|word| word.is("--no-install") || word.is("--no") || word.is("--offline"));
    let name = rest.next()?.literal()?;
    let tool = tables::find(name)?;
    let checks = tool.is_named("tsc") && tool.class == Class::Safe;
    checks.then_some((Class::Safe, "it runs a tool of the project"))
}
