//! The verdict table, all cells.

use std::collections::BTreeMap;

use super::*;
use crate::command_line::CommandLine;
use crate::permissions::Network;
use crate::rule::Layer;
use crate::settle::{Answer, settle};

const READ_ONLY: &str = "ls -la";
const SAFE: &str = "cargo build";
const UNKNOWN: &str = "frobnicate --all";
const SUSPICIOUS: &str = "$SOMETHING now";
const DANGEROUS: &str = "rm -rf /";

fn command(text: &str, fence: FenceRequest) -> Action {
    Action::RunCommand(RunCommand {
        tool: "bash".into(),
        line: CommandLine::Argv(["bash", "-c", text].map(String::from).into()),
        cwd: "/work/project".into(),
        environment: BTreeMap::new(),
        fence,
        justification: None,
        description: None,
    })
}

struct Setting {
    ground: Ground,
    sandbox: SandboxPolicy,
    limits: Limits,
    rules: RuleSet,
    approvals: SessionApprovals,
}

impl Setting {
    fn new(mode: SandboxMode) -> Self {
        Self {
            ground: Ground::at("/work/project").with_home("/home/user"),
            sandbox: SandboxPolicy {
                mode,
                ..SandboxPolicy::workspace_write("/work/project")
            },
            limits: Limits::default(),
            rules: RuleSet::default(),
            approvals: SessionApprovals::default(),
        }
    }

    fn premises(&self, approval: ApprovalPolicy, escalation: Escalation) -> Premises<'_> {
        Premises {
            ground: &self.ground,
            sandbox: &self.sandbox,
            limits: &self.limits,
            approval,
            escalation,
            rules: &self.rules,
            approvals: &self.approvals,
        }
    }
}

/// `run` (fenced), `open` (unfenced), `ask` (a yes is fenced), `ask-open`, `deny`.
fn outcome(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow(permit) => match permit.confinement() {
            Confinement::Fenced { .. } => "run",
            Confinement::Unfenced { .. } => "open",
        },
        Verdict::Ask(question) => match question.if_approved() {
            Confinement::Fenced { .. } => "ask",
            Confinement::Unfenced { .. } => "ask-open",
        },
        Verdict::Refuse(_) => "deny",
    }
}

#[test]
fn every_cell_of_the_table() {
    use SandboxMode::{DangerFullAccess, ExternalSandbox, ReadOnly, WorkspaceWrite};
    // One row per class; columns never, on-failure, on-request, unless-trusted.
    let fenced = [
        (READ_ONLY, ["run", "run", "run", "run"]),
        (SAFE, ["run", "run", "run", "ask"]),
        (UNKNOWN, ["run", "run", "ask", "ask"]),
        (SUSPICIOUS, ["deny", "ask", "ask", "ask"]),
        (DANGEROUS, ["deny", "deny", "deny", "deny"]),
    ];
    let open = [
        (READ_ONLY, ["open", "open", "open", "open"]),
        (SAFE, ["open", "open", "open", "ask-open"]),
        (UNKNOWN, ["open", "open", "open", "ask-open"]),
        (SUSPICIOUS, ["deny", "ask-open", "ask-open", "ask-open"]),
        (DANGEROUS, ["deny", "deny", "deny", "deny"]),
    ];
    for (mode, table) in [
        (ReadOnly, fenced),
        (WorkspaceWrite, fenced),
        (DangerFullAccess, open),
        (ExternalSandbox, open),
    ] {
        let setting = Setting::new(mode);
        for (text, expected) in table {
            for (approval, expected) in ApprovalPolicy::ALL.into_iter().zip(expected) {
                let premises = setting.premises(approval, Escalation::Off);
                let judged = judge(command(text, FenceRequest::Stay), &premises);
                assert_eq!(
                    outcome(&judged.verdict),
                    expected,
                    "{mode} {text} {approval}"
                );
                assert!(
                    !judged.grounds.because.is_empty(),
                    "{mode} {text} {approval}"
                );
            }
        }
    }
}

