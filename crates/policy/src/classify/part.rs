//! Judging one simple command by the tables.

use super::{
    Class, Findings,
    environment::{self, Seen, Setting},
    exception, git, lurking,
    path::{self, spread},
    table::{Mark, MarkValue, Operands, Options, Tool},
    tables, touch,
};
use crate::{
    facts::{
        Assignment, Direction, Facts, Redirection, SimpleCommand, Word, base_name,
        options::{Arguments, may_be_option},
        wrapper::{self, Runs},
    },
    ground::Ground,
    shell::ShellKind,
};

/// Folders in which a program is the one that its name says.
const SYSTEM_FOLDERS: &[&str] = &[
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/sbin/",
    "/usr/sbin/",
    "/usr/local/sbin/",
    "/opt/homebrew/bin/",
];

/// Judges a command and what it does to files.
pub(super) fn judge(
    command: &SimpleCommand,
    facts: &Facts,
    ground: &Ground,
    findings: &mut Findings,
) {
    if command.lurking {
        return lurking::judge(command, facts, ground, findings);
    }
    variables(command, facts, ground, findings);
    of_words(command, facts, ground, findings);
}

/// Judges a command by its words alone.
pub(super) fn of_words(
    command: &SimpleCommand,
    facts: &Facts,
    ground: &Ground,
    findings: &mut Findings,
) {
    let text = shown(command);
    if let Some(kind) = facts.shell.filter(|kind| !kind.is_bourne()) {
        judge_windows(command, kind, &text, findings);
        return;
    }
    let Some(program) = command.program() else {
        return;
    };
    let name = base_name(program);
    let own = own_words(command);
    let case = Case {
        command,
        words: own,
        ground,
        text: &text,
    };
    let own_program = by_path(&case, program, findings);
    if exception::prints_version(command) && own_program != Some(false) {
        let why = "it prints its version or its usage";
        return findings.add(Class::Safe, &text, why);
    }
    let leaves = LEAVES_A_FILE.contains(&name);
    let transparent = |w: &wrapper::Wrapper| w.transparent && w.runs != Runs::Find;
    if command.wrapper && !leaves && wrapper::find(name).is_some_and(transparent) {
        return findings.add(
            Class::ReadOnly,
            &text,
            "it runs another program, which is judged itself",
        );
    }
    let history = |word: &Word| word.is("history") || word.is("ohistory");
    if matches!(name, "set" | "shopt" | "setopt" | "unsetopt") && own.iter().any(history) {
        findings.add(
            Class::Dangerous,
            &text,
            "it tampers with the shell's history",
        );
    }
    match tables::find(name) {
        Some(tool) if matches!(name, "find" | "gfind") => {
            case.tool(tool, &without_programs(&own[1..]), findings);
        }
        Some(tool) => {
            if name == "git" {
                git::folder(&case, tool, findings);
            }
            case.tool(tool, &own[1..], findings);
            case.module(tool, findings);
        }
        None if own_program == Some(true) => {}
        None if facts.functions.iter().any(|f| f.name == program) => {
            findings.add(
                Class::ReadOnly,
                &text,
                "it calls a function of the same text",
            );
        }
        None => findings.add(
            Class::Unknown,
            &text,
            format!("`{name}` is not a program that is known"),
        ),
    }
}

/// Wrappers that write a file of their own.
const LEAVES_A_FILE: &[&str] = &["flock", "script", "nohup"];

/// A program that is named by its path: whether it is one of the workspace, or none of a kind that is
/// known. Nothing if it is found by its name, or in a folder of the system.
fn by_path(case: &Case<'_>, program: &str, findings: &mut Findings) -> Option<bool> {
    if !program.contains('/') || is_system_program(program) {
        return None;
    }
    let place = spread(&case.command.words[0], &case.command.directory, case.ground);
    let (class, why) = touch::reading(&place, case.ground);
    let own = place.is_in(&case.ground.workspace);
    if !why.is_empty() {
        findings.add(class.max(Class::Unknown), case.text, why);
    } else if own {
        findings.add(Class::Safe, case.text, "it runs a program of the workspace");
    } else {
        findings.add(Class::Unknown, case.text, "it runs a program by its path");
    }
    Some(own)
}

