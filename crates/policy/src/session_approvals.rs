//! What was approved for the session, and what exactly such an approval is about.
//!
//! A yes is remembered for what was shown, whole: the key is a hash of the full text and of
//! everything that decides what it does. Nothing is cut, trimmed or put into another form first,
//! so two commands share a key only if they are the same. The words in which a model explains
//! itself are not part of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::action::{Action, FenceRequest, RunCommand};
use crate::command_line::{CommandLine, Profile};
use crate::facts::{self, CommandText, Facts};
use crate::narrow_grant::NarrowGrant;
use crate::permit::Confinement;
use crate::verdict::{Question, QuestionKind};

/// Approvals of this session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionApprovals {
    keys: BTreeSet<[u8; 32]>,
    /// What commands may do besides, by the command, whole.
    grants: BTreeMap<[u8; 32], Vec<NarrowGrant>>,
}

impl SessionApprovals {
    /// Remembers a yes.
    pub fn insert(&mut self, key: ApprovalKey) {
        self.keys.insert(key.0);
    }

    /// Remembers what a command may do besides, inside the fence.
    pub fn grant(&mut self, action: &Action, grants: &[NarrowGrant]) {
        let Action::RunCommand(command) = action else {
            return;
        };
        let known = self.grants.entry(key_of(command).0).or_default();
        for grant in grants {
            if !known.contains(grant) {
                known.push(grant.clone());
            }
        }
    }

    /// The bounds of a command with what was granted to it for the session.
    pub(crate) fn widened(&self, command: &RunCommand, mut bounds: Confinement) -> Confinement {
        if let Confinement::Fenced { sandbox, .. } = &mut bounds
            && !self.grants.is_empty()
            && let Some(grants) = self.grants.get(&key_of(command).0)
        {
            for grant in grants {
                grant.widen(sandbox);
            }
        }
        bounds
    }

    /// These approvals and those.
    pub fn with(&self, others: &Self) -> Self {
        let mut all = self.clone();
        all.keys.extend(&others.keys);
        all.grants.extend(others.grants.clone());
        all
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
        // A request is asked about by its host. A yes to one is none to the connections of commands.
        if let Action::SendHttp(request) = action {
            let connection = request.connection();
            print.text("http", &crate::judge::connection_in_words(&connection));
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

/// What tells a command from every other.
fn key_of(command: &RunCommand) -> ApprovalKey {
    let mut print = Fingerprint::default();
    print.text("tool", &command.tool);
    command_whole(&mut print, command);
    print.finish()
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