#[test]
fn leaving_the_fence_is_asked_about_only_where_it_may_be() {
    let setting = Setting::new(SandboxMode::WorkspaceWrite);
    for (escalation, expected) in [
        (Escalation::Off, ["deny", "deny", "deny", "deny"]),
        (
            Escalation::Askable,
            ["deny", "ask-open", "ask-open", "ask-open"],
        ),
    ] {
        for (approval, expected) in ApprovalPolicy::ALL.into_iter().zip(expected) {
            let premises = setting.premises(approval, escalation);
            for text in [READ_ONLY, SAFE, UNKNOWN] {
                let judged = judge(command(text, FenceRequest::Leave), &premises);
                assert_eq!(outcome(&judged.verdict), expected, "{text} {approval}");
            }
            let judged = judge(command(DANGEROUS, FenceRequest::Leave), &premises);
            assert_eq!(outcome(&judged.verdict), "deny", "dangerous {approval}");
        }
    }
}

#[test]
fn a_refusal_of_the_fence_is_asked_about_where_the_table_says_so() {
    let setting = Setting::new(SandboxMode::WorkspaceWrite);
    let expected = ["deny", "ask-open", "deny", "ask-open"];
    for (approval, expected) in ApprovalPolicy::ALL.into_iter().zip(expected) {
        let premises = setting.premises(approval, Escalation::Off);
        let verdict = judge_retry(
            command(SAFE, FenceRequest::Stay),
            Denied {
                lines: vec!["x".into()],
                needs_outside: true,
                ..Denied::default()
            },
            &premises,
        );
        assert_eq!(outcome(&verdict), expected, "{approval}");
    }
}

/// A command is judged where it runs, and not where the harness does.
#[test]
fn the_folder_of_a_command_counts() {
    let setting = Setting::new(SandboxMode::WorkspaceWrite);
    let class = |text: &str, folder: &str| {
        let Action::RunCommand(mut command) = command(text, FenceRequest::Stay) else {
            panic!("a command")
        };
        command.cwd = folder.into();
        let premises = setting.premises(ApprovalPolicy::Never, Escalation::Off);
        judge(Action::RunCommand(command), &premises).grounds.class
    };
    for (text, folder, expected) in [
        ("git status", "/work/project", Class::ReadOnly),
        ("git status", "/work/project/nested", Class::Unknown),
        ("cat id_rsa", "/home/user/.ssh", Class::Suspicious),
        ("cat id_rsa", "/work/project", Class::ReadOnly),
        ("rm -rf user", "/home", Class::Dangerous),
    ] {
        assert_eq!(class(text, folder), Some(expected), "{text} in {folder}");
    }
}

/// A yes that leaves the fence is kept for what it was given for, and no longer than that.
#[test]
fn what_is_kept_outside_depends_on_where_it_runs() {
    for (text, folder, path, home, kept) in [
        ("git push", "/work/project", "/usr/bin", "/home/user", true),
        (
            "git push",
            "/work/project/nested",
            "/usr/bin",
            "/home/user",
            false,
        ),
        (
            "docker ps",
            "/work/project/nested",
            "/usr/bin",
            "/home/user",
            true,
        ),
        (
            "docker ps",
            "/work/project",
            "/usr/bin:/work/project/bin",
            "/home/user",
            false,
        ),
        (
            "docker ps",
            "/work/project",
            "/usr/bin:.",
            "/home/user",
            false,
        ),
        (
            "docker ps",
            "/work/project",
            "/usr/bin",
            "/work/project/home",
            false,
        ),
        (
            "./deploy.sh",
            "/work/project",
            "/usr/bin",
            "/home/user",
            false,
        ),
    ] {
        let mut setting = Setting::new(SandboxMode::WorkspaceWrite);
        setting.ground.home = Some(home.into());
        let Action::RunCommand(mut command) = command(text, FenceRequest::Leave) else {
            panic!("a command")
        };
        command.cwd = folder.into();
        command.environment.insert("PATH".into(), path.into());
        let premises = setting.premises(ApprovalPolicy::OnFailure, Escalation::Askable);
        let Verdict::Ask(question) = judge(Action::RunCommand(command), &premises).verdict else {
            panic!("not asked")
        };
        assert_eq!(
            ApprovalKey::of(&question).is_some(),
            kept,
            "{text} {folder} {path}"
        );
        assert_eq!(
            !question.because().contains("holds for once"),
            kept,
            "{text}"
        );
        assert!(kept || question.proposals().is_empty(), "{text}");
    }
}

