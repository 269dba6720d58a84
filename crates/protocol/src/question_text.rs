//! A question in words: what a person needs to know to decide.
//!
//! The command stands behind a bar of its own, so that no line of it can be taken for one of ours,
//! and whatever a model says about it is one line.

use ringfence::policy::Action;
use ringfence::policy::action::RunCommand;
use ringfence::policy::command_line::{CommandLine, Profile};
use ringfence::policy::permit::Confinement;
use ringfence::policy::verdict::{Grounds, Question, QuestionKind};

use crate::reveal;

/// As many lines of a command are shown at once, and as many characters of each.
const LINES: usize = 40;
const CHARACTERS: usize = 1000;
/// As many characters of what a model says.
const WORDS: usize = 400;

/// A question in words.
pub struct Told {
    /// What is shown.
    pub text: String,
    /// The whole command, where some of it is left out of that.
    pub whole: Option<String>,
}

impl Told {
    /// The words for a question.
    pub fn of(question: &Question, grounds: &Grounds) -> Self {
        let mut lines = Vec::new();
        match question.kind() {
            QuestionKind::Run => lines.push("May this run?".to_owned()),
            QuestionKind::LeaveFence => lines.push("May this run OUTSIDE the fence?".to_owned()),
            QuestionKind::RetryGranted { denied } => {
                lines.push("The fence refused something:".to_owned());
                lines.extend(denied.iter().map(|line| said("", line)));
                lines.push("May it run again, still INSIDE the fence, with leave to".to_owned());
            }
            QuestionKind::RetryUnfenced { denied } => {
                lines.push("The fence refused something:".to_owned());
                lines.extend(denied.iter().map(|line| said("", line)));
                lines.push("May it run again OUTSIDE the fence?".to_owned());
            }
        }
        lines.extend(granted(question));
        let command = reveal::lines(&ringfence::subject(question.action()));
        let (shown, all) = shortened(&command);
        lines.extend(shown);
        if let Some(script) = &grounds.script {
            let at = format!("in a script, line {}: ", script.line);
            lines.push(said(&at, &script.text));
        }
        lines.push(said("why asked: ", question.because()));
        if let Action::RunCommand(command) = question.action() {
            lines.extend(about(command));
        }
        lines.push(format!(
            "  {}",
            reveal::line(&reach(question.if_approved()))
        ));
        let ran = question.kind().denied().is_some();
        if let Some(class) = grounds.class.filter(|_| !ran) {
            lines.push(format!("  class: {class}"));
        }
        Self {
            text: lines.join("\n"),
            whole: (!all).then(|| behind_a_bar(&command).join("\n")),
        }
    }
}

/// What a yes grants besides. Nothing of it is left out: it is what the yes is about.
fn granted(question: &Question) -> Vec<String> {
    let grants = question.grants().iter();
    let lines = grants.map(|grant| format!("  + {}", reveal::line(&grant.to_string())));
    let mut lines: Vec<String> = lines.collect();
    if !lines.is_empty() && question.kind().denied().is_none() {
        lines.insert(0, "With leave, inside the fence, to".to_owned());
    }
    lines
}

/// A line of ours with somebody else's words in it.
fn said(what: &str, words: &str) -> String {
    format!("  {what}{}", reveal::cut(&reveal::line(words), WORDS))
}

/// What else there is to know about a command.
fn about(command: &RunCommand) -> Vec<String> {
    let mut lines = Vec::new();
    if let CommandLine::Shell { shell, profile, .. } = &command.line {
        let login = match profile {
            Profile::Login => ", as a login shell",
            Profile::Plain => "",
        };
        let shell = format!("{}{login}", shell.path.display());
        lines.push(said("with: ", &shell));
    }
    let folder = command.cwd.display().to_string();
    lines.push(format!("  in: {}", reveal::line(&folder)));
    for (what, words) in [
        ("it says (model's words): ", &command.description),
        ("its reason (model's words): ", &command.justification),
    ] {
        lines.extend(words.iter().map(|words| said(what, words)));
    }
    lines
}

fn behind_a_bar(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| format!("  | {line}")).collect()
}

/// The lines of a command as they are shown, and whether that is all of it. Of a long one the
/// beginning and the end are: what it does last is no less than what it does first.
fn shortened(lines: &[String]) -> (Vec<String>, bool) {
    let cut: Vec<String> = lines
        .iter()
        .map(|line| reveal::cut(line, CHARACTERS))
        .collect();
    let whole = cut == lines;
    let mut shown = behind_a_bar(&cut);
    if shown.len() <= LINES {
        return (shown, whole);
    }
    let (head, tail) = (LINES / 2, shown.len() - LINES / 2);
    let left_out = format!("  [{} lines are not shown here]", tail - head);
    shown.splice(head..tail, [left_out]);
    (shown, false)
}

/// What a command may do that runs like this.
pub fn reach(confinement: &Confinement) -> String {
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
