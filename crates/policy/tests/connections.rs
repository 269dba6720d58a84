//! Connections: which are made, which are asked about, which are refused, and why.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ringfence_policy::action::{Action, Connect, SendHttp};
use ringfence_policy::host::{Host, Protocol};
use ringfence_policy::judge::{
    ApprovalKey, Escalation, Premises, SessionApprovals, judge, judge_address,
};
use ringfence_policy::permissions::{ApprovalPolicy, Limits, SandboxPolicy};
use ringfence_policy::rule::{HostPattern, Layer};
use ringfence_policy::ruleset::RuleSet;
use ringfence_policy::{Ground, Verdict};

const RULES: &str = r#"
[[rule]]
host = "*.example.com"
decision = "allow"

[[rule]]
host = "bad.example.com"
decision = "deny"
reason = "it is bad"

[[rule]]
host = "ask.example.com"
decision = "ask"

[[rule]]
host = "10.0.0.7"
decision = "allow"

[[rule]]
host = "203.0.113.66"
decision = "deny"
"#;

struct Scene {
    ground: Ground,
    sandbox: SandboxPolicy,
    limits: Limits,
    rules: RuleSet,
    approvals: SessionApprovals,
}

impl Scene {
    fn new(rules: &str) -> Self {
        Self {
            ground: Ground::at("/work"),
            sandbox: SandboxPolicy::workspace_write("/work"),
            limits: Limits::default(),
            rules: RuleSet::parse(Layer::User, "rules.toml", rules).unwrap(),
            approvals: SessionApprovals::default(),
        }
    }

    fn premises(&self, approval: ApprovalPolicy) -> Premises<'_> {
        Premises {
            ground: &self.ground,
            sandbox: &self.sandbox,
            limits: &self.limits,
            approval,
            escalation: Escalation::Off,
            rules: &self.rules,
            approvals: &self.approvals,
        }
    }
}

fn connect(host: &str, port: u16) -> Connect {
    Connect {
        tool: "bash".to_owned(),
        host: Host::parse(host).unwrap(),
        port,
        protocol: Protocol::Https,
    }
}

fn shown(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Allow(permit) => format!("allow: {}", permit.basis()),
        Verdict::Ask(question) => format!("ask: {}", question.because()),
        Verdict::Refuse(refusal) => format!("{}: {}", refusal.code.name(), refusal.reason),
    }
}

#[test]
fn by_name() {
    use ApprovalPolicy::{Never, OnRequest};
    let scene = Scene::new(RULES);
    for (host, approval, expected) in [
        ("a.example.com", Never, "allow: rule rules.toml:2"),
        (
            "bad.example.com",
            OnRequest,
            "denied_by_rule: the rule at rules.toml:6 denies `bad.example.com:443`: it is bad",
        ),
        (
            "ask.example.com",
            OnRequest,
            "ask: the rule at rules.toml:11 asks about `ask.example.com:443`",
        ),
        (
            "example.com",
            OnRequest,
            "ask: no rule is about example.com:443 (https)",
        ),
        (
            "example.com",
            Never,
            "approval_not_possible: no rule is about example.com:443 (https), and approval policy never asks nobody",
        ),
        (
            "127.1",
            OnRequest,
            "address_not_named: 127.0.0.1 is an address of this machine itself",
        ),
        (
            "169.254.169.254",
            OnRequest,
            "address_not_named: 169.254.169.254 is a cloud metadata address",
        ),
        ("10.0.0.7", Never, "allow: rule rules.toml:15"),
        (
            "203.0.113.5",
            OnRequest,
            "ask: no rule is about 203.0.113.5:443 (https)",
        ),
    ] {
        let judged = judge(
            Action::Connect(connect(host, 443)),
            &scene.premises(approval),
        );
        assert_eq!(shown(&judged.verdict), expected, "{host}");
    }
}

#[test]
fn an_empty_list_allows_nothing() {
    let scene = Scene::new("");
    for host in ["example.com", "localhost", "203.0.113.5", "10.0.0.1", "::1"] {
        let judged = judge(
            Action::Connect(connect(host, 443)),
            &scene.premises(ApprovalPolicy::Never),
        );
        assert!(matches!(judged.verdict, Verdict::Refuse(_)), "{host}");
    }
}

#[test]
fn by_address() {
    let scene = Scene::new(RULES);
    let premises = scene.premises(ApprovalPolicy::OnRequest);
    for (address, expected) in [
        ("203.0.113.5", "ok"),
        ("2001:db8::1", "ok"),
        ("10.0.0.7", "ok"),
        (
            "10.0.0.8",
            "a.example.com resolves to 10.0.0.8, a private address",
        ),
        (
            "::ffff:10.0.0.8",
            "a.example.com resolves to 10.0.0.8, a private address",
        ),
        (
            "127.0.0.1",
            "a.example.com resolves to 127.0.0.1, an address of this machine itself",
        ),
        (
            "64:ff9b::a9fe:a9fe",
            "a.example.com resolves to 64:ff9b::a9fe:a9fe, a cloud metadata address",
        ),
        (
            "203.0.113.66",
            "the rule at rules.toml:19 denies `203.0.113.66:443`",
        ),
    ] {
        let judged = judge_address(
            &connect("a.example.com", 443),
            address.parse().unwrap(),
            &premises,
        );
        let said = judged.map_or_else(|refusal| refusal.reason, |()| "ok".to_owned());
        assert_eq!(said, expected, "{address}");
    }
}

