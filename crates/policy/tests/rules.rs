//! Rules: how they are read, which one wins, and what is granted.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use ringfence_policy::{
    Ground, ShellKind,
    classify::Class,
    facts::{CommandText, Facts, understand},
    host::{Host, Protocol},
    propose::{canonical, propose},
    rule::{Access, Decision, Fence, Grant, Layer, Rule},
    ruleset::{RuleDecision, RuleSet},
};

fn ground() -> Ground {
    Ground::at("/home/u/work").with_home("/home/u")
}

fn facts(command: &str) -> Facts {
    understand(CommandText::Shell {
        kind: ShellKind::Bash,
        text: command,
    })
}

fn set(text: &str) -> RuleSet {
    RuleSet::parse(Layer::User, "rules.toml", text).unwrap()
}

fn decide(set: &RuleSet, command: &str) -> Option<RuleDecision> {
    set.decide(&facts(command), &ground(), "bash")
}

/// `decision rest` as one text; `-` if no rule decides.
fn shown(found: Option<&RuleDecision>) -> String {
    match found {
        None => "-".into(),
        Some(found) if found.decision == Decision::Allow && found.rest > Class::ReadOnly => {
            format!("allow, rest {}", found.rest)
        }
        Some(found) => found.decision.to_string(),
    }
}

const RULES: &str = r#"
[[rule]]
prefix = ["git", ["push", "fetch"]]
decision = "allow"

[[rule]]
prefix = ["git", "push", "--force"]
decision = "ask"
reason = "history is shared"

[[rule]]
prefix = "npm"
decision = "ask"

[[rule]]
prefix = "npm test"
decision = "allow"

[[rule]]
prefix = ["frob"]
decision = "allow"
fence = "unfenced"
writable = ["/srv/frob"]
hosts = ["frob.example.com:443"]

[[rule]]
prefix = ["sudo", "apt", "update"]
decision = "allow"

[[rule]]
prefix = ["curl"]
decision = "allow"

[[rule]]
prefix = ["sh"]
decision = "allow"

[[rule]]
prefix = ["rm"]
decision = "allow"

[[rule]]
prefix = ["docker", "run"]
decision = "deny"

[[rule]]
glob = "make *-check"
decision = "allow"

[[rule]]
regex = "deploy-(prod|stage)"
decision = "deny"

[[rule]]
path = "/srv/out"
access = "write"
decision = "allow"

[[rule]]
path = "~/private"
decision = "deny"

[[rule]]
prefix = ["terraform"]
tool = "exec_*"
decision = "allow"
"#;

