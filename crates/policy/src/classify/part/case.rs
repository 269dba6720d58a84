//! One command on its way through a tool's entry.

use crate::{
    classify::{
        Findings, exception, scripts,
        table::{Options, Tool},
        tables,
    },
    facts::{SimpleCommand, Word, options::Arguments},
    ground::Ground,
};

/// One command on its way through a tool's entry.
pub(in crate::classify) struct Case<'c> {
    pub(in crate::classify) command: &'c SimpleCommand,
    pub(in crate::classify) words: &'c [Word],
    pub(in crate::classify) ground: &'c Ground,
    pub(in crate::classify) text: &'c str,
}

impl Case<'_> {
    pub(super) fn tool(&self, tool: &Tool, words: &[Word], findings: &mut Findings) {
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
            for file in scripts::judge(name, &all_operands(words, &found), self.text, findings) {
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
    pub(super) fn module(&self, tool: &Tool, findings: &mut Findings) {
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

/// Whether the options, too, are known not to do anything.
fn says_nothing_else(tool: &Tool, found: &Arguments<'_>) -> bool {
    matches!(tool.options, Options::Known(_)) || found.options.is_empty()
}