#[test]
fn what_is_granted_to_a_command_is_allowed_unless_it_is_denied() {
    let mut scene = Scene::new(RULES);
    scene.sandbox.granted_hosts = vec![
        HostPattern::parse("granted.test").unwrap(),
        HostPattern::parse("bad.example.com").unwrap(),
    ];
    let premises = scene.premises(ApprovalPolicy::Never);
    for (host, expected) in [
        ("granted.test", "allow: rule of the command"),
        (
            "bad.example.com",
            "denied_by_rule: the rule at rules.toml:6 denies `bad.example.com:443`: it is bad",
        ),
    ] {
        let judged = judge(Action::Connect(connect(host, 443)), &premises);
        assert_eq!(shown(&judged.verdict), expected, "{host}");
    }
}

#[test]
fn a_yes_for_the_session_is_for_the_host_port_and_protocol() {
    let mut scene = Scene::new("");
    let asked = judge(
        Action::Connect(connect("example.com", 443)),
        &scene.premises(ApprovalPolicy::OnRequest),
    );
    let Verdict::Ask(question) = asked.verdict else {
        panic!("{asked:?}");
    };
    assert_eq!(
        question.proposals()[0].to_toml(),
        "[[rule]]\nhost = \"example.com\"\ndecision = \"allow\"\n"
    );
    scene.approvals.insert(ApprovalKey::of(&question).unwrap());
    for (host, port, tool, expected) in [
        (
            "EXAMPLE.com",
            443,
            "other",
            "allow: approval for the session",
        ),
        (
            "example.com",
            444,
            "bash",
            "ask: no rule is about example.com:444 (https)",
        ),
    ] {
        let connect = Connect {
            tool: tool.to_owned(),
            ..connect(host, port)
        };
        let judged = judge(
            Action::Connect(connect),
            &scene.premises(ApprovalPolicy::OnRequest),
        );
        assert_eq!(shown(&judged.verdict), expected);
    }
}

fn request(url: &str, host: &str) -> Action {
    Action::SendHttp(SendHttp {
        tool: "http".to_owned(),
        method: "GET".to_owned(),
        url: url.to_owned(),
        host: Host::parse(host).unwrap(),
        port: 443,
        protocol: Protocol::Https,
    })
}

#[test]
fn a_request_is_judged_by_its_host() {
    use ApprovalPolicy::{Never, OnRequest};
    let deny = format!("{RULES}\n[[rule]]\ntool = \"http\"\ndecision = \"deny\"\n");
    let ask = format!("{RULES}\n[[rule]]\ntool = \"http\"\ndecision = \"ask\"\n");
    let allow = format!("{RULES}\n[[rule]]\ntool = \"http\"\ndecision = \"allow\"\n");
    for (rules, host, approval, expected) in [
        (RULES, "a.example.com", Never, "allow: rule rules.toml:2"),
        (RULES, "bad.example.com", OnRequest, "denied_by_rule"),
        (
            RULES,
            "example.com",
            OnRequest,
            "ask: no rule is about example.com:443 (https)",
        ),
        (RULES, "example.com", Never, "approval_not_possible"),
        (RULES, "169.254.169.254", OnRequest, "address_not_named"),
        (RULES, "10.0.0.7", Never, "allow: rule rules.toml:15"),
        // A rule about the tool makes it stricter, and opens no host.
        (&deny, "a.example.com", OnRequest, "denied_by_rule"),
        (&ask, "a.example.com", OnRequest, "ask: the rule at"),
        (
            &ask,
            "bad.example.com",
            OnRequest,
            "denied_by_rule: the rule at rules.toml:6",
        ),
        (
            &allow,
            "example.com",
            OnRequest,
            "ask: no rule is about example.com",
        ),
    ] {
        let scene = Scene::new(rules);
        let judged = judge(request("https://x/", host), &scene.premises(approval));
        let shown = shown(&judged.verdict);
        assert!(shown.starts_with(expected), "{host}: {shown}");
    }
}

#[test]
fn a_yes_to_a_request_is_for_its_host_and_for_no_command() {
    let mut scene = Scene::new("");
    let asked = judge(
        request("https://example.com/a", "example.com"),
        &scene.premises(ApprovalPolicy::OnRequest),
    );
    let Verdict::Ask(question) = asked.verdict else {
        panic!("{asked:?}");
    };
    assert_eq!(
        question.proposals()[0].to_toml(),
        "[[rule]]\nhost = \"example.com\"\ntool = \"http\"\ndecision = \"allow\"\n"
    );
    assert_eq!(
        question.proposals()[0].summary(),
        "allow host example.com for http"
    );
    scene.approvals.insert(ApprovalKey::of(&question).unwrap());
    let premises = scene.premises(ApprovalPolicy::OnRequest);
    for (action, expected) in [
        (
            request("https://example.com/b", "example.com"),
            "allow: approval for the session",
        ),
        (
            request("https://example.org/", "example.org"),
            "ask: no rule",
        ),
        (Action::Connect(connect("example.com", 443)), "ask: no rule"),
    ] {
        let shown = shown(&judge(action, &premises).verdict);
        assert!(shown.starts_with(expected), "{shown}");
    }
}
