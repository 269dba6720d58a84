//! What may be offered inside the fence, and what may not, whoever is asked.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use ringfence_policy::action::{Action, FenceRequest, RunCommand};
use ringfence_policy::command_line::{CommandLine, Profile, Shell};
use ringfence_policy::judge::{Denied, Escalation, Premises, SessionApprovals, judge, judge_retry};
use ringfence_policy::permissions::{ApprovalPolicy, Limits, SandboxPolicy};
use ringfence_policy::permit::Confinement;
use ringfence_policy::rule::{HostPattern, Layer};
use ringfence_policy::ruleset::RuleSet;
use ringfence_policy::settle::{Answer, Holds, narrow, settle};

use ringfence_policy::{Ground, NarrowGrant, ShellKind, Verdict};

const RULES: &str = "
[[rule]]
path = \"/data/closed\"
decision = \"deny\"

[[rule]]
host = \"denied.example\"
decision = \"deny\"
";

fn command(words: &[&str]) -> Action {
    Action::RunCommand(RunCommand {
        tool: "bash".to_owned(),
        line: CommandLine::Argv(words.iter().map(|word| (*word).to_owned()).collect()),
        cwd: "/work/project".into(),
        environment: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/data/tools/bin".to_owned())]),
        fence: FenceRequest::Stay,
        justification: None,
        description: None,
    })
}

fn shell(text: &str) -> Action {
    let Action::RunCommand(mut command) = command(&[]) else {
        panic!("a command is one");
    };
    command.line = CommandLine::Shell {
        shell: Shell {
            kind: ShellKind::Bash,
            path: "/bin/bash".into(),
        },
        text: text.to_owned(),
        profile: Profile::Plain,
    };
    Action::RunCommand(command)
}

struct World {
    ground: Ground,
    sandbox: SandboxPolicy,
    limits: Limits,
    rules: RuleSet,
    approvals: SessionApprovals,
}

impl World {
    fn new() -> Self {
        let mut sandbox = SandboxPolicy::workspace_write("/work/project");
        sandbox.denied_reads = vec!["/home/u/.ssh".into(), "/home/u/.netrc".into()];
        sandbox
            .protected_paths
            .push("/home/u/.config/autostart".into());
        Self {
            ground: Ground {
                programs: vec![
                    "/home/u/bin".into(),
                    "/home/u/.local/share/tools/one/bin".into(),
                ],
                ..Ground::at("/work/project").with_home("/home/u")
            },
            sandbox,
            limits: Limits::default(),
            rules: RuleSet::parse(Layer::User, "rules", RULES).unwrap(),
            approvals: SessionApprovals::default(),
        }
    }

    fn premises(&self) -> Premises<'_> {
        Premises {
            ground: &self.ground,
            sandbox: &self.sandbox,
            limits: &self.limits,
            approval: ApprovalPolicy::OnFailure,
            escalation: Escalation::Off,
            rules: &self.rules,
            approvals: &self.approvals,
        }
    }

    fn retry(&self, words: &[&str], grants: Vec<NarrowGrant>) -> Verdict {
        self.retry_of(command(words), grants)
    }

    fn retry_of(&self, action: Action, grants: Vec<NarrowGrant>) -> Verdict {
        let denied = Denied {
            lines: vec!["x".to_owned()],
            grants,
            needs_outside: true,
        };
        judge_retry(action, denied, &self.premises())
    }
}

fn writable(path: &str) -> NarrowGrant {
    NarrowGrant::Writable { path: path.into() }
}

fn readable(path: &str) -> NarrowGrant {
    NarrowGrant::Readable { path: path.into() }
}

fn host(written: &str) -> NarrowGrant {
    NarrowGrant::Host {
        host: HostPattern::parse(written).unwrap(),
    }
}

