//! The answers that a question can be given, and what a typed line says of them.

use std::fmt::Write as _;
use std::time::Duration;

use ringfence::policy::action::Action;
use ringfence::policy::judge::ApprovalKey;
use ringfence::policy::permit::Confinement;
use ringfence::policy::settle::{Answer, Holds};
use ringfence::policy::verdict::{Question, QuestionKind};

use ringfence_protocol::reveal;

/// How long an answer holds that is given for the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionLength {
    /// It is this one command: such an answer would be no different from a yes.
    OneCommand,
    /// Others follow.
    ManyCalls,
}

/// The answers that are offered.
pub(super) struct Offer {
    /// Whether the letter is enough for a yes.
    by_letter: bool,
    /// Whether a yes may hold for the session.
    for_session: bool,
    /// Whether there is more to show.
    has_more: bool,
    /// Rules that a yes can be kept as: in words, and as they are written.
    rules: Vec<(String, String)>,
    /// Whether it may leave the fence instead.
    outside: bool,
    /// What a yes grants besides, in words, where it is about that and one of several can be chosen.
    grants: Vec<String>,
}

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    Answer(Answer),
    ShowAll,
    Help,
    /// Nothing that is offered.
    Other,
}

impl Offer {
    pub(super) fn of(question: &Question, session: SessionLength, has_more: bool) -> Self {
        let fenced = matches!(question.if_approved(), Confinement::Fenced { .. });
        // What runs already chose the moment to be asked about: a letter may be meant for it.
        let asked_by_what_runs = matches!(question.action(), Action::Connect(_));
        let before_it_runs = *question.kind() == QuestionKind::Run && !asked_by_what_runs;
        let lasts = session == SessionLength::ManyCalls;
        Self {
            by_letter: fenced && before_it_runs,
            for_session: lasts && ApprovalKey::of(question).is_some(),
            has_more,
            outside: question.offers_outside(),
            grants: match question.grants() {
                [_, _, ..] => question.grants().iter().map(ToString::to_string).collect(),
                _ => Vec::new(),
            },
            rules: question
                .proposals()
                .iter()
                .map(|proposal| (proposal.summary(), proposal.to_toml()))
                .collect(),
        }
    }

    /// What a line says. Exactly one of the words that are offered counts.
    pub(super) fn read(&self, line: &[u8]) -> Said {
        let line = line.trim_ascii().to_ascii_lowercase();
        match line.as_slice() {
            b"yes" => Said::Answer(Answer::Approved),
            b"y" if self.by_letter => Said::Answer(Answer::Approved),
            b"session" if self.for_session => Said::Answer(Answer::ApprovedForSession),
            b"outside" if self.outside => Said::Answer(Answer::Outside),
            b"no" | b"n" => Said::Answer(Answer::Denied { message: None }),
            b"stop" | b"q" => Said::Answer(Answer::Abort),
            b"view" | b"v" if self.has_more => Said::ShowAll,
            b"?" | b"help" => Said::Help,
            other => self
                .grant(other)
                .or_else(|| self.rule(other))
                .map_or(Said::Other, Said::Answer),
        }
    }

    /// The one of several things to grant that `only 2` names.
    fn grant(&self, line: &[u8]) -> Option<Answer> {
        let [b' ', digit @ b'1'..=b'9'] = line.strip_prefix(b"only")? else {
            return None;
        };
        let grant = usize::from(digit - b'1');
        let holds = Holds::Once;
        (grant < self.grants.len()).then_some(Answer::Granted { grant, holds })
    }

    /// The rule that `always`, or `always 2` where there are several, names.
    fn rule(&self, line: &[u8]) -> Option<Answer> {
        let index = match (line.strip_prefix(b"always")?, self.rules.len()) {
            (b"" | b" 1", 1) => 0,
            ([b' ', digit @ b'1'..=b'9'], _) => usize::from(digit - b'1'),
            _ => return None,
        };
        let (_, toml) = self.rules.get(index)?;
        Some(Answer::ApprovedWithRule(toml.clone()))
    }