/// Only the fence holds what a rule says about a path: nothing that it refused is tried outside.
#[test]
fn what_a_rule_denies_is_not_offered_outside() {
    for (rule, expected) in [
        ("path = \"secrets\"\naccess = \"read\"", "deny"),
        ("path = \"notes\"\naccess = \"write\"", "deny"),
        ("prefix = [\"frob\"]", "ask-open"),
    ] {
        let mut setting = Setting::new(SandboxMode::WorkspaceWrite);
        let text = format!("[[rule]]\n{rule}\ndecision = \"deny\"\n");
        setting.rules = RuleSet::parse(Layer::User, "rules.toml", &text).unwrap();
        let premises = setting.premises(ApprovalPolicy::OnFailure, Escalation::Off);
        let verdict = judge_retry(
            command(SAFE, FenceRequest::Stay),
            Denied {
                lines: vec!["x".into()],
                needs_outside: true,
                ..Denied::default()
            },
            &premises,
        );
        assert_eq!(outcome(&verdict), expected, "{rule}");
    }
}

#[test]
fn a_yes_for_the_session_holds_for_the_same_bounds_only() {
    let mut setting = Setting::new(SandboxMode::WorkspaceWrite);
    let ask = |setting: &Setting| {
        let premises = setting.premises(ApprovalPolicy::OnRequest, Escalation::Off);
        judge(command(UNKNOWN, FenceRequest::Stay), &premises).verdict
    };
    let Verdict::Ask(question) = ask(&setting) else {
        panic!("not asked")
    };
    setting
        .approvals
        .insert(ApprovalKey::of(&question).unwrap());
    assert_eq!(outcome(&ask(&setting)), "run");
    setting.sandbox.network = Network::Full;
    assert_eq!(outcome(&ask(&setting)), "ask");
}

#[test]
fn answers_settle_questions() {
    let setting = Setting::new(SandboxMode::WorkspaceWrite);
    for (answer, expected) in [
        (Answer::Approved, Ok(())),
        (Answer::ApprovedForSession, Ok(())),
        (
            Answer::Denied {
                message: Some("not now".into()),
            },
            Err(RefusalCode::DeniedByUser),
        ),
        (Answer::Abort, Err(RefusalCode::Aborted)),
        (Answer::TimedOut, Err(RefusalCode::ApprovalTimedOut)),
    ] {
        let premises = setting.premises(ApprovalPolicy::OnRequest, Escalation::Off);
        let judged = judge(command(UNKNOWN, FenceRequest::Stay), &premises);
        let Verdict::Ask(question) = judged.verdict else {
            panic!("not asked")
        };
        let settled = settle(question, &answer);
        assert_eq!(
            settled.map(|_| ()).map_err(|refusal| refusal.code),
            expected,
            "{answer:?}"
        );
    }
}

#[test]
fn rules_decide_before_the_table_does() {
    use crate::rule::Layer;
    let mut setting = Setting::new(SandboxMode::WorkspaceWrite);
    let rules = r#"
        [[rule]]
        prefix = ["frobnicate"]
        decision = "allow"

        [[rule]]
        prefix = ["cargo", "publish"]
        decision = "deny"
        reason = "releases are made by the pipeline"

        [[rule]]
        prefix = ["git", "push"]
        decision = "allow"
        fence = "unfenced"
    "#;
    setting.rules = RuleSet::parse(Layer::User, "rules.toml", rules).unwrap();
    for (text, expected) in [
        (UNKNOWN, "run"),
        ("frobnicate && other-thing", "ask"),
        ("frobnicate && cargo publish", "deny"),
        ("git push", "open"),
        ("git push && rm -rf /", "deny"),
    ] {
        let premises = setting.premises(ApprovalPolicy::OnRequest, Escalation::Off);
        let judged = judge(command(text, FenceRequest::Stay), &premises);
        assert_eq!(
            outcome(&judged.verdict),
            expected,
            "{text}: {}",
            judged.grounds.because
        );
    }
}