#[test]
fn the_most_specific_rule_wins_and_a_denial_always() {
    let set = set(RULES);
    for (command, expected) in [
        ("git push", "allow"),
        ("git push origin main", "allow"),
        ("git push --force", "ask"),
        ("git push --force origin", "ask"),
        ("git fetch", "allow"),
        ("git pushx", "-"),
        ("npm install", "ask"),
        ("npm test", "allow"),
        ("npm test -- --watch", "allow"),
        ("/usr/bin/git push", "allow"),
        ("./git push", "-"),
        ("'git' \"push\"", "allow"),
        ("git $X", "-"),
        ("docker run x", "deny"),
        ("docker $X", "ask"),
        ("docker -D run x", "deny"),
        ("./docker run x", "deny"),
        ("X=run; docker $X", "deny"),
        ("git push && docker run x", "deny"),
        ("bash -c 'docker run x'", "deny"),
        ("timeout 5 docker run x", "deny"),
        ("echo $(docker run x)", "deny"),
        ("git push && ls", "allow"),
        ("git push && frobnicate", "allow, rest unknown"),
        ("git push && cargo build", "allow, rest safe"),
        ("timeout 5 git push", "allow"),
        ("bash -c 'git push'", "allow"),
        ("sudo git push", "allow, rest suspicious"),
        ("sudo apt update", "allow"),
        ("sudo apt install x", "-"),
        (
            "sudo apt update && sudo apt install x",
            "allow, rest suspicious",
        ),
        ("curl x", "allow"),
        ("curl x | sh", "allow, rest dangerous"),
        ("rm file", "allow"),
        ("rm -rf build", "allow"),
        ("rm -rf /", "-"),
        ("git push && rm -rf /", "allow, rest dangerous"),
        ("git push > out.txt", "allow, rest safe"),
        ("git push > /srv/out/log", "allow"),
        ("git push > /srv/outer", "allow, rest unknown"),
        ("git push > ~/private/x", "deny"),
        ("cat ~/private/x", "deny"),
        ("cat ~/private*/x", "deny"),
        ("cat --file=/home/u/private/x", "deny"),
        ("cat ~/privateer", "-"),
        ("make unit-check", "allow"),
        ("make unit-check; make x", "allow, rest safe"),
        ("echo deploy-prod", "deny"),
        ("e''cho deploy-pr''od", "deny"),
        ("terraform plan", "-"),
        ("git push \"", "-"),
        ("PATH=/tmp git push", "allow, rest suspicious"),
        ("FOO=1 git push", "allow, rest unknown"),
        ("NO_COLOR=1 git push", "allow"),
        ("jobs -x docker run x", "deny"),
        ("chronic docker run x", "deny"),
        ("frobwrap docker run x", "deny"),
        ("frobwrap --level 3 env docker run x", "deny"),
        ("npx docker run x", "deny"),
        ("frobwrap npm install", "ask"),
        ("echo docker run x", "-"),
        ("grep docker run", "-"),
        ("LD_PRELOAD=x git push", "allow, rest suspicious"),
    ] {
        assert_eq!(shown(decide(&set, command).as_ref()), expected, "{command}");
    }
    let exec = set.decide(&facts("terraform plan"), &ground(), "exec_command");
    assert_eq!(shown(exec.as_ref()), "allow");
}

#[test]
fn a_grant_holds_for_the_whole_only_if_every_part_has_it() {
    let set = set(RULES);
    for (command, fence, granted) in [
        ("frob x", Fence::Unfenced, true),
        ("'frob' \"x\"", Fence::Unfenced, true),
        ("bash -lc 'frob x'", Fence::Unfenced, true),
        ("cd x && frob x", Fence::Fenced, true),
        ("timeout 5 frob x", Fence::Fenced, true),
        ("frob x | cat", Fence::Fenced, true),
        ("frob x 2>&1 | tail -n 20", Fence::Fenced, true),
        ("echo begin; frob x; echo end", Fence::Fenced, true),
        // What stands beside it was granted nothing.
        ("frob x && git push", Fence::Fenced, false),
        ("frob x && frobnicate", Fence::Fenced, false),
        ("frob x; cat /srv/frob/secret", Fence::Fenced, false),
        ("frob x | cat /srv/frob/secret", Fence::Fenced, false),
        ("frob x | tee /srv/frob/y", Fence::Fenced, false),
        ("frob x; echo y > /srv/frob/y", Fence::Fenced, false),
        ("frob x $(curl frob.example.com)", Fence::Fenced, false),
        ("frob x | cat $file", Fence::Fenced, false),
        ("LD_PRELOAD=./x frob x", Fence::Fenced, false),
    ] {
        let found = decide(&set, command).unwrap();
        assert_eq!(found.grant.fence, fence, "{command}");
        assert_eq!(!found.grant.writable.is_empty(), granted, "{command}");
        assert_eq!(!found.grant.hosts.is_empty(), granted, "{command}");
    }
}

