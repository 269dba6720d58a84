//! May files be changed or looked for? What a patch and a search are judged by: rules about paths,
//! then the same reach that a fenced command has.

use std::path::{Path, PathBuf};

use super::{Premises, confinement, deny};
use crate::action::{Action, ApplyPatch, SearchFiles};
use crate::judge::ApprovalKey;
use crate::permissions::{ApprovalPolicy, SandboxMode, SandboxPolicy, git_setup};
use crate::permit::{Basis, Permit};
use crate::rule::{Access, Decision};
use crate::ruleset::RuleDecision;
use crate::verdict::{Grounds, Judgement, Question, QuestionKind, Refusal, RefusalCode, Verdict};

const TOOL: &str = "apply_patch";

/// Judges a patch. Its paths have no links in them.
pub(super) fn judge_patch(patch: ApplyPatch, premises: &Premises<'_>) -> Judgement {
    let mut grounds = Grounds::default();
    let needs = decide(&patch, premises, &mut grounds);
    let verdict = settle(Action::ApplyPatch(patch), needs, premises);
    Judgement { verdict, grounds }
}

/// Judges a search. Names may be seen wherever a command could see them; what may not be read is
/// left out by whoever searches.
pub(super) fn judge_search(search: SearchFiles, premises: &Premises<'_>) -> Judgement {
    let mut grounds = Grounds {
        because: "it only reads names".to_owned(),
        ..Grounds::default()
    };
    let action = Action::SearchFiles(search);
    let needs = by_tool("file_search", premises, &mut grounds);
    let verdict = settle(action, needs, premises);
    Judgement { verdict, grounds }
}

/// What a use of a tool needs that nothing but rules about tools speaks against.
pub(super) fn by_tool(tool: &str, premises: &Premises<'_>, grounds: &mut Grounds) -> Needs {
    let rule = premises.rules.decide_tool(tool);
    match rule.filter(|rule| rule.decision != Decision::Allow) {
        Some(rule) => by_rule(&rule, grounds),
        None => Needs::Nothing(Basis::Policy),
    }
}

/// What an action needs that a rule denies or asks about.
pub(super) fn by_rule(rule: &RuleDecision, grounds: &mut Grounds) -> Needs {
    grounds.rule = Some(rule.rule.source.to_string());
    grounds.because = in_words(rule);
    if !is_refusal(rule) {
        return Needs::Question(grounds.because.clone());
    }
    Needs::TooMuch(Refusal {
        code: RefusalCode::DeniedByRule,
        reason: grounds.because.clone(),
        hint: None,
        class: None,
        grants: Vec::new(),
    })
}

/// What an action needs before it may happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing(Basis),
    Question(String),
    /// More than anybody can give.
    TooMuch(Refusal),
}

fn decide(patch: &ApplyPatch, premises: &Premises<'_>, grounds: &mut Grounds) -> Needs {
    let mut asked_by = premises
        .rules
        .decide_tool(TOOL)
        .filter(|rule| rule.decision != Decision::Allow);
    let mut uncovered: Vec<&Path> = Vec::new();
    let mut allowed_by = None;
    for path in &patch.writes {
        let rule = premises
            .rules
            .decide_path(path, Access::Write, premises.ground, TOOL);
        match rule.as_ref().map(|rule| rule.decision) {
            Some(Decision::Allow) => allowed_by = rule,
            Some(Decision::Deny) => asked_by = rule,
            Some(Decision::Ask) => asked_by = asked_by.or(rule),
            _ => uncovered.push(path),
        }
        if asked_by.as_ref().is_some_and(is_refusal) {
            break;
        }
    }
    if let Some(rule) = &asked_by {
        grounds.rule = Some(rule.rule.source.to_string());
        grounds.because = in_words(rule);
        if is_refusal(rule) {
            return Needs::TooMuch(Refusal {
                code: RefusalCode::DeniedByRule,
                reason: grounds.because.clone(),
                hint: None,
                class: None,
                grants: Vec::new(),
            });
        }
    }
    if premises.sandbox.mode.is_fenced()
        && let Some(refusal) = refused(patch, premises.sandbox)
    {
        grounds.because.clone_from(&refusal.reason);
        return Needs::TooMuch(refusal);
    }
    if asked_by.is_some() {
        return Needs::Question(grounds.because.clone());
    }
    let outside = uncovered
        .iter()
        .find(|path| premises.sandbox.mode.is_fenced() && !is_inside(path, premises.sandbox));
    if let Some(path) = outside {
        grounds.because = format!(
            "it writes {}, which is outside the writable folders",
            path.display()
        );
        return Needs::Question(grounds.because.clone());
    }
    "it writes in writable folders only".clone_into(&mut grounds.because);
    let basis = match allowed_by.filter(|_| uncovered.is_empty()) {
        Some(rule) => {
            grounds.rule = Some(rule.rule.source.to_string());
            grounds.because = in_words(&rule);
            Basis::Rule(rule.rule.source.to_string())
        }
        None if premises.approval == ApprovalPolicy::UnlessTrusted => {
            "it writes files, which approval policy unless-trusted asks about"
                .clone_into(&mut grounds.because);
            return Needs::Question(grounds.because.clone());
        }
        None => Basis::Policy,
    };
    Needs::Nothing(basis)
}

