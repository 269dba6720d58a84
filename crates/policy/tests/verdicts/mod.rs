//! Verdicts about commands in the workspace `/home/u/work`, with no rules.

#![allow(dead_code, reason = "each test that includes it uses a part of it")]

use std::collections::BTreeMap;

use ringfence_policy::{
    Action, Ground, ShellKind, Verdict,
    action::{FenceRequest, RunCommand},
    classify::Class,
    command_line::{CommandLine, Profile, Shell},
    judge::{Escalation, Premises, SessionApprovals, judge},
    permissions::{ApprovalPolicy, Limits, SandboxPolicy},
    ruleset::RuleSet,
};

/// The verdict and the sentence that decides.
pub(crate) fn verdict(text: &str, approval: ApprovalPolicy) -> (Verdict, String) {
    let judgement = judged(text, ShellKind::Bash, approval);
    (judgement.verdict, judgement.grounds.because)
}

/// The class of a command.
pub(crate) fn class(text: &str, kind: ShellKind) -> Class {
    let grounds = judged(text, kind, ApprovalPolicy::OnFailure).grounds;
    grounds.class.unwrap_or(Class::Dangerous)
}

/// Whether somebody is asked about a command, or it is refused.
pub(crate) fn asks(text: &str, approval: ApprovalPolicy) -> bool {
    !matches!(verdict(text, approval).0, Verdict::Allow(_))
}

fn judged(
    text: &str,
    kind: ShellKind,
    approval: ApprovalPolicy,
) -> ringfence_policy::verdict::Judgement {
    let ground = Ground::at("/home/u/work").with_home("/home/u");
    let (sandbox, limits) = (
        SandboxPolicy::workspace_write("/home/u/work"),
        Limits::default(),
    );
    let (rules, approvals) = (RuleSet::default(), SessionApprovals::default());
    let premises = Premises {
        ground: &ground,
        sandbox: &sandbox,
        limits: &limits,
        approval,
        escalation: Escalation::Off,
        rules: &rules,
        approvals: &approvals,
    };
    let command = RunCommand {
        tool: "bash".into(),
        line: CommandLine::Shell {
            shell: Shell {
                kind,
                path: "/bin/bash".into(),
            },
            text: text.to_owned(),
            profile: Profile::Plain,
        },
        cwd: "/home/u/work".into(),
        environment: BTreeMap::new(),
        fence: FenceRequest::Stay,
        justification: None,
        description: None,
    };
    judge(Action::RunCommand(command), &premises)
}