/// Each is what a command might have itself refused, and whether that is offered.
#[test]
fn what_gives_away_more_than_it_says_is_not_offered() {
    for (grant, offered) in [
        (writable("/data/results"), true),
        (writable("/home/u/other"), true),
        (writable("/usr/local/share/x"), true),
        (writable("/"), false),
        (writable("/home"), false),
        (writable("/home/u"), false),
        (writable("/work"), false),
        (writable("/work/project"), false),
        (writable("/etc/cron.d"), false),
        (writable("/usr/bin"), false),
        (writable("/var"), false),
        (writable("/srv"), false),
        (writable("/srv/www"), true),
        (writable("/var/lib"), false),
        (writable("/var/cache"), false),
        (writable("/var/lib/service"), true),
        (writable("/home/other"), false),
        (writable("/mnt/c"), false),
        (writable("/mnt/c/project"), true),
        (writable("/opt"), false),
        (writable("/opt/service/data"), true),
        (writable("/usr/local"), false),
        (writable("/usr/local/lib"), false),
        (writable("/nix/store/x"), false),
        // The user's shell looks for programs there, though the command's does not.
        (writable("/home/u/bin"), false),
        (writable("/home/u/.local"), false),
        (writable("/home/u/.local/share/tools/one/bin"), false),
        (writable("/home/u/.local/share/notes"), true),
        (writable("/data/tools/bin"), false),
        (writable("/data/tools"), false),
        (writable("/home/u/.ssh"), false),
        (writable("/home/u/.config/autostart"), false),
        (writable("/data/closed"), false),
        (writable("/data/closed/x"), false),
        (writable("/data/../etc"), false),
        (writable("data"), false),
        (writable("/data/a\nb"), false),
        (writable("/data/a\u{1b}[2Kb"), false),
        (readable("/home/u/.netrc"), true),
        (readable("/home/u/.ssh/config"), true),
        (readable("/home/u/notes"), false),
        (readable("/home/u"), false),
        (host("a.example"), true),
        (host("a.example:8443"), true),
        (host("*.example"), false),
        (host("denied.example"), false),
        (host("169.254.169.254"), false),
        (host("127.0.0.1:8080"), false),
        (host("10.0.0.1"), false),
        (
            NarrowGrant::Unprotected {
                path: ".vscode".into(),
            },
            true,
        ),
        (
            NarrowGrant::Unprotected {
                path: "/etc".into(),
            },
            false,
        ),
    ] {
        let world = World::new();
        let Verdict::Ask(question) = world.retry(&["frob"], vec![grant.clone()]) else {
            // A rule denies paths: nothing is tried outside, so that nothing is left to ask.
            assert!(!offered, "{grant:?}");
            continue;
        };
        assert_eq!(question.grants(), std::slice::from_ref(&grant), "{grant:?}");
        assert!(offered, "{grant:?}");
    }
}

fn roots(confinement: &Confinement) -> Vec<PathBuf> {
    match confinement {
        Confinement::Fenced { sandbox, .. } => sandbox.writable_roots.clone(),
        Confinement::Unfenced { .. } => panic!("it left the fence"),
    }
}