#[test]
fn layers() {
    let allow = "[[rule]]\nprefix = [\"x\"]\ndecision = \"allow\"\n";
    let ask = "[[rule]]\nprefix = [\"x\"]\ndecision = \"ask\"\n";
    let deny = "[[rule]]\nprefix = [\"x\"]\ndecision = \"deny\"\n";
    let specific = "[[rule]]\nprefix = [\"x\", \"y\"]\ndecision = \"allow\"\n";
    let pass = "[[rule]]\nprefix = [\"x\", \"y\"]\ndecision = \"passthrough\"\n";
    for (layers, command, expected) in [
        (vec![(Layer::User, allow)], "x", "allow"),
        (vec![(Layer::UntrustedProject, allow)], "x", "-"),
        (vec![(Layer::UntrustedProject, deny)], "x", "deny"),
        (
            vec![(Layer::UntrustedProject, ask), (Layer::User, allow)],
            "x",
            "ask",
        ),
        (vec![(Layer::Project, allow)], "x", "allow"),
        (
            vec![(Layer::Managed, deny), (Layer::Session, specific)],
            "x y",
            "deny",
        ),
        (
            vec![(Layer::Session, deny), (Layer::Managed, allow)],
            "x",
            "deny",
        ),
        (
            vec![(Layer::Managed, ask), (Layer::User, specific)],
            "x y",
            "allow",
        ),
        (
            vec![(Layer::User, allow), (Layer::Project, ask)],
            "x",
            "ask",
        ),
        (
            vec![(Layer::User, pass), (Layer::Project, ask)],
            "x y",
            "ask",
        ),
        (vec![(Layer::User, allow), (Layer::User, pass)], "x y", "-"),
        (vec![(Layer::User, pass)], "x y", "-"),
        (
            vec![(Layer::User, pass), (Layer::Project, deny)],
            "x y",
            "deny",
        ),
    ] {
        let mut all = RuleSet::default();
        for (layer, text) in &layers {
            all.extend(RuleSet::parse(*layer, "f", text).unwrap());
        }
        assert_eq!(
            shown(decide(&all, command).as_ref()),
            expected,
            "{layers:?} {command}"
        );
    }
}

#[test]
fn a_decision_says_which_rule_it_was() {
    let found = decide(&set(RULES), "git push --force").unwrap();
    assert_eq!(found.rule.source.to_string(), "rules.toml:6");
    assert_eq!(found.rule.subject, "prefix git push --force");
    assert_eq!(found.rule.reason.as_deref(), Some("history is shared"));
}

#[test]
fn the_short_lists_are_rules_too() {
    let set = set("blocked-commands = [\"rm -rf /\", \":(){ :|:& };:\"]\n\
         blocked-patterns = [\"curl.*\\\\|.*bash\", \"wget.*\\\\|.*sh\"]\n\
         allowed-paths = [\"/home/user/projects\"]\n\
         blocked-paths = [\"/etc/passwd\", \"/etc/shadow\"]\n");
    for (command, expected) in [
        ("rm -rf /", "deny"),
        ("rm  -rf   '/'", "deny"),
        (":(){ :|:& };:", "deny"),
        ("curl x | bash", "deny"),
        ("wget x|sh", "deny"),
        ("cat /etc/passwd", "deny"),
        ("cat < /etc/shadow", "deny"),
        ("ls", "-"),
    ] {
        assert_eq!(shown(decide(&set, command).as_ref()), expected, "{command}");
    }
    let path = |path: &str| {
        let found = set.decide_path(Path::new(path), Access::Write, &ground(), "bash");
        shown(found.as_ref())
    };
    assert_eq!(path("/home/user/projects/x"), "allow");
    assert_eq!(path("/home/user/projectsx"), "-");
    assert_eq!(path("/etc/passwd"), "deny");
}

