//! The approver at the terminal: shows what is asked, takes one key.

mod question;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};

use ringfence::approval::{Approver, Awaited};
use ringfence::policy::judge::ApprovalKey;
use ringfence::policy::settle::Answer;
use ringfence::policy::verdict::{Grounds, Question};
use rustix::termios::{LocalModes, OptionalActions, OutputModes, Termios};

use crate::reveal;
use crate::terminal::FLOOR;

use question::Told;
pub(crate) use question::reach;

/// Asks whoever is at the terminal; denies at once where there is none.
#[derive(Debug, Default)]
pub(crate) struct TerminalApprover {
    /// One question at a time.
    turn: Arc<Mutex<()>>,
}

impl Approver for TerminalApprover {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn ask<'a>(&'a self, question: &'a Question, grounds: &'a Grounds) -> Awaited<'a> {
        let told = Told::of(question, grounds);
        let for_session = ApprovalKey::of(question).is_some();
        let rules: Vec<(String, String)> = question
            .proposals()
            .iter()
            .map(|proposal| (proposal.summary(), proposal.to_toml()))
            .collect();
        let turn = Arc::clone(&self.turn);
        Box::pin(async move {
            let Ok(terminal) = File::options().read(true).write(true).open("/dev/tty") else {
                return Answer::NobodyToAsk("there is no terminal".to_owned());
            };
            let asked = tokio::task::spawn_blocking(move || {
                let _turn = turn.lock();
                let asked = Asked {
                    told,
                    for_session,
                    rules,
                };
                asked.on(terminal)
            });
            asked.await.unwrap_or(Answer::Denied { message: None })
        })
    }
}

/// A question, and the answers that it can be given.
struct Asked {
    told: Told,
    /// Whether a yes may hold for the session.
    for_session: bool,
    /// Rules that a yes can be kept as: in words, and as they are written.
    rules: Vec<(String, String)>,
}

impl Asked {
    /// Takes one key, with the terminal as it was before afterwards.
    fn on(&self, mut terminal: File) -> Answer {
        let floor = FLOOR.ask();
        // What was typed before the question was seen does not answer it, and what is typed after
        // is not lost.
        let before = one_key_at_a_time(&terminal);
        let _ = write!(terminal, "\n{}\n{} > ", self.told.text, self.keys());
        let answer = self.answer(&mut terminal);
        if let Some(before) = before {
            let _ = rustix::termios::tcsetattr(terminal.as_fd(), OptionalActions::Now, &before);
        }
        let _ = terminal.write_all(b"\r\n");
        drop(floor);
        answer
    }

    fn keys(&self) -> String {
        let mut keys = String::from("[y] yes  ");
        if self.for_session {
            keys.push_str("[s] yes, for this session  ");
        }
        keys.push_str("[n] no  [q] no, and stop");
        if self.told.whole.is_some() {
            keys.push_str("  [v] show all of it");
        }
        for (number, (summary, _)) in self.rules.iter().enumerate() {
            let summary = reveal::line(summary);
            let _ = write!(keys, "\n[{}] yes, and always {summary}", number + 1);
        }
        keys
    }

    fn answer(&self, terminal: &mut File) -> Answer {
        let mut key = [0u8; 1];
        loop {
            match terminal.read(&mut key) {
                Ok(1) => {}
                _ => return Answer::Denied { message: None },
            }
            match key[0] {
                b'y' | b'Y' => return Answer::Approved,
                b's' | b'S' if self.for_session => return Answer::ApprovedForSession,
                b'n' | b'N' | b'\x1b' => return Answer::Denied { message: None },
                b'q' | b'Q' | b'\x03' => return Answer::Abort,
                b'v' | b'V' => {
                    if let Some(whole) = &self.told.whole {
                        let _ = write!(terminal, "\n{whole}\n{} > ", self.keys());
                    }
                }
                digit @ b'1'..=b'9' => {
                    if let Some((_, toml)) = self.rules.get(usize::from(digit - b'1')) {
                        return Answer::ApprovedWithRule(toml.clone());
                    }
                }
                _ => {}
            }
        }
    }
}

fn one_key_at_a_time(terminal: &File) -> Option<Termios> {
    let before = rustix::termios::tcgetattr(terminal).ok()?;
    let mut raw = before.clone();
    raw.local_modes
        .remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
    // A command that has the terminal may have it in a mode where lines do not begin at the left.
    raw.output_modes
        .insert(OutputModes::OPOST | OutputModes::ONLCR);
    rustix::termios::tcsetattr(terminal, OptionalActions::Flush, &raw).ok()?;
    Some(before)
}
