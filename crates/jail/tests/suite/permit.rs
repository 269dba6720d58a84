//! A permit for a command, got the only way there is.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ringfence_policy::action::{Action, FenceRequest, RunCommand};
use ringfence_policy::command_line::CommandLine;
use ringfence_policy::judge::{Escalation, Premises, SessionApprovals, judge};
use ringfence_policy::permissions::{ApprovalPolicy, Limits, SandboxPolicy};
use ringfence_policy::ruleset::RuleSet;
use ringfence_policy::settle::{Answer, settle};
use ringfence_policy::{Ground, Permit, Verdict};

/// Where programs are found inside.
pub const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// A permit for a command in a folder: every question is answered with yes.
pub fn permit(
    argv: Vec<String>,
    cwd: PathBuf,
    environment: BTreeMap<String, String>,
    sandbox: &SandboxPolicy,
    limits: &Limits,
) -> Permit {
    let ground = Ground::at(cwd.clone());
    let action = Action::RunCommand(RunCommand {
        tool: "test".into(),
        line: CommandLine::Argv(argv),
        cwd,
        environment,
        fence: FenceRequest::Stay,
        justification: None,
        description: None,
    });
    let premises = Premises {
        ground: &ground,
        sandbox,
        limits,
        approval: ApprovalPolicy::OnFailure,
        escalation: Escalation::Off,
        rules: &RuleSet::default(),
        approvals: &SessionApprovals::default(),
    };
    match judge(action, &premises).verdict {
        Verdict::Allow(permit) => permit,
        Verdict::Ask(question) => settle(question, &Answer::Approved).expect("approved"),
        Verdict::Refuse(refusal) => panic!("the policy already refuses this: {refusal}"),
    }
}
