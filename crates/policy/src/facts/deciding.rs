//! Which commands of a text decide how it ends: one of them gave the exit code, if the whole has
//! failed.
//!
//! Where that cannot be told from the text (`set -e`, `exit`, a loop), nothing is.

use super::{
    CommandText, Word, base_name,
    bash::{
        self, Budget,
        tree::{Body, Link, Redirect, Script, Stage, Statement},
    },
    follow::{ShellInput, shell_input},
    understand,
    wrapper::{self, Runs},
};
use crate::shell::ShellKind;

/// The commands of which one gave the exit code of a text that has failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deciders {
    /// The commands: the program, then its arguments. A wrapper stands beside what it runs.
    pub commands: Vec<Vec<Word>>,
    /// Whether the shell itself may have failed, for a redirection of such a command.
    pub redirects: bool,
    /// Whether a shell runs them of which nobody knows whose it is: `sh`.
    pub plain_sh: bool,
}

/// What changes how a text ends, wherever it stands.
const ENDS_OTHERWISE: &[&str] = &["set", "shopt", "trap", "exit", "return", "alias", "eval"];

/// The wrappers that pass on the exit code of what they run.
const PASS_ON: &[&str] = &[
    "builtin", "busybox", "command", "env", "exec", "nice", "nohup", "setsid", "stdbuf", "time",
    "timeout",
];

/// How many shells and wrappers around one another are seen through.
const MAX_NESTING: u8 = 8;

/// The commands that decide how a command ends; nothing if that cannot be told.
pub fn deciding(command: CommandText<'_>) -> Option<Deciders> {
    let facts = understand(command);
    let ends_otherwise = |program: &str| {
        ENDS_OTHERWISE.contains(&program) || facts.functions.iter().any(|it| it.name == program)
    };
    let programs = facts.commands.iter().filter_map(|it| it.program());
    if !facts.not_understood.is_empty() || programs.into_iter().any(ends_otherwise) {
        return None;
    }
    let mut found = Deciders::default();
    match command {
        CommandText::Argv(argv) => {
            let words: Vec<Word> = argv.iter().map(Word::of).collect();
            found.of_words(&words, 0)?;
        }
        CommandText::Shell { kind, text } => found.of_text(text, kind, 0)?,
    }
    Some(found)
}

impl Deciders {
    fn of_text(&mut self, text: &str, kind: ShellKind, nesting: u8) -> Option<()> {
        if !kind.is_bourne() || nesting > MAX_NESTING {
            return None;
        }
        self.plain_sh |= kind == ShellKind::Sh;
        let (script, trouble) = bash::parse(text, kind, 0, &mut Budget::new());
        match trouble {
            Some(_) => None,
            None => self.of_script(&script, nesting),
        }
    }

    /// The last statement, and those before it that it would not have come after: `a && b` fails
    /// with either, `a || b` and `a; b` with the last.
    fn of_script(&mut self, script: &Script, nesting: u8) -> Option<()> {
        for statement in script.statements.iter().rev() {
            self.of_statement(statement, nesting)?;
            if statement.link != Link::And {
                break;
            }
        }
        (!self.commands.is_empty()).then_some(())
    }

    fn of_statement(&mut self, statement: &Statement, nesting: u8) -> Option<()> {
        if statement.background || statement.prefixed {
            return None;
        }
        let Stage { body, redirects } = statement.stages.last()?;
        let of_files = |redirect: &Redirect| matches!(redirect, Redirect::File { .. });
        self.redirects |= redirects.iter().any(of_files);
        match body {
            Body::Simple { words, .. } => {
                let words: Vec<Word> = words.iter().map(|text| text.word.clone()).collect();
                self.of_words(&words, nesting)
            }
            Body::Group(script) => self.of_script(script, nesting),
            _ => None,
        }
    }

    fn of_words(&mut self, words: &[Word], nesting: u8) -> Option<()> {
        let program = base_name(words.first()?.literal()?);
        if nesting > MAX_NESTING {
            return None;
        }
        let wrapper = wrapper::find(program);
        if wrapper.is_some_and(|it| it.runs == Runs::Shell)
            && let ShellInput::Script(at) = shell_input(words)
        {
            let kind = ShellKind::of_program(program)?;
            return self.of_text(words[at].literal()?, kind, nesting + 1);
        }
        self.commands.push(words.to_vec());
        let Some(wrapper) = wrapper.filter(|_| PASS_ON.contains(&program)) else {
            return Some(());
        };
        let found = wrapper.options.read(&words[1..]);
        let rest = &words[1 + found.rest..];
        let is_assignment = |word: &&Word| word.known_start().contains('=');
        let own = match wrapper.runs {
            Runs::Program { skip } => skip,
            Runs::Assignments => rest.iter().take_while(is_assignment).count(),
            _ => return None,
        };
        match rest.get(own..) {
            // It only asks: `command -v`, `env`.
            None | Some([]) => Some(()),
            _ if !found.unknown.is_empty() => Some(()),
            Some(inner) => self.of_words(inner, nesting + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<Vec<String>> {
        let kind = ShellKind::Bash;
        let found = deciding(CommandText::Shell { kind, text })?;
        let texts = found.commands.iter().map(|words| {
            let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            words.join(" ")
        });
        Some(texts.collect())
    }

    #[test]
    fn the_last_word_is_somebodys() {
        for (text, expected) in [
            ("git push", &["git push"][..]),
            ("cd x; git push", &["git push"]),
            ("cd x && git push", &["git push", "cd x"]),
            ("cd x && make && ./run", &["./run", "make", "cd x"]),
            ("a || b", &["b"]),
            ("a || b && c", &["c", "b"]),
            ("a && b || c", &["c"]),
            ("cat f | grep x", &["grep x"]),
            ("(cd x && make)", &["make", "cd x"]),
            ("a & b", &["b"]),
            ("bash -lc 'cd x && git push'", &["git push", "cd x"]),
            ("FOO=1 make", &["make"]),
            ("timeout 5 curl x", &["timeout 5 curl x", "curl x"]),
            ("env A=b make", &["env A=b make", "make"]),
            ("git push $REMOTE", &["git push $REMOTE"]),
            ("xargs grep x", &["xargs grep x"]),
        ] {
            assert_eq!(told(text).unwrap_or_default(), expected, "{text}");
        }
    }

    #[test]
    fn where_it_cannot_be_told_it_is_not() {
        for text in [
            "",
            "set -e; make; echo done",
            "set -o pipefail; make | tee log",
            "git push; exit 128",
            "git() { exit 3; }; git push",
            "! grep x f",
            "if a; then git push; fi",
            "for x in 1 2; do make; done",
            "make &",
            "$TOOL push",
            "git push ) (",
            "x=1",
        ] {
            assert_eq!(told(text), None, "{text}");
        }
    }
}
