//! May a script run, may something be typed into what runs, may it be ended? Each is allowed unless a
//! rule speaks against it: a script touches nothing but through its tools, and a command that
//! runs was permitted with everything that it may be told.

use super::files::{Needs, by_rule, by_tool, settle};
use super::{Grounds, Judgement, Premises};
use crate::action::{Action, RunScript, StopProcess, TypeInput};
use crate::facts::{CommandText, understand};
use crate::permit::Basis;
use crate::rule::Decision;
use crate::shell::ShellKind;

/// Judges a script.
pub(super) fn judge_script(script: RunScript, premises: &Premises<'_>) -> Judgement {
    let mut grounds = because("a script touches nothing but through its tools");
    let needs = by_tool(&script.tool, premises, &mut grounds);
    judged(Action::RunScript(script), needs, grounds, premises)
}

/// Judges what is typed. A rule that denies a command denies it as typed text as well, as far as
/// one piece of typing shows it.
pub(super) fn judge_input(input: TypeInput, premises: &Premises<'_>) -> Judgement {
    let mut grounds = because("what it is typed into was permitted");
    let mut needs = by_tool(&input.tool, premises, &mut grounds);
    if let Needs::Nothing(Basis::Policy) | Needs::Question(_) = needs {
        let facts = understand(CommandText::Shell {
            kind: ShellKind::Bash,
            text: &input.text,
        });
        let rule = premises.rules.decide(&facts, premises.ground, &input.tool);
        if let Some(rule) = rule.filter(|rule| rule.decision == Decision::Deny) {
            needs = by_rule(&rule, &mut grounds);
        }
    }
    judged(Action::TypeInput(input), needs, grounds, premises)
}

/// Judges an end.
pub(super) fn judge_stop(stop: StopProcess, premises: &Premises<'_>) -> Judgement {
    let mut grounds = because("what the session has started it may end");
    let needs = by_tool(&stop.tool, premises, &mut grounds);
    judged(Action::StopProcess(stop), needs, grounds, premises)
}

fn because(because: &str) -> Grounds {
    Grounds {
        because: because.to_owned(),
        ..Grounds::default()
    }
}

fn judged(action: Action, needs: Needs, grounds: Grounds, premises: &Premises<'_>) -> Judgement {
    Judgement {
        verdict: settle(action, needs, premises),
        grounds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::Ground;
    use crate::judge::{Escalation, SessionApprovals, judge};
    use crate::permissions::{ApprovalPolicy, Limits, SandboxPolicy};
    use crate::rule::Layer;
    use crate::ruleset::RuleSet;

    fn verdict(rules: &str, approval: ApprovalPolicy, action: Action) -> &'static str {
        let rules = RuleSet::parse(Layer::User, "rules", rules).unwrap();
        let premises = Premises {
            ground: &Ground::at("/w"),
            sandbox: &SandboxPolicy::workspace_write("/w"),
            limits: &Limits::default(),
            approval,
            escalation: Escalation::Off,
            rules: &rules,
            approvals: &SessionApprovals::default(),
        };
        judge(action, &premises).verdict.name()
    }

    #[test]
    fn typing_and_stopping_are_allowed_unless_a_rule_speaks_against_it() {
        use ApprovalPolicy::{Never, OnFailure};
        let typed = |text: &str| {
            Action::TypeInput(TypeInput {
                tool: "write_stdin".to_owned(),
                process: "1001".to_owned(),
                command: "bash -i".to_owned(),
                text: text.to_owned(),
                is_hidden: false,
                closes: false,
            })
        };
        let stop = |tool: &str| {
            Action::StopProcess(StopProcess {
                tool: tool.to_owned(),
                process: "task_1".to_owned(),
                command: "sleep 9".to_owned(),
            })
        };
        let rule =
            |about: &str, decision: &str| format!("[[rule]]\n{about}\ndecision = \"{decision}\"\n");
        let no_typing = rule("tool = \"write_stdin\"", "deny");
        let ask_typing = rule("tool = \"write_stdin\"", "ask");
        let no_push = rule("prefix = [\"git\", \"push\"]", "deny");
        let ask_push = rule("prefix = [\"git\", \"push\"]", "ask");
        let no_stop = rule("tool = \"bash_task_stop\"", "deny");
        for (rules, approval, action, expected) in [
            ("", OnFailure, typed("ls\n"), "allow"),
            ("", Never, typed("rm -rf /\n"), "allow"),
            ("", OnFailure, typed("\u{3}"), "allow"),
            (&no_typing, OnFailure, typed("ls\n"), "deny"),
            (&no_typing, OnFailure, stop("bash_task_stop"), "allow"),
            (&ask_typing, OnFailure, typed("ls\n"), "ask"),
            (&ask_typing, Never, typed("ls\n"), "deny"),
            (&no_push, OnFailure, typed("cd x && git push\n"), "deny"),
            (&no_push, OnFailure, typed("git pull\n"), "allow"),
            (&ask_push, OnFailure, typed("git push\n"), "allow"),
            ("", Never, stop("bash_task_stop"), "allow"),
            (&no_stop, OnFailure, stop("bash_task_stop"), "deny"),
            (&no_stop, OnFailure, stop("spawn.cancel"), "allow"),
        ] {
            let about = format!("{rules:?} {action:?}");
            assert_eq!(verdict(rules, approval, action), expected, "{about}");
        }
    }
}