pub(super) fn settle(action: Action, needs: Needs, premises: &Premises<'_>) -> Verdict {
    let bounds = confinement(premises, None);
    match needs {
        Needs::TooMuch(refusal) => Verdict::Refuse(refusal),
        Needs::Nothing(basis) => Verdict::Allow(Permit::new(action, bounds, basis)),
        Needs::Question(because) if premises.approval == ApprovalPolicy::Never => deny(
            RefusalCode::ApprovalNotPossible,
            format!("{because}, and approval policy never asks nobody"),
            None,
        ),
        Needs::Question(because) => {
            let key = ApprovalKey::new(&QuestionKind::Run, &action, &bounds);
            if premises.approvals.contains(&key) {
                return Verdict::Allow(Permit::new(action, bounds, Basis::SessionApproval));
            }
            Verdict::Ask(Question::new(QuestionKind::Run, because, action, bounds))
        }
    }
}

fn is_refusal(rule: &RuleDecision) -> bool {
    rule.decision == Decision::Deny
}

fn in_words(rule: &RuleDecision) -> String {
    let does = match rule.decision {
        Decision::Deny => "denies",
        Decision::Ask => "asks about",
        _ => "allows",
    };
    super::in_words(rule, does)
}

fn is_inside(path: &Path, sandbox: &SandboxPolicy) -> bool {
    sandbox
        .effective_writable_roots()
        .iter()
        .any(|root| path.starts_with(root) && path != root)
}

/// What no question lifts: the fence would not let a command do it either.
fn refused(patch: &ApplyPatch, sandbox: &SandboxPolicy) -> Option<Refusal> {
    let protected: Vec<PathBuf> = sandbox
        .protected_paths
        .iter()
        .chain(&sandbox.watched_paths)
        .flat_map(|protected| {
            let roots = sandbox.writable_roots.iter();
            roots.map(move |root| root.join(protected))
        })
        .collect();
    let mut writes = patch.writes.iter();
    writes.find_map(|path| {
        let found = patch.guarded.contains(path);
        out_of_reach(path, sandbox, &protected).or_else(|| leads_git(path, sandbox, found))
    })
}

/// What decides what git runs is kept from patches as it is from commands: what was found to do so
/// on the machine, and whatever would by its name.
fn leads_git(path: &Path, sandbox: &SandboxPolicy, found: bool) -> Option<Refusal> {
    let allows = |part: &str| {
        let mut protected = sandbox.protected_paths.iter();
        !protected.any(|path| path == Path::new(part))
    };
    let mut inside = sandbox
        .writable_roots
        .iter()
        .filter_map(|root| path.strip_prefix(root).ok());
    let why = inside
        .find_map(|inner| git_setup(inner, allows))
        .or_else(|| found.then_some("git's settings have it run"))?;
    Some(Refusal {
        code: RefusalCode::ProtectedPath,
        reason: format!("it writes {}, and {why}", path.display()),
        hint: Some("`sandbox.unprotected_paths` lifts default protections".to_owned()),
        class: None,
        grants: Vec::new(),
    })
}

fn out_of_reach(path: &Path, sandbox: &SandboxPolicy, protected: &[PathBuf]) -> Option<Refusal> {
    let refusal = |code, why: String, hint: &str| Refusal {
        code,
        reason: format!("it writes {}, and {why}", path.display()),
        hint: Some(hint.to_owned()),
        class: None,
        grants: Vec::new(),
    };
    if let Some(denied) = meets(path, &sandbox.denied_reads) {
        return Some(refusal(
            RefusalCode::DeniedRead,
            format!("{} may not even be read", denied.display()),
            "`sandbox.allowed_reads` lifts default denials",
        ));
    }
    if sandbox.mode == SandboxMode::ReadOnly {
        return Some(refusal(
            RefusalCode::ReadOnly,
            "sandbox policy read-only writes nowhere".to_owned(),
            "use `--sandbox workspace-write`",
        ));
    }
    meets(path, protected).map(|protected| {
        refusal(
            RefusalCode::ProtectedPath,
            format!("{} is protected", protected.display()),
            "`sandbox.unprotected_paths` lifts default protections",
        )
    })
}

/// The one of these paths that a path is in, or that could not be if a file were there: `.git` as a
/// file does away with `.git/hooks`. Letters count the same in either case, as some file systems
/// have it.
fn meets<'p>(path: &Path, others: &'p [PathBuf]) -> Option<&'p PathBuf> {
    let same = |a: &Path, b: &Path| {
        a.components()
            .zip(b.components())
            .all(|(a, b)| a.as_os_str().eq_ignore_ascii_case(b.as_os_str()))
    };
    others.iter().find(|other| same(path, other))
}
