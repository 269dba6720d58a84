//! Which calls somebody wants to see of a log.

use memchr::memmem::Finder;

use super::clock::Timestamp;
use super::outcome::Outcome;
use super::record::{Command, Decision, Intent};

/// What is wanted: every condition that is set must hold. Without any, everything is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Not before this moment.
    pub since: Option<Timestamp>,
    /// Before this moment.
    pub until: Option<Timestamp>,
    /// Of this session.
    pub session: Option<String>,
    /// Made through this tool.
    pub tool: Option<String>,
    /// With this verdict.
    pub verdict: Option<Decision>,
    /// Of a command of this class.
    pub class: Option<String>,
    /// In this folder or one below it, or with this path in the command.
    pub path: Option<String>,
    /// With this host in it.
    pub host: Option<String>,
    /// With this text in the command, the reason, the rule or the justification.
    pub text: Option<String>,
    /// Ended like this.
    pub outcome: Option<Outcome>,
}

impl Filter {
    /// Whether only some calls are wanted, so that what belongs to no call is not.
    pub(super) fn is_about_calls(&self) -> bool {
        let Self {
            since: _,
            until: _,
            session: _,
            tool,
            verdict,
            class,
            path,
            host,
            text,
            outcome,
        } = self;
        let texts = [tool, class, path, host, text];
        texts.into_iter().any(Option::is_some) || verdict.is_some() || outcome.is_some()
    }

    /// Whether a moment is within the time that is wanted.
    pub(super) fn covers(&self, at: Timestamp) -> bool {
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until)
    }

    /// Whether a call with this intent is wanted, as far as that tells.
    pub(super) fn takes(&self, intent: &Intent) -> bool {
        let is = |wanted: &Option<String>, value: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == value)
        };
        is(&self.session, &intent.session.0)
            && is(&self.tool, &intent.tool)
            && is(&self.class, intent.class.as_deref().unwrap_or_default())
            && self.verdict.is_none_or(|verdict| verdict == intent.verdict)
            && self.path.as_deref().is_none_or(|path| {
                intent.cwd.starts_with(path) || mentions(&intent.command, path, |_| true)
            })
            && self.host.as_deref().is_none_or(|host| {
                let apart = |c: char| !(c.is_alphanumeric() || c == '-' || c == '.');
                mentions(&intent.command, host, apart)
            })
            && self.text.as_deref().is_none_or(|text| {
                let Intent {
                    reason,
                    rule,
                    justification,
                    ..
                } = intent;
                let others = [Some(reason), rule.as_ref(), justification.as_ref()];
                let mut others = others.into_iter().flatten();
                mentions(&intent.command, text, |_| true)
                    || others.any(|other| other.contains(text))
            })
    }

    /// Texts without which no intent can be wanted, as they stand in its line.
    pub(super) fn needles(&self) -> Vec<Finder<'static>> {
        let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
        // A text may stand in the middle of another.
        let within = |text: &str| quoted(text).trim_matches('"').to_owned();
        let fields = [
            self.session
                .as_deref()
                .map(|it| format!("\"session\":{}", quoted(it))),
            self.tool
                .as_deref()
                .map(|it| format!("\"tool\":{}", quoted(it))),
            self.class
                .as_deref()
                .map(|it| format!("\"class\":{}", quoted(it))),
            self.path.as_deref().map(within),
            self.host.as_deref().map(within),
            self.text.as_deref().map(within),
        ];
        let fields = fields.into_iter().flatten();
        fields
            .map(|text| Finder::new(text.as_bytes()).into_owned())
            .collect()
    }
}

/// Whether a command has this text in it, with such letters or an end on both sides.
fn mentions(command: &Command, text: &str, apart: impl Fn(char) -> bool) -> bool {
    let has = |word: &String| {
        word.match_indices(text).any(|(at, _)| {
            let before = word[..at].chars().next_back();
            let after = word[at + text.len()..].chars().next();
            before.is_none_or(&apart) && after.is_none_or(&apart)
        })
    };
    match command {
        Command::Line(line) => has(line),
        Command::Argv(argv) => argv.iter().any(has),
    }
}