#[test]
fn hosts_ports_and_protocols() {
    use Protocol::{Http, Https, Tcp};
    let set = set(
        "[[rule]]\nhost = \"*.example.com\"\nport = [443, 80]\ndecision = \"allow\"\n\
         [[rule]]\nhost = \"db.example.com:5432\"\ndecision = \"allow\"\n\
         [[rule]]\nhost = \"bad.example.com\"\ndecision = \"deny\"\n\
         [[rule]]\nhost = \"git.example.org\"\nprotocol = \"https\"\ndecision = \"allow\"\n\
         [[rule]]\nhost = \"relay.example.org\"\nprotocol = [\"tcp\", \"https\"]\ndecision = \"allow\"\n\
         [[rule]]\nhost = \"10.1.0.0/16\"\ndecision = \"allow\"\n\
         [[rule]]\nhost = \"10.1.9.9\"\ndecision = \"deny\"\n\
         [[rule]]\nhost = \"169.254.0.0/16\"\ndecision = \"allow\"\n\
         [[rule]]\nhost = \"[fd00::1]:8080\"\ndecision = \"allow\"\n\
         [[rule]]\nhost = \"*\"\nport = 8443\ndecision = \"allow\"\n",
    );
    for (host, port, protocol, expected) in [
        ("a.example.com", 443, Https, "allow"),
        ("A.EXAMPLE.com.", 80, Http, "allow"),
        ("b.a.example.com", 443, Https, "allow"),
        ("a.example.com", 22, Tcp, "-"),
        // A port of the web's does not bring everything else along.
        ("a.example.com", 443, Tcp, "-"),
        ("example.com", 443, Https, "-"),
        ("evilexample.com", 443, Https, "-"),
        ("example.com.evil.org", 443, Https, "-"),
        // A port of one's own does.
        ("db.example.com", 5432, Tcp, "allow"),
        ("db.example.com", 5433, Tcp, "-"),
        ("bad.example.com", 443, Https, "deny"),
        ("bad.example.com", 22, Tcp, "deny"),
        ("git.example.org", 443, Https, "allow"),
        ("git.example.org", 80, Http, "-"),
        ("relay.example.org", 443, Tcp, "allow"),
        ("10.1.2.3", 443, Https, "allow"),
        ("0x0a010203", 443, Https, "allow"),
        ("10.2.0.0", 443, Https, "-"),
        ("10.1.9.9", 443, Https, "deny"),
        ("10.1.2313", 443, Https, "deny"),
        ("169.254.1.1", 80, Http, "allow"),
        // A metadata address is never meant by a network around it.
        ("169.254.169.254", 80, Http, "-"),
        ("fd00::1", 8080, Http, "allow"),
        // Everything means every ordinary address.
        ("anything.test", 8443, Https, "allow"),
        ("203.0.113.1", 8443, Https, "allow"),
        ("127.0.0.1", 8443, Https, "-"),
        ("::ffff:127.0.0.1", 8443, Https, "-"),
    ] {
        let host = Host::parse(host).unwrap();
        assert_eq!(
            shown(set.decide_host(&host, port, protocol, "bash").as_ref()),
            expected,
            "{host}:{port} {protocol}"
        );
    }
}

#[test]
fn a_host_rule_reads_as_it_was_written() {
    for written in [
        "[[rule]]\nhost = \"*.example.com\"\nport = [80, 443]\ndecision = \"allow\"\n",
        "[[rule]]\nhost = \"10.0.0.0/8\"\nprotocol = \"tcp\"\ndecision = \"deny\"\n",
        "[[rule]]\nhost = \"[::1]\"\nprotocol = [\"http\", \"https\"]\ndecision = \"ask\"\n",
    ] {
        assert_eq!(set(written).rules()[0].to_toml(), written);
    }
}

