//! The canonical text of a command: the same however its words were quoted or spaced.

use std::fmt::Write as _;

use crate::facts::{Direction, Facts, Position, SimpleCommand, Word};

/// The whole command in canonical form: every simple command with the way it is joined, then the
/// redirections. Two commands with the same canonical text do the same from the same directory.
pub fn canonical(facts: &Facts) -> String {
    let mut text = String::new();
    for (index, command) in facts.commands.iter().enumerate() {
        if command.supposed {
            continue;
        }
        if !text.is_empty() {
            let previous = &facts.commands[index - 1];
            let piped = previous.pipeline == command.pipeline && command.stage > previous.stage;
            text.push_str(if piped { " | " } else { " ; " });
        }
        let position = match command.position {
            Position::Text => "",
            Position::Substitution => "$: ",
            Position::ProcessSubstitution => "<: ",
            Position::Script => "script: ",
            Position::StandardInput => "stdin: ",
        };
        text.push_str(position);
        for assignment in &command.assignments {
            text.push_str(&assignment.name);
            text.push('=');
            text.push_str(&canonical_word(&assignment.value));
            text.push(' ');
        }
        text.push_str(&canonical_command(command));
        if command.background {
            text.push_str(" &");
        }
    }
    for assignment in &facts.assignments {
        let _ = write!(
            text,
            " ; {}={}",
            assignment.name,
            canonical_word(&assignment.value)
        );
    }
    for redirection in &facts.redirections {
        let sign = match redirection.direction {
            Direction::Read => "<",
            Direction::Write => ">",
            Direction::Append => ">>",
            Direction::ReadWrite => "<>",
        };
        let _ = write!(text, " {sign} {}", canonical_word(&redirection.target));
    }
    for document in &facts.here_documents {
        let _ = write!(text, " << {}", canonical_word(&document.body));
    }
    for unclear in &facts.not_understood {
        let _ = write!(text, " ? {}", unclear.part);
    }
    let plain = facts.shape.bytes().all(|sign| matches!(sign, b'^' | b';'));
    if !plain {
        text.push_str(" # ");
        text.push_str(&facts.shape);
    }
    text
}

/// One simple command in canonical form.
pub fn canonical_command(command: &SimpleCommand) -> String {
    let mut text = String::new();
    for word in &command.words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&canonical_word(word));
    }
    text
}

/// A word in canonical form: bare if it can be, in single quotes otherwise, as written if it is not
/// literal.
fn canonical_word(word: &Word) -> String {
    match word.literal() {
        Some(value) => quoted(value),
        None => word.text.clone(),
    }
}

/// A value as one would type it.
pub(crate) fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', r"'\''"))
    }
}
