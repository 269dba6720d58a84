//! What a command does to its operands.

use super::{
    Class, Findings,
    part::{Case, abbreviates},
    path::spread,
    table::{Operands, Tool},
    touch,
};
use crate::facts::{Piece, Word, base_name, follow::find_starts, options::Arguments};

impl Case<'_> {
    pub(super) fn write(&self, word: &Word, findings: &mut Findings) {
        let (class, why) = touch::writing(
            &spread(word, &self.command.directory, self.ground),
            self.ground,
        );
        if class > Class::ReadOnly {
            findings.add(class, self.text, why);
        }
    }

    pub(super) fn read(&self, word: &Word, findings: &mut Findings) {
        let (class, why) = touch::reading(
            &spread(word, &self.command.directory, self.ground),
            self.ground,
        );
        if class > Class::ReadOnly {
            findings.add(class, self.text, why);
        }
    }

    /// The word, if reading it is nothing special.
    pub(super) fn read_only_of<'w>(&self, word: &'w Word) -> Option<&'w Word> {
        let place = spread(word, &self.command.directory, self.ground);
        (touch::reading(&place, self.ground).0 == Class::ReadOnly).then_some(word)
    }

    fn delete(&self, word: &Word, recursive: bool, findings: &mut Findings) {
        let (class, why) = touch::deletion(
            &spread(word, &self.command.directory, self.ground),
            recursive,
            self.ground,
        );
        findings.add(class, self.text, why);
    }

    pub(super) fn operands(&self, tool: &Tool, found: &Arguments<'_>, findings: &mut Findings) {
        let operands = &found.operands;
        match tool.operands {
            Operands::Ignored => {}
            Operands::None => {
                if !operands.is_empty() || self.command.supplied {
                    findings.add(
                        Class::Unknown,
                        self.text,
                        "what its operand does is not known",
                    );
                }
            }
            Operands::Read => {
                for word in operands {
                    self.read(word, findings);
                }
            }
            Operands::Named => {
                for word in operands {
                    let place = spread(word, &self.command.directory, self.ground);
                    if let Some((class, why)) = touch::looking(&place, self.ground) {
                        findings.add(class, self.text, why);
                    }
                }
            }
            Operands::ReadPlain => {
                for word in operands {
                    self.read(word, findings);
                }
                // Wherever it stands, also as the value of an option.
                let more = |word: &Word| match word.known_start() {
                    "" => word.literal.is_none(),
                    start => start.starts_with('@') || word.several,
                };
                if self.words[1..].iter().any(more) {
                    let why = "a word that begins with @ is a file of more options";
                    findings.add(Class::Unknown, self.text, why);
                }
            }
            Operands::Clock => self.clock(found, findings),
            Operands::ShellOptions => self.shell_options(findings),
            Operands::LockFile => {
                let file = operands.first().filter(|word| {
                    let number = |w: &str| w.bytes().all(|b| b.is_ascii_digit());
                    !word.literal().is_some_and(number)
                });
                if let Some(file) = file {
                    self.write(file, findings);
                }
            }
            Operands::CheckedOut => super::git::checked_out(self, found, findings),
            Operands::Script => {
                for word in operands {
                    self.read(word, findings);
                }
                let printed = operands
                    .first()
                    .is_some_and(|word| word.pieces.contains(&Piece::Process));
                if printed {
                    let why = "a shell runs what another program prints";
                    findings.add(Class::Suspicious, self.text, why);
                }
                let foreign = operands.first().is_some_and(|word| {
                    let spread = spread(word, &self.command.directory, self.ground);
                    word.is("-") || !spread.is_in(&self.ground.workspace)
                });
                if foreign {
                    let why = "what it runs is not a file of the workspace";
                    findings.add(Class::Unknown, self.text, why);
                }
                self.more(findings);
            }
            Operands::Setting => super::git::setting(self, found, findings),
            Operands::Targets => {
                if operands
                    .iter()
                    .any(|w| w.literal().is_none_or(|w| w.contains('=')))
                {
                    let why = "a variable of the build is set, which can name programs";
                    findings.add(Class::Unknown, self.text, why);
                }
                self.more(findings);
            }
            Operands::Written => {
                for word in operands {
                    self.write(word, findings);
                }
                self.more(findings);
            }
            Operands::LastWritten | Operands::Moved => self.last_written(tool, found, findings),
            Operands::SecondWritten => {
                for (index, word) in operands.iter().enumerate() {
                    if index == 0 {
                        self.read(word, findings);
                    } else {
                        self.write(word, findings);
                    }
                }
                if operands.iter().any(|word| word.may_be_many()) {
                    let why = "a word may be several files, of which the second is written";
                    findings.add(Class::Unknown, self.text, why);
                }
                self.more(findings);
            }
            Operands::Paged => {
                for word in operands {
                    self.read(word, findings);
                    if word.known_start().starts_with('+')
                        || word.literal.is_none() && word.known_start().is_empty()
                    {
                        findings.add(
                            Class::Unknown,
                            self.text,
                            "a word that begins with + is a command of the pager",
                        );
                    }
                }
                self.more(findings);
            }
            Operands::Deleted => self.deleted(tool, found, findings),
            Operands::Changed => self.changed(found, findings),
            Operands::Assigned => self.assigned(operands, findings),
            Operands::Searched => self.searched(findings),
        }
    }

    /// Arguments that arrive only at run time.
    fn more(&self, findings: &mut Findings) {
        if self.command.supplied {
            findings.add(
                Class::Unknown,
                self.text,
                "which files it changes is supplied by another program",
            );
        }
    }

    fn last_written(&self, tool: &Tool, found: &Arguments<'_>, findings: &mut Findings) {
        let target = found.value(&["-t", "--target-directory"]);
        let (sources, last) = match (target, found.operands.split_last()) {
            (Some(folder), _) => (found.operands.as_slice(), Some(folder)),
            (None, Some((last, sources))) => (sources, Some(*last)),
            (None, None) => (&[][..], None),
        };
        if let Some(last) = last {
            self.write(last, findings);
        }
        for word in sources {
            self.read(word, findings);
            if tool.operands == Operands::Moved {
                self.delete(word, true, findings);
            }
        }
        self.more(findings);
    }

    fn deleted(&self, tool: &Tool, found: &Arguments<'_>, findings: &mut Findings) {
        let recursive = found.has(&["-r", "-R", "--recursive"])
            || tool.is_named("shred")
            || abbreviates(found, "--recursive");
        let forced = found.has(&["-f", "--force"]) || abbreviates(found, "--force");
        for word in &found.operands {
            self.delete(word, recursive, findings);
        }
        if self.command.supplied && recursive {
            findings.add(
                Class::Suspicious,
                self.text,
                "which folders it deletes is supplied by another program",
            );
        }
        if recursive && forced && self.command.chained {
            findings.add(
                Class::Suspicious,
                self.text,
                "a forced deletion of folders stands behind another command",
            );
        }
        self.more(findings);
    }

    fn changed(&self, found: &Arguments<'_>, findings: &mut Findings) {
        let recursive = found.has(&["-R", "--recursive"]) || abbreviates(found, "--recursive");
        let skip = usize::from(found.value(&["--reference"]).is_none());
        for word in found.operands.iter().skip(skip) {
            let spread = spread(word, &self.command.directory, self.ground);
            if recursive {
                let (class, why) = touch::deletion(&spread, true, self.ground);
                if class == Class::Dangerous {
                    findings.add(
                        class,
                        self.text,
                        why.replace("deletes", "changes the rights of"),
                    );
                }
            }
            self.write(word, findings);
        }
        let special = found
            .operands
            .first()
            .and_then(|word| word.literal())
            .is_some_and(|mode| {
                (mode.contains('s') && mode.contains(['+', '=']))
                    || (mode.len() == 4 && mode.starts_with(['2', '4', '6', '7']))
            });
        if special
            && self.words[0]
                .literal()
                .is_some_and(|w| base_name(w) == "chmod")
        {
            findings.add(
                Class::Suspicious,
                self.text,
                "it makes a program run with its owner's rights",
            );
        }
        self.more(findings);
    }

    /// `date`: a format begins with `+`; anything else sets the clock.
    fn clock(&self, found: &Arguments<'_>, findings: &mut Findings) {
        for word in &found.operands {
            let start = word.known_start();
            if start.starts_with('+') || found.has(&["-j"]) {
                continue;
            }
            let class = if word.literal.is_some() {
                Class::Suspicious
            } else {
                Class::Unknown
            };
            findings.add(class, self.text, "it sets the clock");
        }
        self.more(findings);
    }

    /// `set`: only options that change how the shell runs the text, and not what words in it mean.
    fn shell_options(&self, findings: &mut Findings) {
        const LETTERS: &str = "euxvfnETPCbmhB";
        const NAMES: &[&str] = &[
            "pipefail",
            "errexit",
            "nounset",
            "xtrace",
            "verbose",
            "noglob",
            "noexec",
            "errtrace",
            "functrace",
            "physical",
            "noclobber",
            "notify",
            "monitor",
            "braceexpand",
        ];
        let mut words = self.words[1..].iter();
        while let Some(word) = words.next() {
            let known = match word.literal() {
                Some("--" | "-") => return,
                Some(option) if option.starts_with(['-', '+']) => {
                    let letters = &option[1..];
                    let named = !letters.contains('o')
                        || words
                            .next()
                            .is_none_or(|name| NAMES.iter().any(|n| name.is(n)));
                    named && letters.chars().all(|c| c == 'o' || LETTERS.contains(c))
                }
                Some(_) => return,
                None => false,
            };
            if !known {
                let why = "it changes what words mean to the shell";
                return findings.add(Class::Unknown, self.text, why);
            }
        }
    }

    /// `dd if=… of=…`.
    fn assigned(&self, operands: &[&Word], findings: &mut Findings) {
        for word in operands {
            let Some((key, value)) = word.known_start().split_once('=') else {
                findings.add(Class::Unknown, self.text, "an operand is computed");
                continue;
            };
            let mut pieces = vec![Piece::Text(value.to_owned())];
            pieces.extend(word.pieces.iter().skip(1).cloned());
            let value = Word::from_pieces(word.text.clone(), pieces);
            match key {
                "of" => self.write(&value, findings),
                "if" => self.read(&value, findings),
                _ => {}
            }
        }
        self.more(findings);
    }

    /// `find`: start paths, and what the expression does.
    fn searched(&self, findings: &mut Findings) {
        let words = &self.words[1..];
        let starts = find_starts(self.words);
        for start in &starts {
            self.read(start, findings);
        }
        for (index, word) in words.iter().enumerate() {
            let Some(value) = word.literal() else {
                continue;
            };
            match value {
                "-delete" => {
                    let here = Word::of(".");
                    let all = if starts.is_empty() {
                        vec![&here]
                    } else {
                        starts.clone()
                    };
                    let chooses = words.len() > starts.len() + 1;
                    for start in all {
                        let place = spread(start, &self.command.directory, self.ground);
                        let (class, why) = touch::deletion(&place, true, self.ground);
                        let why = if chooses {
                            why.replacen("it deletes ", "it deletes what it finds in ", 1)
                        } else {
                            why
                        };
                        findings.add(class, self.text, why);
                    }
                }
                "-fprint" | "-fprint0" | "-fls" | "-fprintf" => match words.get(index + 1) {
                    Some(target) => self.write(target, findings),
                    None => findings.add(Class::Unknown, self.text, "it writes a file"),
                },
                _ => {}
            }
        }
    }
}