#[test]
fn errors_name_the_file_the_line_and_the_fix() {
    for (text, expected) in [
        (
            "[[rule]]\ndecision = \"allow\"\n",
            "f:1: this rule is about nothing: give it one of `prefix`",
        ),
        (
            "\n[[rule]]\nprefix = [\"a\"]\n",
            "f:2: `decision` is missing: write allow, ask, deny or passthrough",
        ),
        (
            "[[rule]]\nprefix = [\"a\"]\ndecision = \"maybe\"\n",
            "f:3: unknown variant `maybe`",
        ),
        (
            "[[rule]]\nprefix = [\"a\"]\ndecison = \"allow\"\n",
            "f:3: unknown field `decison`",
        ),
        (
            "[[rule]]\nprefix = [\"a\"]\nglob = \"a *\"\ndecision = \"allow\"\n",
            "f:1: `prefix` and `glob` cannot stand in one rule: write two rules",
        ),
        (
            "[[rule]]\nprefix = []\ndecision = \"allow\"\n",
            "f:1: `prefix`: it is empty: name at least a program",
        ),
        (
            "[[rule]]\nprefix = \"a | b\"\ndecision = \"allow\"\n",
            "f:1: `prefix`: it is more than plain words",
        ),
        (
            "[[rule]]\nglob = \"*\"\ndecision = \"allow\"\n",
            "f:1: `glob`: it matches every command",
        ),
        (
            "[[rule]]\nregex = \"(\"\ndecision = \"deny\"\n",
            "f:1: `regex`: error: unclosed group: correct the regular expression",
        ),
        (
            "[[rule]]\nhost = \"a b\"\ndecision = \"deny\"\n",
            "f:1: `host`: `a b` is no host",
        ),
        (
            "[[rule]]\nprefix = [\"a\"]\nfence = \"unfenced\"\ndecision = \"deny\"\n",
            "f:1: `fence` means nothing here",
        ),
        (
            "[[rule]]\nprefix = [\"a\"]\nwritable = [\"x\"]\ndecision = \"allow\"\n",
            "f:1: `writable`: `x` is relative",
        ),
        (
            "[[rule]]\nprefix = [\"a\"]\nhosts = [\"*\"]\ndecision = \"allow\"\n",
            "f:1: `hosts`: `*` would reach everything",
        ),
        (
            "# c\n[[rule]]\nprefix = [\"git\", \"log\"]\nmatch = [\"git logout\"]\ndecision = \"allow\"\n",
            "f:2: the rule does not match `git logout`, which stands in its `match`",
        ),
        (
            "[[rule]]\nprefix = [\"git\"]\nnot_match = [\"git log\"]\ndecision = \"allow\"\n",
            "f:1: the rule matches `git log`, which stands in its `not_match`",
        ),
        ("x = \n", "f:1: "),
    ] {
        let error = RuleSet::parse(Layer::User, "f", text)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(expected),
            "{text}\n  is:       {error}\n  expected: {expected}"
        );
    }
}

#[test]
fn a_rule_survives_being_written_and_read_again() {
    let set = set(RULES);
    let text: Vec<String> = set.rules().iter().map(Rule::to_toml).collect();
    let again = RuleSet::parse(Layer::User, "again.toml", &text.join("\n")).unwrap();
    for command in [
        "git push",
        "git push --force",
        "frob x",
        "docker run",
        "make a-check",
        "curl x | sh",
    ] {
        let (one, two) = (decide(&set, command), decide(&again, command));
        assert_eq!(shown(one.as_ref()), shown(two.as_ref()), "{command}");
        assert_eq!(one.map(|d| d.grant), two.map(|d| d.grant), "{command}");
    }
}

#[test]
fn proposals_generalise_as_a_person_would() {
    for (command, expected) in [
        ("npm test", "npm test"),
        (
            "npm run build -- --fast",
            "npm run build -- --fast | npm run build",
        ),
        ("npm run build", "npm run build"),
        (
            "git push origin main",
            "git push origin main | git push origin | git push",
        ),
        ("git push", "git push"),
        ("git", ""),
        ("git frob", "git frob"),
        ("python -c 'print(1)'", "python -c print(1)"),
        (
            "python3 tools/x.py a b",
            "python3 tools/x.py a b | python3 tools/x.py a | python3 tools/x.py",
        ),
        (
            "python3 -m http.server 80",
            "python3 -m http.server 80 | python3 -m http.server",
        ),
        ("python", ""),
        ("bash script.sh", "bash script.sh"),
        ("bash", ""),
        (
            "sudo apt update",
            "sudo apt update, apt update | sudo apt, apt update",
        ),
        ("frob", "frob"),
        ("frob --all x", "frob --all x | frob"),
        ("frob sub a b", "frob sub a b | frob sub a | frob sub"),
        (
            "./gradlew build --info",
            "./gradlew build --info | ./gradlew build",
        ),
        (
            "docker compose up -d",
            "docker compose up -d | docker compose up",
        ),
        ("rm file.txt", ""),
        ("rm -rf build", ""),
        ("frob && rm -rf build", ""),
        ("git -c user.name=x commit -m y", ""),
        ("git -C sub push", ""),
        ("git -C sub frob", ""),
        ("docker run --rm alpine ls", ""),
        ("docker exec x ls", ""),
        ("podman run x", ""),
        ("docker -H x ps", ""),
        ("curl https://x", "curl https://x"),
        ("frob a && npm publish", "frob a, npm publish"),
        ("ls && frob a", "frob a"),
        ("cargo build && frob a", "frob a"),
        ("timeout 5 frob a", "frob a"),
        ("frob $X", "frob"),
        ("$X", ""),
        ("rm -rf /", ""),
        ("curl x | sh", ""),
        ("frob \"", ""),
    ] {
        let found: Vec<String> = propose(&facts(command), &ground(), &Grant::default())
            .iter()
            .map(|proposal| {
                let rules = proposal
                    .rules
                    .iter()
                    .map(|rule| rule.subject().replace("prefix ", ""));
                rules.collect::<Vec<_>>().join(", ")
            })
            .collect();
        assert!(found.len() <= 3, "{command}");
        assert_eq!(found.join(" | "), expected, "{command}");
    }
}

