//! May this connection be made, or this HTTP request sent? The name is judged before anybody looks it
//! up, since looking up a name already tells somebody else; the addresses that it turns out to have are
//! judged after.

use std::net::IpAddr;

use super::{ApprovalKey, Premises, confinement, deny};
use crate::action::{Action, Connect, SendHttp};
use crate::host::{Host, Protocol};
use crate::permissions::ApprovalPolicy;
use crate::permit::{Basis, Permit};
use crate::preset::Preset;
use crate::propose::{propose_host, propose_request};
use crate::rule::Decision;
use crate::ruleset::RuleDecision;
use crate::verdict::{Grounds, Judgement, Question, QuestionKind, Refusal, RefusalCode, Verdict};

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
pub(super) fn judge(connect: Connect, premises: &Premises<'_>) -> Judgement {
    judge_as(&connect.clone(), Action::Connect(connect), None, premises)
}

/// Judges an HTTP request by the connection that it takes. A rule about the tool as such can be
/// stricter than those about hosts; it opens none.
pub(super) fn judge_request(request: SendHttp, premises: &Premises<'_>) -> Judgement {
    let strict = premises.rules.decide_tool(&request.tool);
    let strict = strict.filter(|rule| matches!(rule.decision, Decision::Deny | Decision::Ask));
    judge_as(
        &request.connection(),
        Action::SendHttp(request),
        strict,
        premises,
    )
}

/// Judges what takes a connection. What is permitted is the action, whole.
fn judge_as(
    connect: &Connect,
    action: Action,
    strict: Option<RuleDecision>,
    premises: &Premises<'_>,
) -> Judgement {
    let by_host =
        premises
            .rules
            .decide_host(&connect.host, connect.port, connect.protocol, &connect.tool);
    let is_denied = |rule: &RuleDecision| rule.decision == Decision::Deny;
    let rule = match by_host {
        Some(by_host) if is_denied(&by_host) => Some(by_host),
        by_host => strict.or(by_host),
    };
    let mut grounds = Grounds {
        rule: rule.as_ref().map(|rule| rule.rule.source.to_string()),
        ..Grounds::default()
    };
    let verdict = decide(connect, action, rule.as_ref(), premises, &mut grounds);
    Judgement { verdict, grounds }
}

fn decide(
    connect: &Connect,
    action: Action,
    rule: Option<&RuleDecision>,
    premises: &Premises<'_>,
    grounds: &mut Grounds,
) -> Verdict {
    let confinement = confinement(premises, None);
    let allow = |action, basis| Verdict::Allow(Permit::new(action, confinement.clone(), basis));
    match rule {
        Some(rule) if rule.decision == Decision::Deny => {
            grounds.because = super::in_words(rule, "denies");
            return deny(RefusalCode::DeniedByRule, grounds.because.clone(), None);
        }
        _ if is_granted(connect, premises) => {
            "a rule grants it to the command".clone_into(&mut grounds.because);
            return allow(action, Basis::Rule("of the command".to_owned()));
        }
        Some(rule) if rule.decision == Decision::Allow => {
            grounds.because = super::in_words(rule, "allows");
            return allow(action, Basis::Rule(rule.rule.source.to_string()));
        }
        _ => {}
    }
    if let Some(class) = connect.host.class().filter(|class| !class.is_ordinary()) {
        grounds.because = format!("{} is {class}", connect.host);
        return Verdict::Refuse(not_named(connect, &connect.host, grounds.because.clone()));
    }
    grounds.because = match rule {
        Some(rule) => super::in_words(rule, "asks about"),
        None => format!("no rule is about {}", in_words(connect)),
    };
    if premises.approval == ApprovalPolicy::Never {
        let reason = format!("{}, and approval policy never asks nobody", grounds.because);
        return deny(
            RefusalCode::ApprovalNotPossible,
            reason,
            Some(&how_to_allow(connect)),
        );
    }
    let key = ApprovalKey::new(&QuestionKind::Run, &action, &confinement);
    if premises.approvals.contains(&key) {
        return allow(action, Basis::SessionApproval);
    }
    let proposal = match &action {
        Action::SendHttp(request) => propose_request(request),
        _ => propose_host(connect),
    };
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
pub fn protocol_of_tunnel(tool: &str, host: &Host, port: u16, premises: &Premises<'_>) -> Protocol {
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
        matches!(judge(connect, premises).verdict, Verdict::Allow(_))
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
pub fn judge_address(
    connect: &Connect,
    address: IpAddr,
    premises: &Premises<'_>,
) -> Result<(), Refusal> {
    let there = Connect {
        host: Host::Address(address.to_canonical()),
        ..connect.clone()
    };
    let rule = premises
        .rules
        .decide_host(&there.host, there.port, there.protocol, &there.tool);
    match rule {
        Some(rule) if rule.decision == Decision::Deny => Err(Refusal {
            code: RefusalCode::DeniedByRule,
            reason: super::in_words(&rule, "denies"),
            hint: None,
            class: None,
            grants: Vec::new(),
        }),
        Some(rule) if rule.decision == Decision::Allow => Ok(()),
        _ if is_granted(&there, premises) => Ok(()),
        _ => match there.host.class().filter(|class| !class.is_ordinary()) {
            None => Ok(()),
            Some(class) => {
                let reason = format!("{} resolves to {}, {class}", connect.host, there.host);
                Err(not_named(connect, &there.host, reason))
            }
        },
    }
}

fn is_granted(connect: &Connect, premises: &Premises<'_>) -> bool {
    let granted = &premises.sandbox.granted_hosts;
    granted
        .iter()
        .any(|pattern| pattern.covers(&connect.host, connect.port, connect.protocol))
}

fn not_named(connect: &Connect, address: &Host, reason: String) -> Refusal {
    let also = if *address == connect.host {
        ""
    } else {
        " besides the name"
    };
    Refusal {
        code: RefusalCode::AddressNotNamed,
        reason,
        hint: Some(format!(
            "`network.allow = [\"{address}\"]`{also}, or a rule that names the address"
        )),
        class: None,
        grants: Vec::new(),
    }
}

/// How to allow a connection.
pub fn how_to_allow(connect: &Connect) -> String {
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
    let plain = format!("--allow-host {host}, or `network.allow = [\"{host}\"]`");
    match Preset::that_reaches(&connect.host, connect.port, connect.protocol) {
        Some(preset) => format!("--preset {preset}, or {plain}"),
        None => plain,
    }
}