/// Builtins of the shell: what is set for one of them is seen by no program.
const BUILTINS: &[&str] = &[
    ":",
    "true",
    "false",
    "echo",
    "printf",
    "read",
    "mapfile",
    "readarray",
    "cd",
    "pwd",
    "test",
    "[",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "set",
    "shift",
    "exit",
    "return",
    "wait",
    "trap",
    "alias",
    "history",
    "type",
    "getopts",
    "let",
    "umask",
    "break",
    "continue",
];

fn is_builtin(command: &SimpleCommand) -> bool {
    let name = command.program();
    name.is_some_and(|program| BUILTINS.contains(&program))
}

/// Whether a part of the text is read by Zsh.
pub(super) fn involves_zsh(facts: &Facts) -> bool {
    let zsh = |c: &SimpleCommand| c.program().is_some_and(|p| base_name(p).ends_with("zsh"));
    facts.shell == Some(ShellKind::Zsh) || facts.commands.iter().any(zsh)
}

/// The variables that are set for one command, or by it.
pub(super) fn variables(
    command: &SimpleCommand,
    facts: &Facts,
    ground: &Ground,
    findings: &mut Findings,
) {
    let name = command.program().unwrap_or_default();
    let shells = |c: &SimpleCommand| is_builtin(c) || c.wrapper;
    let exports = exports(command) && !facts.commands.iter().all(shells);
    let splits = |name: &str| name == "IFS" && command.words[0].is("read");
    let mut setting = Setting {
        seen: Seen::Programs,
        zsh: involves_zsh(facts),
        directory: &command.directory,
        ground,
    };
    if !exports && BUILTINS.contains(&name) {
        setting.seen = Seen::Shell;
    }
    let given = command.assignments.iter();
    for assignment in given.filter(|assignment| !splits(&assignment.name)) {
        environment::judge(assignment, &setting, findings);
    }
    if exports {
        for word in &command.words[1..] {
            let named = word.known_start().split('=').next().unwrap_or_default();
            let option = named.starts_with(['-', '+']) || named.is_empty();
            let known = command.assignments.iter().any(|given| given.name == named);
            if !option && !known {
                let value = word.clone();
                let assignment = Assignment {
                    name: named.to_owned(),
                    value,
                };
                environment::judge(&assignment, &setting, findings);
            }
        }
    }
}

/// Whether a builtin hands variables on to programs.
fn exports(command: &SimpleCommand) -> bool {
    match command.program() {
        Some("export") => !command
            .words
            .iter()
            .any(|word| word.is("-n") || word.is("-p")),
        Some("declare" | "typeset" | "local" | "readonly") => command.words.iter().any(|word| {
            let start = word.known_start();
            start.starts_with('-') && start.contains('x')
        }),
        _ => false,
    }
}

/// Whether a program is named by its path in a folder of the system.
pub(crate) fn is_system_program(program: &str) -> bool {
    SYSTEM_FOLDERS
        .iter()
        .any(|folder| program.strip_prefix(folder) == Some(base_name(program)))
}

/// Whether a program is known to have subcommands.
pub(crate) fn has_subcommands(name: &str) -> bool {
    tables::find(name).is_some_and(|tool| !tool.subcommands.is_empty())
}

/// The words of a command without the options that stand before its subcommand, if it is known to
/// have such: `git -C folder push` as `git push`.
pub(crate) fn without_global_options(words: &[Word]) -> Option<Vec<Word>> {
    let name = base_name(words.first()?.literal()?);
    let mut tool = tables::find(name)?;
    let mut kept = vec![words[0].clone()];
    let mut rest = &words[1..];
    while !tool.subcommands.is_empty() {
        let at = match tool.options {
            Options::Known(grammar) => {
                let found = grammar.read(rest);
                match found.operands.first() {
                    Some(first) => rest.iter().position(|word| std::ptr::eq(word, *first))?,
                    None => break,
                }
            }
            Options::Any => rest
                .iter()
                .position(|w| !w.known_start().starts_with('-'))?,
        };
        kept.push(rest[at].clone());
        let next = rest[at]
            .literal()
            .and_then(|n| tool.subcommands.iter().find(|s| s.is_named(n)));
        rest = &rest[at + 1..];
        match next {
            Some(next) => tool = next,
            None => break,
        }
    }
    kept.extend_from_slice(rest);
    Some(kept)
}