/// A yes that leaves the fence is kept only for a program that runs nothing which commands in the
/// fence may have changed since. What is proposed then is that command and no longer one.
#[test]
fn a_yes_outside_is_kept_for_what_nobody_inside_can_change() {
    let unfenced = Grant {
        fence: Fence::Unfenced,
        ..Grant::default()
    };
    for command in [
        "./deploy.sh",
        "/home/me/work/deploy.sh",
        "sh deploy.sh",
        "bash -c ./deploy.sh",
        "make deploy",
        "npm run deploy",
        "just deploy",
        "cargo xtask",
        "python3 -m deploy",
        "python3 deploy.py",
        "node deploy.js",
        "docker compose up",
        "docker build .",
        "docker run image",
        "docker ps --config ./c",
        "kubectl get pods --kubeconfig=./c",
        "kubectl get -f pods.yaml",
        "kubectl apply -f x.yaml",
        "git push pub main",
        "git push ./pub",
        "git fetch nested",
        "git -C nested push",
        "git pull",
        "git commit -m x",
        "curl -K conf",
        "curl -o out https://example.com",
        "curl -O https://example.com",
        "curl -H @headers https://example.com",
        "curl -H@headers https://example.com",
        "curl file:./x",
        "journalctl -u ./x",
        "terraform apply",
        "frobnicate",
        "cp a /etc/b",
        "cat f",
    ] {
        let found = propose(&facts(command), &ground(), &unfenced);
        assert!(found.is_empty(), "{command}: {found:?}");
    }
    // The twins.
    for command in [
        "docker ps",
        "docker ps -a",
        "kubectl get pods -n web",
        "systemctl restart nginx",
        "curl -sS https://example.com/a",
        "git push",
        "git fetch --all",
        "bash -c 'docker ps -a'",
    ] {
        let found = propose(&facts(command), &ground(), &unfenced);
        let [proposal] = found.as_slice() else {
            panic!("{command}: {found:?}");
        };
        let kept = set(&proposal.to_toml());
        let leaves = |text: &str| {
            let found = decide(&kept, text);
            found.is_some_and(|found| found.grant.fence == Fence::Unfenced)
        };
        assert!(leaves(command), "{command}: {}", proposal.to_toml());
        for longer in [" x", " --config ./c", " && ls"] {
            assert!(!leaves(&format!("{command}{longer}")), "{command}{longer}");
        }
    }
}