/// What becomes of a patch that writes these files; columns never, on-failure, on-request,
/// unless-trusted.
#[test]
fn patches_reach_as_far_as_commands_do() {
    use SandboxMode::{DangerFullAccess, ReadOnly, WorkspaceWrite};
    let denied = ["deny"; 4];
    let cases: &[(SandboxMode, &[&str], [&str; 4])] = &[
        (
            WorkspaceWrite,
            &["/work/project/a"],
            ["run", "run", "run", "ask"],
        ),
        (
            WorkspaceWrite,
            &["/work/project/a", "/work/other"],
            ["deny", "ask", "ask", "ask"],
        ),
        (
            WorkspaceWrite,
            &["/work/projection"],
            ["deny", "ask", "ask", "ask"],
        ),
        (
            WorkspaceWrite,
            &["/work/project/.git/hooks/pre-commit"],
            denied,
        ),
        (
            WorkspaceWrite,
            &["/work/project/.GIT/Hooks/pre-commit"],
            denied,
        ),
        (WorkspaceWrite, &["/work/project/.git"], denied),
        (
            WorkspaceWrite,
            &["/work/project/.git/info/exclude"],
            ["run", "run", "run", "ask"],
        ),
        (WorkspaceWrite, &["/work/project/.git/index"], denied),
        (
            WorkspaceWrite,
            &["/work/project/.gitignore"],
            ["run", "run", "run", "ask"],
        ),
        (WorkspaceWrite, &["/work/project/keys/id"], denied),
        (
            WorkspaceWrite,
            &["/work/project/keys-not"],
            ["run", "run", "run", "ask"],
        ),
        (ReadOnly, &["/work/project/a"], denied),
        (
            DangerFullAccess,
            &["/etc/hosts"],
            ["open", "open", "open", "ask-open"],
        ),
    ];
    for (mode, writes, expected) in cases {
        let mut setting = Setting::new(*mode);
        setting
            .sandbox
            .denied_reads
            .push("/work/project/keys".into());
        for (approval, expected) in ApprovalPolicy::ALL.into_iter().zip(expected) {
            let action = Action::ApplyPatch(crate::action::ApplyPatch {
                writes: writes.iter().map(Into::into).collect(),
                guarded: Vec::new(),
            });
            let judged = judge(action, &setting.premises(approval, Escalation::Off));
            let because = judged.grounds.because;
            assert_eq!(
                outcome(&judged.verdict),
                *expected,
                "{mode} {writes:?} {approval}: {because}"
            );
            assert!(!because.is_empty());
        }
    }
}

#[test]
fn rules_about_paths_hold_for_patches() {
    use crate::rule::Layer;
    let mut setting = Setting::new(SandboxMode::WorkspaceWrite);
    let rules = r#"
        [[rule]]
        path = "migrations"
        access = "write"
        decision = "deny"
        reason = "they are generated"

        [[rule]]
        path = "Cargo.toml"
        access = "write"
        decision = "ask"

        [[rule]]
        path = "/srv/site"
        access = "write"
        decision = "allow"
    "#;
    setting.rules = RuleSet::parse(Layer::User, "rules.toml", rules).unwrap();
    for (writes, expected) in [
        (vec!["/work/project/migrations/1.sql"], "deny"),
        (
            vec!["/work/project/a", "/work/project/migrations/1.sql"],
            "deny",
        ),
        (vec!["/work/project/Cargo.toml"], "ask"),
        (vec!["/srv/site/index.html"], "run"),
        (vec!["/srv/site/index.html", "/srv/other"], "ask"),
    ] {
        let action = Action::ApplyPatch(crate::action::ApplyPatch {
            writes: writes.iter().map(Into::into).collect(),
            guarded: Vec::new(),
        });
        let premises = setting.premises(ApprovalPolicy::OnRequest, Escalation::Off);
        let judged = judge(action, &premises);
        let because = judged.grounds.because;
        assert_eq!(outcome(&judged.verdict), expected, "{writes:?}: {because}");
    }
}

#[test]
fn patches_are_kept_from_what_git_runs() {
    let writes = |path: &str, guarded: &[&str]| {
        let setting = Setting::new(SandboxMode::WorkspaceWrite);
        let action = Action::ApplyPatch(crate::action::ApplyPatch {
            writes: vec![path.into()],
            guarded: guarded.iter().map(Into::into).collect(),
        });
        let premises = setting.premises(ApprovalPolicy::OnFailure, Escalation::Off);
        outcome(&judge(action, &premises).verdict).to_owned()
    };
    for path in [
        ".git/config",
        ".git/modules/lib/config",
        ".git/commondir",
        ".git/info/attributes",
        ".git/HEAD",
        "nested/.git/config",
        "nested/.git",
        "HEAD",
        "commondir",
        "config.worktree",
        ".bashrc",
        ".zed/tasks.json",
    ] {
        assert_eq!(
            writes(&format!("/work/project/{path}"), &[]),
            "deny",
            "{path}"
        );
    }
    for path in [
        "nested/HEAD",
        "src/config",
        ".git/info/exclude",
        ".gitmodules",
    ] {
        assert_eq!(
            writes(&format!("/work/project/{path}"), &[]),
            "run",
            "{path}"
        );
    }
    let program = "/work/project/scripts/hook.sh";
    assert_eq!(writes(program, &[]), "run");
    assert_eq!(writes(program, &[program]), "deny");
}