/// The words of a command that are its own: for a wrapper, those before what it runs.
pub(crate) fn own_words(command: &SimpleCommand) -> &[Word] {
    let words = &command.words;
    if !command.wrapper {
        return words;
    }
    let Some(program) = command.program() else {
        return words;
    };
    let Some(wrapper) = wrapper::find(base_name(program)) else {
        return words;
    };
    let rest = 1 + wrapper.options.read(&words[1..]).rest.min(words.len() - 1);
    let end = match wrapper.runs {
        Runs::Program { skip } => rest + skip,
        Runs::Locked => rest + 1,
        Runs::Supplied | Runs::Parallel | Runs::Joined { .. } | Runs::Flagged(_) => rest,
        Runs::Assignments => {
            rest + words[rest..]
                .iter()
                .take_while(|w| w.known_start().contains('='))
                .count()
        }
        Runs::Shell | Runs::Operand(_) => 1,
        Runs::Subcommand(_) => 2,
        Runs::Option(_) | Runs::Find | Runs::Alias => words.len(),
    };
    &words[..end.min(words.len())]
}

/// The command as it was written.
pub(super) fn shown(command: &SimpleCommand) -> String {
    let mut text = String::new();
    for word in &command.words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&word.text);
        if text.len() > 400 {
            break;
        }
    }
    text
}

/// What a redirection does.
pub(super) fn judge_redirection(
    redirection: &Redirection,
    ground: &Ground,
    findings: &mut Findings,
) {
    let sign = match redirection.direction {
        Direction::Read => "<",
        Direction::Write => ">",
        Direction::Append => ">>",
        Direction::ReadWrite => "<>",
    };
    let text = format!("{sign} {}", redirection.target.text);
    if path::is_unc(&redirection.target) && redirection.target.text.starts_with('\\') {
        return findings.whole(Class::Dangerous, &text, "it uses a Windows network path");
    }
    for word in redirection
        .target
        .supposed(4)
        .into_iter()
        .flatten()
        .chain([redirection.target.clone()])
    {
        let spread = spread(&word, &redirection.directory, ground);
        let (class, why) = if redirection.direction.writes() {
            touch::writing(&spread, ground)
        } else {
            touch::reading(&spread, ground)
        };
        if class > Class::ReadOnly {
            findings.add(class, &text, why);
        }
    }
}

/// One command on its way through a tool's entry.
pub(super) struct Case<'c> {
    pub(super) command: &'c SimpleCommand,
    pub(super) words: &'c [Word],
    pub(super) ground: &'c Ground,
    pub(super) text: &'c str,
}