#[test]
fn a_yes_permits_what_the_question_shows() {
    let world = World::new();
    let both = || vec![writable("/data/a"), writable("/data/b")];
    for (answer, expected) in [
        (
            Answer::Approved,
            Some(vec!["/work/project", "/data/a", "/data/b"]),
        ),
        (
            Answer::Granted {
                grant: 1,
                holds: Holds::Once,
            },
            Some(vec!["/work/project", "/data/b"]),
        ),
        (
            Answer::Granted {
                grant: 2,
                holds: Holds::Once,
            },
            None,
        ),
        // A rule about paths is held by the fence alone.
        (Answer::Outside, None),
        (Answer::Denied { message: None }, None),
    ] {
        let Verdict::Ask(question) = world.retry(&["frob"], both()) else {
            panic!("not asked")
        };
        let settled = settle(question, &answer);
        let found = settled.ok().map(|permit| roots(permit.confinement()));
        let expected = expected.map(|all| all.into_iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(found, expected, "{answer:?}");
    }
}

#[test]
fn for_the_session_it_holds_for_that_command() {
    let mut world = World::new();
    let action = command(&["frob", "x"]);
    world.approvals.grant(&action, &[writable("/data/a")]);
    for (words, granted) in [
        (&["frob", "x"][..], true),
        (&["frob", "y"], false),
        (&["frob"], false),
        (&["frob x"], false),
        (&["other", "x"], false),
    ] {
        let judged = judge(command(words), &world.premises());
        let Verdict::Allow(permit) = judged.verdict else {
            panic!("{words:?}")
        };
        let has = roots(permit.confinement()).contains(&"/data/a".into());
        assert_eq!(has, granted, "{words:?}");
    }
}

/// A rule that is proposed grants what was asked about, or the part of it that was chosen.
#[test]
fn as_a_rule_it_is_what_was_chosen() {
    let world = World::new();
    let both = vec![writable("/data/a"), host("a.example")];
    let Verdict::Ask(question) = world.retry(&["frob", "push"], both) else {
        panic!("not asked")
    };
    let answer = Answer::Granted {
        grant: 1,
        holds: Holds::Rule,
    };
    let (_, answer) = narrow(question, answer);
    let Answer::ApprovedWithRule(rule) = answer else {
        panic!("{answer:?}")
    };
    assert!(rule.contains("hosts = [\"a.example\"]"), "{rule}");
    assert!(
        !rule.contains("/data/a") && !rule.contains("unfenced"),
        "{rule}"
    );
    RuleSet::parse(Layer::User, "rules", &rule).unwrap();
}

/// What a program that commands may rewrite is let read, it is let read once.
#[test]
fn secrets_are_kept_for_nobody_who_can_be_replaced() {
    let world = World::new();
    for (words, grant, kept) in [
        (&["./deploy.sh"][..], readable("/home/u/.netrc"), false),
        (&["./deploy.sh"], writable("/data/a"), true),
        (&["git", "push"], readable("/home/u/.netrc"), true),
    ] {
        let Verdict::Ask(question) = world.retry(words, vec![grant]) else {
            panic!("not asked")
        };
        assert_eq!(question.holds_once().is_none(), kept, "{words:?}");
    }
}

/// Where hosts are denied, the whole network would let them be reached.
#[test]
fn the_whole_network_is_not_offered_where_hosts_are_denied() {
    let mut world = World::new();
    let is_offered = |world: &World| match world.retry(&["frob"], vec![NarrowGrant::Network]) {
        Verdict::Ask(question) => question.grants() == [NarrowGrant::Network],
        _ => false,
    };
    assert!(!is_offered(&world));
    world.rules = RuleSet::default();
    assert!(is_offered(&world));
}

/// The shell opens files of redirections with what was granted to whatever stands beside them.
#[test]
fn what_a_rule_grants_is_not_for_redirections_beside_it() {
    const GRANTS: &str = "
[[rule]]
prefix = [\"git\", \"status\"]
decision = \"allow\"
readable = [\"/home/u/.netrc\"]
";
    let mut world = World::new();
    world.rules = RuleSet::parse(Layer::User, "rules", GRANTS).unwrap();
    for (text, granted) in [
        ("git status -s", true),
        ("git status -s | head -5", true),
        ("git status -s > /dev/null; echo done", true),
        ("git status -s > /dev/null; cat < data.txt", false),
        ("git status -s | cat - < data.txt", false),
        ("git status -s; echo x > there", false),
    ] {
        let judged = judge(shell(text), &world.premises());
        let Verdict::Allow(permit) = judged.verdict else {
            panic!("{text}: {:?}", judged.verdict);
        };
        let Confinement::Fenced { sandbox, .. } = permit.confinement() else {
            panic!("{text} left the fence");
        };
        assert_eq!(!sandbox.granted_reads.is_empty(), granted, "{text}");
        assert_eq!(sandbox.granted_paths, sandbox.granted_reads, "{text}");
    }
}

/// Every rule that is offered is kept, and the same command is judged again: it has what it asked for. What stands beside others in a text
/// that nobody was asked about has nothing of it.
#[test]
fn a_rule_that_is_offered_helps_what_it_was_offered_for() {
    for (action, offers) in [
        (command(&["frob", "push"]), true),
        (command(&["bash", "-c", "echo y > /data/a/x"]), true),
        (command(&["bash", "-c", "sort list > /data/a/x"]), true),
        (
            command(&["bash", "-c", "cd sub && frob push > /data/a/x"]),
            true,
        ),
        (command(&["sh", "-c", "echo y >> /data/a/x"]), true),
        (shell("echo y > /data/a/x"), true),
        (shell("echo y > /data/a/x 2>&1"), true),
        (shell("frob push && touch /data/a/x"), true),
        (shell("frob push | tee /data/a/x"), true),
        // No rule is about a target that is not fixed.
        (shell("echo y > /data/a/$NAME"), false),
    ] {
        let mut world = World::new();
        let needed = vec![writable("/data/a")];
        let Verdict::Ask(question) = world.retry_of(action.clone(), needed) else {
            panic!("{action:?}")
        };
        assert_eq!(!question.proposals().is_empty(), offers, "{action:?}");
        for proposal in question.proposals() {
            let toml = proposal.to_toml();
            let kept = RuleSet::parse(Layer::User, "kept", &toml).unwrap();
            world.rules = RuleSet::parse(Layer::User, "rules", RULES).unwrap();
            world.rules.extend(kept);
            let Verdict::Allow(permit) = judge(action.clone(), &world.premises()).verdict else {
                panic!("{action:?}: {toml}")
            };
            let has = roots(permit.confinement());
            assert!(has.contains(&"/data/a".into()), "{action:?}: {toml}");
        }
        for other in ["evil; echo y > /data/a/x", "evil > /data/a/x", "evil"] {
            let Verdict::Allow(permit) = judge(shell(other), &world.premises()).verdict else {
                continue;
            };
            let has = roots(permit.confinement());
            assert!(!has.contains(&"/data/a".into()), "{other}: {action:?}");
        }
    }
}

/// A rule that is offered for something more keeps what an earlier one gave.
#[test]
fn a_second_rule_takes_nothing_away() {
    const FIRST: &str = "
[[rule]]
prefix = [\"frob\", \"push\"]
decision = \"allow\"
writable = [\"/data/a\"]
";
    let mut world = World::new();
    world.rules = RuleSet::parse(Layer::User, "rules", FIRST).unwrap();
    let Verdict::Ask(question) = world.retry(&["frob", "push"], vec![host("a.example")]) else {
        panic!("not asked")
    };
    let toml = question.proposals()[0].to_toml();
    world
        .rules
        .extend(RuleSet::parse(Layer::User, "kept", &toml).unwrap());
    let judged = judge(command(&["frob", "push"]), &world.premises());
    let Verdict::Allow(permit) = judged.verdict else {
        panic!("{:?}", judged.verdict)
    };
    let Confinement::Fenced { sandbox, .. } = permit.confinement() else {
        panic!("it left the fence")
    };
    assert!(sandbox.writable_roots.contains(&"/data/a".into()), "{toml}");
    assert_eq!(sandbox.granted_hosts.len(), 1, "{toml}");
}
