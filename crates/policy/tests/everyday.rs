//! What an agent runs on an ordinary day: few of it asks under the default policy, and what asks says
//! why in words that a person accepts.

use expect_test::{ExpectFile, expect_file};
use ringfence_policy::permissions::ApprovalPolicy;

mod verdicts;

use verdicts::{asks, verdict};

fn commands() -> Vec<String> {
    let text = include_str!("everyday/commands.txt");
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.replace("\\n", "\n")).collect()
}

fn asked(policy: ApprovalPolicy) -> Vec<String> {
    let commands = commands();
    let asking = commands.iter().filter(|command| asks(command, policy));
    asking
        .map(|command| {
            let (_, because) = verdict(command, policy);
            format!(
                "{}\n    {because}",
                command.lines().next().unwrap_or_default()
            )
        })
        .collect()
}

fn check(policy: ApprovalPolicy, expected: &ExpectFile) -> usize {
    let asked = asked(policy);
    let text = format!(
        "{} of {} ask\n{}\n",
        asked.len(),
        commands().len(),
        asked.join("\n")
    );
    expected.assert_eq(&text);
    asked.len()
}

#[test]
fn at_most_one_in_ten_asks_by_default() {
    let expected = expect_file!["everyday/on-failure.txt"];
    let count = check(ApprovalPolicy::OnFailure, &expected);
    let all = commands().len();
    assert!(all >= 150, "only {all} commands");
    assert!(count * 10 <= all, "{count} ask");
}

#[test]
fn what_asks_on_request() {
    let expected = expect_file!["everyday/on-request.txt"];
    check(ApprovalPolicy::OnRequest, &expected);
}