impl Case<'_> {
    fn tool(&self, tool: &Tool, words: &[Word], findings: &mut Findings) {
        if let Some((class, why)) = exception::better(self, tool, words, findings) {
            return findings.add(class, self.text, why);
        }
        let found = self.options(tool, words, findings);
        if !tool.subcommands.is_empty() {
            return self.subcommand(tool, words, &found, findings);
        }
        let valued = found.options.iter().any(|(_, value)| value.is_some());
        let alone = found.operands.is_empty()
            && !valued
            && !self.command.supplied
            && !self.command.wrapper
            && says_nothing_else(tool, &found);
        let class = tool.alone.filter(|_| alone).unwrap_or(tool.class);
        findings.add(class, self.text, tool.why);
        if tool.names.contains("awk") || tool.names.starts_with("sed") {
            let name = tool.names.split(' ').next().unwrap_or_default();
            let in_place = found.has(&["-i", "--in-place"]);
            for file in
                super::scripts::judge(name, &all_operands(words, &found), self.text, findings)
            {
                self.read(file, findings);
                if in_place {
                    self.write(file, findings);
                }
            }
            return;
        }
        self.operands(tool, &found, findings);
    }

    /// `python -m pip …` is `pip …`.
    fn module(&self, tool: &Tool, findings: &mut Findings) {
        if !tool.is_named("python") {
            return;
        }
        let at = self.words.iter().position(|word| word.is("-m"));
        let rest = at
            .and_then(|at| self.words.get(at + 1..))
            .unwrap_or_default();
        let module = rest.first().and_then(Word::literal);
        if let Some(tool) = module.and_then(tables::find) {
            self.tool(tool, &rest[1..], findings);
        }
    }

    /// The subcommand that the first operand names.
    fn subcommand(
        &self,
        tool: &Tool,
        words: &[Word],
        found: &Arguments<'_>,
        findings: &mut Findings,
    ) {
        let Some(first) = found.operands.first() else {
            let alone = tool.alone.filter(|_| says_nothing_else(tool, found));
            let class = alone.unwrap_or(tool.class);
            return findings.add(class, self.text, tool.why);
        };
        let at = words
            .iter()
            .position(|word| std::ptr::eq(word, *first))
            .unwrap_or(0);
        let known = first
            .literal()
            .and_then(|name| tool.subcommands.iter().find(|sub| sub.is_named(name)));
        match known {
            Some(sub) => self.tool(sub, &words[at + 1..], findings),
            None => findings.add(tool.class, self.text, tool.why),
        }
    }

    /// Reads the options, and notes those that change the class.
    fn options<'w>(
        &self,
        tool: &Tool,
        words: &'w [Word],
        findings: &mut Findings,
    ) -> Arguments<'w> {
        match tool.options {
            Options::Any => self.any_options(tool, words, findings),
            Options::Known(grammar) => {
                let found = grammar.read(words);
                for unknown in &found.unknown {
                    let class = tool.class.max(Class::Unknown);
                    findings.add(
                        class,
                        self.text,
                        format!("what the option {} does is not known", unknown.text),
                    );
                }
                for mark in tool.marks {
                    let mut names = mark.names.split(' ');
                    if let Some(name) = names.find(|name| abbreviates(&found, name)) {
                        self.mark(mark, name, None, findings);
                    }
                }
                let supplied = self.command.supplied && tool.operands != Operands::Deleted;
                if (found.open || supplied) && !tool.complete {
                    findings.add(
                        tool.class.max(Class::Unknown),
                        self.text,
                        "a computed word may be an option",
                    );
                }
                for (name, value) in &found.options {
                    let marks = tool.marks.iter().filter(|mark| named(mark, name));
                    for mark in marks {
                        self.mark(mark, name, value.as_ref(), findings);
                    }
                }
                found
            }
        }
    }

    /// Options of a tool that may have any: only the marked ones matter, also when abbreviated.
    fn any_options<'w>(
        &self,
        tool: &Tool,
        words: &'w [Word],
        findings: &mut Findings,
    ) -> Arguments<'w> {
        let mut found = Arguments {
            rest: words.len(),
            ..Arguments::default()
        };
        let mut options = true;
        for (index, word) in words.iter().enumerate() {
            let start = word.known_start();
            if options && start == "--" {
                options = false;
                continue;
            }
            if !(options && start.len() > 1 && start.starts_with('-')) {
                if options && may_be_option(word) && !tool.marks.is_empty() {
                    findings.add(
                        tool.class.max(Class::Unknown),
                        self.text,
                        "a computed word may be an option",
                    );
                }
                found.operands.push(word);
                continue;
            }
            if word.several && !tool.marks.is_empty() {
                let why = "a computed word may be an option";
                findings.add(tool.class.max(Class::Unknown), self.text, why);
            }
            let name = start.split_once('=').map_or(start, |(name, _)| name);
            found.options.push((name.to_owned(), None));
            for mark in tool.marks {
                let mut names = mark.names.split(' ');
                if let Some(known) = names.find(|known| may_be(known, name)) {
                    let value = attached(word).or_else(|| words.get(index + 1).cloned());
                    self.mark(mark, known, value.as_ref(), findings);
                }
            }
        }
        if self.command.supplied && !tool.marks.is_empty() {
            findings.add(
                tool.class.max(Class::Unknown),
                self.text,
                "a supplied word may be an option",
            );
        }
        found
    }

    fn mark(&self, mark: &Mark, name: &str, value: Option<&Word>, findings: &mut Findings) {
        match (mark.value, value) {
            (MarkValue::Written, Some(value)) if !value.is("-") => self.write(value, findings),
            (MarkValue::Folder, Some(value)) => {
                let (class, why) = touch::reading(
                    &spread(value, &self.command.directory, self.ground),
                    self.ground,
                );
                if class > Class::ReadOnly {
                    findings.add(class, self.text, why);
                }
            }
            (MarkValue::Written, _) => {}
            _ => findings.add(mark.class, self.text, format!("{name}: {}", mark.why)),
        }
    }
}

