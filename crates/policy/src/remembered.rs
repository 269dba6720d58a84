//! What was approved for the session, and what exactly such an approval is about.
//!
//! A yes is remembered for what was shown, whole: the key is a hash of the full text and of
//! everything that decides what it does. Nothing is cut, trimmed or put into another form first,
//! so two commands share a key only if they are the same. The words in which a model explains
//! itself are not part of it.

use std::collections::BTreeSet;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::action::{Action, FenceRequest, RunCommand};
use crate::command_line::{CommandLine, Profile};
use crate::facts::{self, CommandText, Facts};
use crate::permit::Confinement;
use crate::verdict::{Question, QuestionKind};

/// Approvals of this session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remembered {
    keys: BTreeSet<[u8; 32]>,
}

impl Remembered {
    /// Remembers a yes.
    pub fn insert(&mut self, key: ApprovalKey) {
        self.keys.insert(key.0);
    }

    /// These approvals and those.
    pub fn with(&self, others: &Self) -> Self {
        Self {
            keys: self.keys.union(&others.keys).copied().collect(),
        }
    }

    pub(crate) fn contains(&self, key: &ApprovalKey) -> bool {
        self.keys.contains(&key.0)
    }
}

/// What an approval for the session is about: a hash of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApprovalKey([u8; 32]);

impl ApprovalKey {
    /// The key of a question, if a yes to it may hold for the session.
    pub fn of(question: &Question) -> Option<Self> {
        let (action, bounds) = (question.action(), question.if_approved());
        let kept = question.holds_once().is_none();
        kept.then(|| Self::new(question.kind(), action, bounds))
    }

    pub(crate) fn new(kind: &QuestionKind, action: &Action, bounds: &Confinement) -> Self {
        let mut print = Fingerprint::default();
        // A connection is the same whatever command makes it, and has no bounds of its own.
        if let Action::Connect(connect) = action {
            print.text("connect", &crate::judge::connection_in_words(connect));
            return print.finish();
        }
        print.text("kind", &format!("{kind:?}"));
        match action {
            Action::RunCommand(command) => command_whole(&mut print, command),
            other => print.text("action", &format!("{other:?}")),
        }
        print.text("bounds", &format!("{bounds:?}"));
        print.finish()
    }
}

fn command_whole(print: &mut Fingerprint, command: &RunCommand) {
    match &command.line {
        CommandLine::Argv(argv) => {
            print.text("argv", &argv.len().to_string());
            for word in argv {
                print.text("word", word);
            }
        }
        CommandLine::Shell {
            shell,
            text,
            profile,
        } => {
            print.text("shell", &format!("{:?}", shell.kind));
            print.path("shell path", &shell.path);
            let login = match profile {
                Profile::Login => "login",
                Profile::Plain => "plain",
            };
            print.text("profile", login);
            print.text("text", text);
        }
    }
    print.path("directory", &command.cwd);
    print.text("variables", &command.environment.len().to_string());
    for (name, value) in &command.environment {
        print.text("name", name);
        print.text("value", value);
    }
    let fence = match command.fence {
        FenceRequest::Stay => "stay",
        FenceRequest::Leave => "leave",
    };
    print.text("fence", fence);
}

/// What a command text says.
pub fn understood(command: &RunCommand) -> Facts {
    facts::understand(match &command.line {
        CommandLine::Argv(argv) => CommandText::Argv(argv),
        CommandLine::Shell { shell, text, .. } => CommandText::Shell {
            kind: shell.kind,
            text,
        },
    })
}

/// A hash over named fields. Names and values go in with their lengths, so that no two lists of
/// fields are the same bytes.
#[derive(Default)]
struct Fingerprint(Sha256);

impl Fingerprint {
    fn text(&mut self, name: &str, value: &str) {
        self.bytes(name, value.as_bytes());
    }

    fn path(&mut self, name: &str, value: &Path) {
        self.bytes(name, value.as_os_str().as_encoded_bytes());
    }

    fn bytes(&mut self, name: &str, value: &[u8]) {
        for part in [name.as_bytes(), value] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
    }

    fn finish(self) -> ApprovalKey {
        ApprovalKey(self.0.finalize().into())
    }
}
