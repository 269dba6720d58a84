//! The approver at the terminal: shows what is asked, takes one key.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};

use ringfence::approval::{Approver, Awaited};
use ringfence::policy::permit::Confinement;
use ringfence::policy::settle::Answer;
use ringfence::policy::verdict::{Grounds, Question, QuestionKind};
use rustix::termios::{LocalModes, OptionalActions, OutputModes, Termios};

use crate::paint::visible;
use crate::terminal::FLOOR;

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
        let text = describe(question, grounds);
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
                ask_on(terminal, &text, &rules)
            });
            asked.await.unwrap_or(Answer::Denied { message: None })
        })
    }
}

/// What a person needs to know to decide.
fn describe(question: &Question, grounds: &Grounds) -> String {
    let mut lines = Vec::new();
    match question.kind() {
        QuestionKind::Run => lines.push("May this run?".to_owned()),
        QuestionKind::LeaveFence => lines.push("May this run OUTSIDE the fence?".to_owned()),
        QuestionKind::RetryUnfenced { denied } => {
            lines.push("The fence refused something:".to_owned());
            lines.extend(denied.iter().map(|line| format!("  {line}")));
            lines.push("May it run again OUTSIDE the fence?".to_owned());
        }
    }
    lines.push(format!(
        "  {}",
        ringfence::subject(question.action()).replace('\n', "\n  ")
    ));
    if let Some(script) = &grounds.script {
        lines.push(format!(
            "  in a script, line {}: {}",
            script.line, script.text
        ));
    }
    lines.push(format!("  why asked: {}", question.because()));
    if let ringfence::policy::Action::RunCommand(command) = question.action() {
        lines.push(format!("  in: {}", command.cwd.display()));
        for (what, words) in [
            ("it says", &command.description),
            ("its reason", &command.justification),
        ] {
            lines.extend(
                words
                    .iter()
                    .map(|words| format!("  {what} (model's words): {words}")),
            );
        }
    }
    lines.push(format!("  {}", reach(question.if_approved())));
    if let Some(class) = grounds.class {
        lines.push(format!("  class: {class}"));
    }
    visible(&lines.join("\n"))
}

/// What a command may do that runs like this.
pub(crate) fn reach(confinement: &Confinement) -> String {
    match confinement {
        Confinement::Unfenced { .. } => "may write and reach: anything".to_owned(),
        Confinement::Fenced { sandbox, .. } => {
            let roots: Vec<_> = sandbox
                .effective_writable_roots()
                .iter()
                .map(|root| root.display().to_string())
                .collect();
            let roots = if roots.is_empty() {
                "nothing".to_owned()
            } else {
                roots.join(", ")
            };
            format!("may write: {roots}; network: {}", sandbox.network)
        }
    }
}

/// Takes one key, with the terminal as it was before afterwards.
fn ask_on(mut terminal: File, text: &str, rules: &[(String, String)]) -> Answer {
    let mut keys = String::from("[y] yes  [s] yes, for this session  [n] no  [q] no, and stop");
    for (number, (summary, _)) in rules.iter().enumerate() {
        let _ = write!(
            keys,
            "\n[{}] yes, and always {}",
            number + 1,
            visible(summary)
        );
    }
    let floor = FLOOR.ask();
    // What was typed before the question was seen does not answer it, and what is typed after
    // is not lost.
    let before = one_key_at_a_time(&terminal);
    let _ = write!(terminal, "\n{text}\n{keys} > ");
    let mut key = [0u8; 1];
    let answer = loop {
        match terminal.read(&mut key) {
            Ok(1) => {}
            _ => break Answer::Denied { message: None },
        }
        match key[0] {
            b'y' | b'Y' => break Answer::Approved,
            b's' | b'S' => break Answer::ApprovedForSession,
            b'n' | b'N' | b'\x1b' => break Answer::Denied { message: None },
            b'q' | b'Q' | b'\x03' => break Answer::Abort,
            digit @ b'1'..=b'9' => {
                if let Some((_, toml)) = rules.get(usize::from(digit - b'1')) {
                    break Answer::ApprovedWithRule(toml.clone());
                }
            }
            _ => {}
        }
    };
    if let Some(before) = before {
        let _ = rustix::termios::tcsetattr(terminal.as_fd(), OptionalActions::Now, &before);
    }
    let _ = terminal.write_all(b"\r\n");
    drop(floor);
    answer
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