/// With options that end at the first operand, the operands are that one and all that follow.
fn all_operands<'w>(words: &'w [Word], found: &Arguments<'w>) -> Arguments<'w> {
    let mut all = Arguments {
        options: found.options.clone(),
        ..Arguments::default()
    };
    all.operands = if found.rest < words.len() {
        words[found.rest..].iter().collect()
    } else {
        found.operands.clone()
    };
    all
}

/// The words of `find` without the programs it runs, which are judged themselves.
fn without_programs(words: &[Word]) -> Vec<Word> {
    let mut kept = Vec::new();
    let mut inside = false;
    for (index, word) in words.iter().enumerate() {
        if inside {
            inside = !(word.is(";") || (word.is("+") && words[index - 1].is("{}")));
            continue;
        }
        inside = ["-exec", "-execdir", "-ok", "-okdir"]
            .iter()
            .any(|option| word.is(option));
        kept.push(word.clone());
    }
    kept
}

/// Whether the options, too, are known not to do anything.
fn says_nothing_else(tool: &Tool, found: &Arguments<'_>) -> bool {
    matches!(tool.options, Options::Known(_)) || found.options.is_empty()
}

/// Whether an option that the grammar does not know is short for this one.
pub(super) fn abbreviates(found: &Arguments<'_>, option: &str) -> bool {
    let mut unknown = found.unknown.iter().map(|word| word.known_start());
    unknown.any(|start| start.len() > 2 && start.starts_with("--") && option.starts_with(start))
}

fn named(mark: &Mark, name: &str) -> bool {
    mark.names.split(' ').any(|known| known == name)
}

/// Whether an option as written may be this known one: itself, an abbreviation of a long one, or a
/// letter in a bundle.
fn may_be(known: &str, written: &str) -> bool {
    if known == written {
        return true;
    }
    if known.starts_with("--") {
        return written.starts_with("--") && written.len() > 2 && known.starts_with(written);
    }
    if known.len() > 2 {
        // `-agentlib:name`: the value follows directly.
        return !written.starts_with("--") && written.starts_with(known);
    }
    if known.len() == 2 && !written.starts_with("--") {
        return known
            .chars()
            .nth(1)
            .is_some_and(|letter| written[1..].contains(letter));
    }
    false
}

/// The value that is attached to an option.
fn attached(word: &Word) -> Option<Word> {
    let start = word.known_start();
    let (_, value) = start.split_once('=')?;
    let mut pieces = vec![crate::facts::Piece::Text(value.to_owned())];
    pieces.extend(word.pieces.iter().skip(1).cloned());
    Some(Word::from_pieces(word.text.clone(), pieces))
}

/// Windows shells: network paths are refused, few programs are known.
fn judge_windows(command: &SimpleCommand, kind: ShellKind, text: &str, findings: &mut Findings) {
    if command.words.iter().any(path::is_unc) {
        return findings.whole(Class::Dangerous, text, "it uses a Windows network path");
    }
    let Some(program) = command.program() else {
        return;
    };
    let lower = program.to_ascii_lowercase();
    let name = lower.rsplit(['/', '\\']).next().unwrap_or(&lower);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let table = if kind == ShellKind::Cmd {
        tables::windows::CMD
    } else {
        tables::windows::POWERSHELL
    };
    match table.iter().find(|tool| tool.is_named(name)) {
        Some(tool) => {
            let class = tables::windows::destroys(name, &command.words).unwrap_or(tool.class);
            findings.add(class, text, tool.why);
        }
        None => findings.add(
            Class::Unknown,
            text,
            format!("`{name}` is not a program that is known"),
        ),
    }
}
