//! The command that goes on with a conversation, with the flags that hold for it: it works when it is pasted.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory};

use crate::arguments;

/// What the conversation itself knows, or what is said anew.
const LEFT_OUT: &[&str] = &["task", "provider", "model", "key_env", "resume"];

/// The command for a conversation of this name, with the flags of this program.
pub(super) fn of(name: &str) -> String {
    let command = arguments::Arguments::command();
    let given = command
        .clone()
        .try_get_matches_from(std::env::args_os())
        .ok();
    let given = given.as_ref().and_then(ArgMatches::subcommand);
    let flags = given
        .filter(|(verb, _)| *verb == "agent")
        .and_then(|(verb, given)| Some(flags(command.find_subcommand(verb)?, given)));
    let mut words = vec!["ringfence agent".to_owned(), format!("--resume={name}")];
    words.extend(flags.unwrap_or_default());
    words.join(" ")
}

/// The flags that were given, as a shell takes them.
fn flags(command: &Command, given: &ArgMatches) -> Vec<String> {
    let mut words = Vec::new();
    for flag in command.get_arguments() {
        let id = flag.get_id().as_str();
        let Some(long) = flag.get_long().filter(|_| !LEFT_OUT.contains(&id)) else {
            continue;
        };
        if given.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        if !flag.get_action().takes_values() {
            words.push(format!("--{long}"));
            continue;
        }
        for value in given.get_raw(id).into_iter().flatten() {
            words.push(quoted(&format!("--{long}={}", value.to_string_lossy())));
        }
    }
    words
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_that_was_given_is_there_again() {
        let command = arguments::Arguments::command();
        let line = [
            "ringfence",
            "agent",
            "--sandbox",
            "read-only",
            "--provider",
            "http://h/v1",
            "--env",
            "A=it's",
            "--env",
            "B",
            "do it",
            "--max-turns=3",
            "--model",
            "m",
            "--no-stream",
        ];
        let given = command.clone().get_matches_from(line);
        let (verb, given) = given.subcommand().unwrap();
        let mut found = flags(command.find_subcommand(verb).unwrap(), given);
        found.sort();
        let expected = [
            r"'--env=A=it'\''s'",
            "--env=B",
            "--max-turns=3",
            "--no-stream",
            "--sandbox=read-only",
        ];
        assert_eq!(found, expected);
    }
}
