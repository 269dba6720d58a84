//! The options of one command, and those that change its class.

use super::Case;
use crate::{
    classify::{
        Class, Findings,
        path::spread,
        table::{Mark, MarkValue, Operands, Options, Tool},
        touch,
    },
    facts::{
        Word,
        options::{Arguments, may_be_option},
    },
};

impl Case<'_> {
    /// Reads the options, and notes those that change the class.
    pub(super) fn options<'w>(
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

/// Whether an option that the grammar does not know is short for this one.
pub(in crate::classify) fn abbreviates(found: &Arguments<'_>, option: &str) -> bool {
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