/// A rule that leaves the fence covers one literal command. Everything else runs, or is asked about,
/// as if the rule granted no more than running inside.
#[test]
fn what_leaves_the_fence_is_one_literal_command() {
    let set = set(RULES);
    let leaves = |text: &str| {
        let found = decide(&set, text);
        found.is_some_and(|found| found.grant.fence == Fence::Unfenced)
    };
    for command in [
        "frob",
        "frob x",
        "frob --all 'a b'",
        "frob \\\n  x",
        "frob x # deploys",
        "sh -c 'frob x'",
    ] {
        assert!(leaves(command), "{command}");
        assert!(
            ringfence_policy::leave::covers(&facts(command)),
            "{command}"
        );
    }
    for command in [
        "frob x; ls",
        "frob x && true",
        "frob x || :",
        "frob x\nls",
        "frob x &",
        "frob x | cat",
        "ls | frob x",
        "! frob x",
        "time frob x",
        "(frob x)",
        "{ frob x; }",
        "if true; then frob x; fi",
        "for i in 1; do frob x; done",
        "while frob x; do :; done",
        "case x in x) frob x;; esac",
        "f() { frob x; }; f",
        "frob() { ls; }",
        "frob $X",
        "frob \"$X\"",
        "frob ${X:-y}",
        "frob $1",
        "frob $((1+1))",
        "frob $((x))",
        "frob $(cat x)",
        "frob `cat x`",
        "frob <(cat x)",
        "frob *",
        "frob a?b",
        "frob [ab]",
        "frob ~",
        "frob ~/x",
        "frob {a,b}",
        "frob {1..3}",
        "FOO=1 frob x",
        "FOO=1; frob x",
        "NO_COLOR=1 frob x",
        "PATH=. frob x",
        "export A=1; frob x",
        "frob x > out.txt",
        "frob x >> out.txt",
        "frob x < in.txt",
        "frob x 2>/dev/null",
        "frob x > /dev/null",
        "frob x <<< y",
        "frob x <<E\ny\nE",
        "env frob x",
        "env A=1 frob x",
        "nice frob x",
        "nohup frob x",
        "sudo frob x",
        "command frob x",
        "exec frob x",
        "eval 'frob x'",
        "eval frob x",
        "trap 'frob x' EXIT",
        "alias frob=ls; frob x",
        "xargs frob",
        "find . -exec frob {} ;",
        "bash -c 'frob x; ls'",
        "bash -c 'frob $X'",
        "bash -c 'A=1 frob x'",
        "bash -c 'frob x' y",
        "bash -x -c 'frob x'",
        "bash -ic 'frob x'",
        "./bash -c 'frob x'",
        "bash -c \"bash -c 'frob x'\"",
        "set -o posix; BASH_ALIASES[frob]='ls'; frob x",
        "shopt -s expand_aliases\nalias frob='ls'\nfrob x",
        "coproc frob x",
        "frob x \"",
        "[[ -f x ]] && frob x",
        "x=1 y=2; frob x",
        "let x=1; frob x",
        "frob x; make deploy",
    ] {
        assert!(!leaves(command), "{command}");
    }
}

/// A proposed rule lets the very command run that it was made from, and reads back.
#[test]
fn a_proposed_rule_allows_the_command_it_was_made_from() {
    for command in [
        "npm run build -- --fast",
        "git push origin main",
        "frob a && npm publish",
        "sudo apt update",
        "frob 'a b' > /srv/x",
    ] {
        for proposal in propose(&facts(command), &ground(), &Grant::default()) {
            let set = RuleSet::parse(Layer::Session, "session", &proposal.to_toml()).unwrap();
            let found = decide(&set, command).unwrap();
            assert_eq!(
                shown(Some(&found)),
                "allow",
                "{command}: {}",
                proposal.summary()
            );
        }
    }
}

#[test]
fn the_canonical_command_does_not_depend_on_spelling() {
    for (one, two, same) in [
        ("ls -la", "ls   '-la'", true),
        ("ls -la", "\"ls\" -l''a", true),
        ("ls | wc", "ls|wc", true),
        ("ls; wc", "ls\nwc", true),
        ("ls -la", "ls -l", false),
        ("ls a b", "ls 'a b'", false),
        ("ls && wc", "ls || wc", false),
        ("ls && wc", "ls; wc", false),
        ("ls", "ls &", false),
        ("ls", "ls > x", false),
        ("(ls)", "ls", false),
        ("if a; then b; fi", "a; b", false),
        ("A=1 ls", "ls", false),
        ("cat <<X\na\nX", "cat <<X\nb\nX", false),
        ("echo $x", "echo '$x'", false),
    ] {
        assert_eq!(
            canonical(&facts(one)) == canonical(&facts(two)),
            same,
            "{one} / {two}"
        );
    }
}