    fn words(&self) -> Vec<(String, String)> {
        let yes = if self.by_letter { "yes (or y)" } else { "yes" };
        let mut words = vec![(yes.to_owned(), "this once".to_owned())];
        for (number, grant) in self.grants.iter().enumerate() {
            let word = format!("only {}", number + 1);
            words.push((word, format!("this once, only to {}", reveal::line(grant))));
        }
        if self.for_session {
            words.push(("session".to_owned(), "yes, for this session".to_owned()));
        }
        for (number, (summary, _)) in self.rules.iter().enumerate() {
            let word = match self.rules.len() {
                1 => "always".to_owned(),
                _ => format!("always {}", number + 1),
            };
            words.push((word, format!("yes, and always {}", reveal::line(summary))));
        }
        if self.outside {
            let meaning = "this once, OUTSIDE the fence: it may write and reach anything";
            words.push(("outside".to_owned(), meaning.to_owned()));
        }
        words.push(("no (or n)".to_owned(), "not this".to_owned()));
        words.push(("stop (or q)".to_owned(), "no, and stop".to_owned()));
        if self.has_more {
            words.push(("view (or v)".to_owned(), "show all of it".to_owned()));
        }
        words
    }

    /// The words and what they mean.
    pub(super) fn listing(&self, left: Duration) -> String {
        let mut text = String::from("Type a word and Enter:\n");
        for (word, meaning) in self.words() {
            let _ = writeln!(text, "  {word:<12} {meaning}");
        }
        let _ = writeln!(text, "No answer within {} means no.", in_words(left));
        text
    }

    /// What is expected, in a line.
    pub(super) fn expected(&self) -> String {
        let words: Vec<String> = self.words().into_iter().map(|(word, _)| word).collect();
        format!("Type one of these and Enter: {}, or ?", words.join(", "))
    }

    /// What else there is to know.
    pub(super) fn help(&self) -> String {
        let mut text = String::new();
        for (word, meaning) in self.words() {
            let _ = writeln!(text, "  {word:<12} {meaning}");
        }
        text.push_str(
            "Backspace and Ctrl-U edit the line. Esc, Ctrl-C and Ctrl-D mean no. A paste is no \
             answer, nor is\nwhat is typed before `answer>` is there.",
        );
        text
    }
}

fn in_words(time: Duration) -> String {
    let seconds = time.as_millis().div_ceil(1000);
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(by_letter: bool, for_session: bool, rules: usize) -> Offer {
        Offer {
            by_letter,
            for_session,
            has_more: false,
            outside: false,
            grants: Vec::new(),
            rules: (1..=rules)
                .map(|number| (format!("allow {number}"), format!("rule {number}")))
                .collect(),
        }
    }

    #[test]
    fn one_of_the_words_counts_and_nothing_else() {
        let rule = |number| Said::Answer(Answer::ApprovedWithRule(format!("rule {number}")));
        let yes = || Said::Answer(Answer::Approved);
        let no = || Said::Answer(Answer::Denied { message: None });
        for (offer, line, expected) in [
            (offer(true, false, 0), "y", yes()),
            (offer(true, false, 0), " Yes ", yes()),
            (offer(false, false, 0), "yes", yes()),
            (offer(false, false, 0), "y", Said::Other),
            (offer(false, false, 0), "n", no()),
            (offer(false, false, 0), "q", Said::Answer(Answer::Abort)),
            (
                offer(false, true, 0),
                "session",
                Said::Answer(Answer::ApprovedForSession),
            ),
            (offer(false, true, 0), "s", Said::Other),
            (offer(false, false, 0), "session", Said::Other),
            (offer(true, true, 1), "always", rule(1)),
            (offer(true, true, 1), "a", Said::Other),
            (offer(true, true, 1), "1", Said::Other),
            (offer(true, true, 2), "always", Said::Other),
            (offer(true, true, 2), "always 2", rule(2)),
            (offer(true, true, 2), "always 3", Said::Other),
            (offer(true, true, 2), "always 0", Said::Other),
            (offer(true, true, 2), "always12", Said::Other),
            (offer(true, true, 0), "always", Said::Other),
            (offer(true, true, 0), "", Said::Other),
            (offer(true, true, 0), "?", Said::Help),
            (offer(true, true, 0), "view", Said::Other),
        ] {
            assert_eq!(offer.read(line.as_bytes()), expected, "{line:?}");
        }
        for line in [
            "why?",
            "maybe",
            "try again",
            "yes please",
            "ye",
            "yess",
            "y y",
            "v1.0",
            "0123 y",
            "\0y",
            "yes\0",
            "{\"id\": 1, \"tool\": \"bash\"}",
        ] {
            assert_eq!(
                offer(true, true, 9).read(line.as_bytes()),
                Said::Other,
                "{line:?}"
            );
        }
    }

    #[test]
    fn the_time_that_is_left_is_told() {
        for (seconds, expected) in [(1, "1 s"), (60, "1 min"), (299, "4 min 59 s")] {
            assert_eq!(in_words(Duration::from_secs(seconds)), expected);
        }
    }
}
