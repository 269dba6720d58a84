//! May this connection be made? The name is judged before anybody looks it up, since looking up a
//! name already tells somebody else; the addresses that it turns out to have are judged after.

use std::net::IpAddr;

use super::{ApprovalKey, Bench, confinement, deny};
use crate::action::{Action, Connect};
use crate::host::{Host, Protocol};
use crate::permissions::ApprovalPolicy;
use crate::permit::{Basis, Permit};
use crate::propose::propose_host;
use crate::rule::Decision;
use crate::ruleset::RuleDecision;
use crate::verdict::{Denial, DenialCode, Grounds, Judgement, Question, QuestionKind, Verdict};

/// The connection in a few words: `example.com:443 (https)`.
pub(crate) fn in_words(connect: &Connect) -> String {
    format!("{} ({})", place(connect), connect.protocol)
}

fn place(connect: &Connect) -> String {
    match &connect.host {
        Host::Address(IpAddr::V6(six)) => format!("[{six}]:{}", connect.port),
        host => format!("{host}:{}", connect.port),
    }
}

/// Judges a connection by the name that it was asked for by.
pub(super) fn judge(connect: Connect, bench: &Bench<'_>) -> Judgement {
    let rule =
        bench
            .rules
            .decide_host(&connect.host, connect.port, connect.protocol, &connect.tool);
    let mut grounds = Grounds {
        rule: rule.as_ref().map(|rule| rule.rule.source.to_string()),
        ..Grounds::default()
    };
    let verdict = decide(connect, rule.as_ref(), bench, &mut grounds);
    Judgement { verdict, grounds }
}

fn decide(
    connect: Connect,
    rule: Option<&RuleDecision>,
    bench: &Bench<'_>,
    grounds: &mut Grounds,
) -> Verdict {
    let confinement = confinement(bench, None);
    let allow = |connect, basis| {
        Verdict::Allow(Permit::new(
            Action::Connect(connect),
            confinement.clone(),
            basis,
        ))
    };
    match rule {
        Some(rule) if rule.decision == Decision::Deny => {
            grounds.because = super::in_words(rule, "denies");
            return deny(DenialCode::DeniedByRule, grounds.because.clone(), None);
        }
        _ if is_granted(&connect, bench) => {
            "a rule grants it to the command".clone_into(&mut grounds.because);
            return allow(connect, Basis::Rule("of the command".to_owned()));
        }
        Some(rule) if rule.decision == Decision::Allow => {
            grounds.because = super::in_words(rule, "allows");
            return allow(connect, Basis::Rule(rule.rule.source.to_string()));
        }
        _ => {}
    }
    if let Some(class) = connect.host.class().filter(|class| !class.is_ordinary()) {
        grounds.because = format!("{} is {class}", connect.host);
        return Verdict::Deny(not_named(&connect, &connect.host, grounds.because.clone()));
    }
    grounds.because = match rule {
        Some(rule) => super::in_words(rule, "asks about"),
        None => format!("no rule is about {}", in_words(&connect)),
    };
    if bench.approval == ApprovalPolicy::Never {
        let reason = format!("{}, and approval policy never asks nobody", grounds.because);
        return deny(
            DenialCode::ApprovalNotPossible,
            reason,
            Some(&how(&connect)),
        );
    }
    let action = Action::Connect(connect.clone());
    let key = ApprovalKey::new(&QuestionKind::Run, &action, &confinement);
    if bench.remembered.contains(&key) {
        return allow(connect, Basis::Remembered);
    }
    let proposal = propose_host(&connect);
    let question = Question::new(
        QuestionKind::Run,
        grounds.because.clone(),
        action,
        confinement,
    );
    Verdict::Ask(question.proposing(vec![proposal]))
}

/// What a tunnel is to be judged as, whose contents nobody has seen yet. One that may carry
/// anything does; otherwise it is held to what is usual on its port, and looked into.
pub fn protocol_of_tunnel(tool: &str, host: &Host, port: u16, bench: &Bench<'_>) -> Protocol {
    let web = if port == 80 {
        Protocol::Http
    } else {
        Protocol::Https
    };
    let passes = |protocol| {
        let connect = Connect {
            tool: tool.to_owned(),
            host: host.clone(),
            port,
            protocol,
        };
        matches!(judge(connect, bench).verdict, Verdict::Allow(_))
    };
    if passes(Protocol::Tcp) {
        return Protocol::Tcp;
    }
    let usual = matches!(port, 80 | 443 | 8080 | 8443);
    if usual || passes(web) {
        web
    } else {
        Protocol::Tcp
    }
}

/// Judges one of the addresses that a permitted connection's host turned out to have. An ordinary
/// one may be reached unless a rule denies it; any other must be named by a rule.
pub fn judge_address(connect: &Connect, address: IpAddr, bench: &Bench<'_>) -> Result<(), Denial> {
    let there = Connect {
        host: Host::Address(address.to_canonical()),
        ..connect.clone()
    };
    let rule = bench
        .rules
        .decide_host(&there.host, there.port, there.protocol, &there.tool);
    match rule {
        Some(rule) if rule.decision == Decision::Deny => Err(Denial {
            code: DenialCode::DeniedByRule,
            reason: super::in_words(&rule, "denies"),
            hint: None,
        }),
        Some(rule) if rule.decision == Decision::Allow => Ok(()),
        _ if is_granted(&there, bench) => Ok(()),
        _ => match there.host.class().filter(|class| !class.is_ordinary()) {
            None => Ok(()),
            Some(class) => {
                let reason = format!("{} resolves to {}, {class}", connect.host, there.host);
                Err(not_named(connect, &there.host, reason))
            }
        },
    }
}

fn is_granted(connect: &Connect, bench: &Bench<'_>) -> bool {
    let granted = &bench.sandbox.granted_hosts;
    granted
        .iter()
        .any(|pattern| pattern.covers(&connect.host, connect.port, connect.protocol))
}

fn not_named(connect: &Connect, address: &Host, reason: String) -> Denial {
    let also = if *address == connect.host {
        ""
    } else {
        " besides the name"
    };
    Denial {
        code: DenialCode::AddressNotNamed,
        reason,
        hint: Some(format!(
            "`network.allow = [\"{address}\"]`{also}, or a rule that names the address"
        )),
    }
}

/// How to allow a connection.
fn how(connect: &Connect) -> String {
    let host = match (connect.port, connect.protocol) {
        (80 | 443, Protocol::Tcp) => {
            return format!(
                "a rule with `host = \"{}\"` and `protocol = \"tcp\"`",
                connect.host
            );
        }
        (80 | 443, _) => connect.host.to_string(),
        _ => place(connect),
    };
    format!("--allow-host {host}, or `network.allow = [\"{host}\"]`")
}
