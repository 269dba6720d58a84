//! Configuration as its users see it: layers, origins, errors, and what a project may not do.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use expect_test::{expect, expect_file};
use ringfence::config::{
    self, Backend, Config, ConfigError, FlagValue, Kind, Loosens, Merge, Origin, ProjectLayer,
    Resolved, Sources, Trust, Value,
};
use ringfence_policy::permissions::{ApprovalPolicy, Limits, Network, SandboxMode, SandboxPolicy};
use ringfence_policy::sensitive::variable::{self, Project};

/// A folder with a system, a user and a project file, none of which exists yet.
struct Layers {
    dir: tempfile::TempDir,
    sources: Sources,
}

impl Layers {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("project");
        fs::create_dir_all(workspace.join(".ringfence")).unwrap();
        let sources = Sources {
            system: Some(dir.path().join("system.toml")),
            user: Some(dir.path().join("user.toml")),
            workspace,
            home: Some(PathBuf::from("/home/me")),
            ..Sources::default()
        };
        Self { dir, sources }
    }

    fn system(self, text: &str) -> Self {
        fs::write(self.sources.system.as_ref().unwrap(), text).unwrap();
        self
    }

    fn user(self, text: &str) -> Self {
        fs::write(self.sources.user.as_ref().unwrap(), text).unwrap();
        self
    }

    fn project(mut self, text: &str) -> Self {
        self.sources.projects = vec![ProjectLayer {
            file: self.sources.workspace.join(".ringfence/config.toml"),
            text: text.to_owned(),
            trust: Trust::Untrusted,
        }];
        self
    }

    fn trusted(mut self) -> Self {
        for project in &mut self.sources.projects {
            project.trust = Trust::Trusted;
        }
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.sources.environment.insert(name.into(), value.into());
        self
    }

    fn flag(mut self, flag: &str, key: &'static str, value: Value) -> Self {
        self.sources.flags.push(FlagValue {
            flag: flag.into(),
            key,
            value,
        });
        self
    }

    fn resolve(&self) -> Resolved {
        config::resolve(&self.sources).unwrap()
    }

    fn config(&self) -> Config {
        Config::from(&self.resolve())
    }

    /// The errors, with the temporary folder taken out.
    fn errors(&self) -> String {
        self.clean(&config::resolve(&self.sources).unwrap_err().to_string())
    }

    fn refused(&self) -> Vec<String> {
        let refused = self.resolve().refused;
        refused
            .iter()
            .map(|refusal| format!("{} = {}", refusal.key, refusal.text))
            .collect()
    }

    fn clean(&self, text: &str) -> String {
        text.replace(&*self.dir.path().to_string_lossy(), "DIR")
    }
}

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

/// Whatever says what programs load or run waits for trust; the rest of a table does not.
#[test]
fn a_project_sets_no_variable_that_makes_programs_run_something() {
    let rows = variable::rows().flat_map(|row| row.each().map(move |name| (name, row.project)));
    let rows: Vec<_> = rows.collect();
    let settings = |wanted: Option<Project>| {
        let rows = rows
            .iter()
            .filter(|(_, project)| wanted.is_none_or(|wanted| *project == wanted));
        let names: std::collections::BTreeSet<_> =
            rows.map(|(name, _)| name.replace('*', "X")).collect();
        let each: Vec<_> = names.iter().map(|name| format!("{name} = \"v\"")).collect();
        format!("environment.set = {{ {} }}", each.join(", "))
    };
    assert!(settings(Some(Project::MayNotSet)).contains("RUSTC_WRAPPER"));
    let layers = Layers::new().project(&settings(None));
    assert_eq!(layers.refused(), [settings(Some(Project::MayNotSet))]);
}

#[test]
fn the_defaults_are_those_of_the_policy_and_the_specification() {
    let config = Config::default();
    assert_eq!(config.sandbox.mode, SandboxMode::WorkspaceWrite);
    assert_eq!(config.sandbox.network, Network::Off);
    assert_eq!(config.approval.policy, ApprovalPolicy::OnFailure);
    assert_eq!(config.limits, Limits::default());
    assert_eq!(config.shell.timeout, Duration::from_secs(10));
    assert_eq!(config.bash.default_timeout, Duration::from_mins(2));
    assert_eq!(config.bash.max_timeout, Duration::from_mins(10));
    assert_eq!(config.script.limits.max_source_bytes, 20_480);
    assert!(!config.sandbox.allow_disable_sandbox);
    assert!(config.audit.enabled);
}

#[test]
fn without_any_layer_the_defaults_hold() {
    let layers = Layers::new();
    assert_eq!(layers.config(), Config::default());
    let nothing = Sources::default();
    assert_eq!(
        Config::from(&config::resolve(&nothing).unwrap()),
        Config::default()
    );
}

#[test]
fn each_layer_counts_over_the_one_before_and_values_know_their_origin() {
    let mut layers = Layers::new();
    let origin = |layers: &Layers| {
        let resolved = layers.resolve();
        let setting = resolved.get("sandbox.network").unwrap();
        layers.clean(&format!("{} {}", setting.value(), setting.parts[0].origin))
    };
    assert_eq!(origin(&layers), "\"off\" default");
    layers = layers.system("[sandbox]\nnetwork = 'full'\n");
    assert_eq!(origin(&layers), "\"full\" DIR/system.toml:2");
    layers = layers.user("\n\n[sandbox]\n# why\nnetwork = 'full'\n");
    assert_eq!(origin(&layers), "\"full\" DIR/user.toml:5");
    layers = layers.project("sandbox.network = 'allow-list'");
    assert_eq!(
        origin(&layers),
        "\"allow-list\" DIR/project/.ringfence/config.toml:1"
    );
    layers = layers.variable("RINGFENCE_SANDBOX_NETWORK", "full");
    assert_eq!(origin(&layers), "\"full\" RINGFENCE_SANDBOX_NETWORK");
    layers = layers.flag("--network", "sandbox.network", text("off"));
    assert_eq!(origin(&layers), "\"off\" --network");
}

#[test]
fn lists_add_up_over_the_layers() {
    let layers = Layers::new()
        .user("[sandbox]\nwritable_roots = ['/data/', '~/cache']\ndenied_reads = ['/srv/./x/../y']")
        .project("[sandbox]\ndenied_reads = ['private', '/srv/y']\nprotected_paths = ['ci']")
        .variable("RINGFENCE_SANDBOX_WRITABLE_ROOTS", "/one:two")
        .flag(
            "--writable",
            "sandbox.writable_roots",
            Value::List(vec!["/a:b".into()]),
        );
    let sandbox = layers.config().sandbox;
    let project = layers.sources.workspace.clone();
    let two = project.join("two");
    let expected = [
        "/data",
        "/home/me/cache",
        "/one",
        two.to_str().unwrap(),
        "/a:b",
    ];
    assert_eq!(sandbox.writable_roots, expected.map(PathBuf::from));
    assert_eq!(
        sandbox.denied_reads,
        [PathBuf::from("/srv/y"), project.join("private")]
    );
    assert_eq!(sandbox.protected_paths, [PathBuf::from("ci")]);
    assert_eq!(layers.refused(), Vec::<String>::new());
}

#[test]
fn the_policy_is_made_of_defaults_and_settings() {
    let layers = Layers::new().user(
        "[sandbox]\nallowed_reads = ['~/.npmrc']\ndenied_reads = ['/srv/keys']\n\
         unprotected_paths = ['.vscode', '~/bin']\nprotected_paths = ['ci']\nwritable_roots = ['/data']",
    );
    let policy = layers
        .config()
        .sandbox
        .policy(Path::new("/ws"), Some(Path::new("/home/me")));
    let has = |paths: &[PathBuf], path: &str| paths.contains(&PathBuf::from(path));
    assert_eq!(policy.writable_roots, ["/ws", "/data"].map(PathBuf::from));
    assert!(has(&policy.denied_reads, "/home/me/.ssh") && has(&policy.denied_reads, "/etc/shadow"));
    assert!(
        has(&policy.denied_reads, "/srv/keys") && !has(&policy.denied_reads, "/home/me/.npmrc")
    );
    assert!(has(&policy.protected_paths, ".git/hooks") && has(&policy.protected_paths, "ci"));
    assert!(has(&policy.protected_paths, "/home/me/.bashrc"));
    assert!(
        !has(&policy.protected_paths, ".vscode") && !has(&policy.protected_paths, "/home/me/bin")
    );
    let bare = Config::default().sandbox.policy(Path::new("/ws"), None);
    assert_eq!(
        bare.protected_paths,
        SandboxPolicy::workspace_write("/ws").protected_paths
    );
}

#[test]
fn every_kind_of_value_is_read_from_the_environment() {
    let config = Layers::new()
        .variable("RINGFENCE_SANDBOX_BACKEND", "native")
        .variable("RINGFENCE_LIMITS_PROCESSES", "unlimited")
        .variable("RINGFENCE_LIMITS_CPU_SECONDS", "7")
        .variable("RINGFENCE_SHELL_LOGIN", "false")
        .variable("RINGFENCE_SHELL_PATH", "/bin/dash")
        .variable("RINGFENCE_ENVIRONMENT_INCLUDE", "A, B_*")
        .variable("RINGFENCE_ENVIRONMENT_SET", "{ X = 'a,b', Y = '' }")
        .variable("RINGFENCE_SCRIPT_LIMITS_TIMEOUT_MS", "5")
        .config();
    assert_eq!(config.sandbox.backend, Backend::Native);
    assert_eq!(config.limits.processes, None);
    assert_eq!(config.limits.cpu_time, Some(Duration::from_secs(7)));
    assert!(!config.shell.login);
    assert_eq!(config.shell.path, Some(PathBuf::from("/bin/dash")));
    assert_eq!(config.environment.include, ["A", "B_*"]);
    let set = [("X", "a,b"), ("Y", "")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(config.environment.set, BTreeMap::from(set));
    assert_eq!(config.script.limits.timeout, Duration::from_millis(5));
}

#[test]
fn reserved_and_foreign_variables_are_left_alone() {
    let mut layers = Layers::new()
        .variable("RINGFENCER", "x")
        .variable("PATH", "/bin");
    for name in config::RESERVED_VARIABLES {
        layers = layers.variable(name, "whatever");
    }
    assert_eq!(layers.config(), Config::default());
}

#[test]
fn errors_say_where_and_what_to_write_instead() {
    let user = |text: &str| Layers::new().user(text).errors();
    let variable = |name: &str, value: &str| Layers::new().variable(name, value).errors();
    let all = [
        user("[sandbox]\nnetwrok = 'off'"),
        user("[sandbx]\nmode = 'read-only'"),
        user("\nmode = 'read-only'"),
        user("[sandbox]\nwhatever_this_is = 1"),
        user("[sandbox]\nnetwork = 'on'"),
        user("[sandbox]\n\nnetwork = 5"),
        user("[sandbox]\nallow_disable_sandbox = 'yes'"),
        user("[sandbox]\nwritable_roots = '/x'"),
        user("[sandbox]\nwritable_roots = ['/x', 5]"),
        user("[sandbox]\nwritable_roots = ['here']"),
        user("[sandbox]\nprotected_paths = ['../x']"),
        user("[sandbox]\ncontainer_image = ''"),
        user("[limits]\nopen_files = -1"),
        user("[limits]\nopen_files = 1.5"),
        user("[limits]\nprocesses = 0"),
        user("[approval]\ntimeout_ms = 0"),
        user("[environment.set]\nB = 'x'\nA = 1"),
        user("sandbox = 'strict'"),
        user("[sandbox]\nmode = 'read-only'\nmode = 'read-only'"),
        user("[sandbox\nmode = 'read-only'"),
        variable("RINGFENCE_SANDBOX_MOD", "read-only"),
        variable("RINGFENCE_COLOUR", "blue"),
        variable("RINGFENCE_BASH_ON_TIMEOUT", "explode"),
        variable("RINGFENCE_AUDIT_ENABLED", "yes"),
        variable("RINGFENCE_ENVIRONMENT_SET", "A=b"),
        Layers::new()
            .flag("--sandbox", "sandbox.mode", text("strict"))
            .errors(),
    ]
    .join("\n");
    expect![[r#"
        DIR/user.toml:2: unknown key `sandbox.netwrok`; did you mean `sandbox.network`?
        DIR/user.toml:1: unknown section `sandbx`; did you mean `sandbox`?
        DIR/user.toml:2: unknown key `mode`; did you mean `model`?
        DIR/user.toml:2: unknown key `sandbox.whatever_this_is`; see `ringfence config show` for all keys
        DIR/user.toml:2: `sandbox.network` must be one of "off", "allow-list", "full"; found "on"
        DIR/user.toml:3: `sandbox.network` must be one of "off", "allow-list", "full"; found 5
        DIR/user.toml:2: `sandbox.allow_disable_sandbox` must be true or false; found "yes"
        DIR/user.toml:2: `sandbox.writable_roots` must be a list of paths; found "/x"
        DIR/user.toml:2: `sandbox.writable_roots` must be a list of paths; found 5 inside
        DIR/user.toml:2: `sandbox.writable_roots` must be a list of paths; found the relative path "here", which needs to be absolute or to begin with ~/ here
        DIR/user.toml:2: `sandbox.protected_paths` must be a list of paths; found "../x", which climbs out with `..`
        DIR/user.toml:2: `sandbox.container_image` must be a text in quotes; found ""
        DIR/user.toml:2: `limits.open_files` must be a whole number of at least 16, or "unlimited"; found -1
        DIR/user.toml:2: `limits.open_files` must be a whole number of at least 16, or "unlimited"; found 1.5
        DIR/user.toml:2: `limits.processes` must be a whole number of at least 1, or "unlimited"; found 0
        DIR/user.toml:2: `approval.timeout_ms` must be a whole number of at least 1; found 0
        DIR/user.toml:3: `environment.set` must be a table of names and texts; found 1 inside
        DIR/user.toml:1: `sandbox` must be a section; found "strict"
        DIR/user.toml:3: duplicate key
        DIR/user.toml:1: unclosed table, expected `]`
        RINGFENCE_SANDBOX_MOD: unknown variable `RINGFENCE_SANDBOX_MOD`; did you mean `RINGFENCE_SANDBOX_MODE`?
        RINGFENCE_COLOUR: unknown variable `RINGFENCE_COLOUR`; see `ringfence config show` for all keys
        RINGFENCE_BASH_ON_TIMEOUT: `bash.on_timeout` must be one of "kill", "background"; found "explode"
        RINGFENCE_AUDIT_ENABLED: `audit.enabled` must be true or false; found "yes"
        RINGFENCE_ENVIRONMENT_SET: `environment.set` must be a table of names and texts; found "A=b"
        --sandbox: `sandbox.mode` must be one of "read-only", "workspace-write", "external-sandbox", "danger-full-access"; found "strict""#]].assert_eq(&all);
}

/// What `config show` prints where nobody has set anything.
#[test]
fn the_defaults_are_shown_as_they_always_were() {
    let shown = Resolved::defaults().lines().join("\n") + "\n";
    expect_file!["snapshots/config_show.txt"].assert_eq(&shown);
}

/// A date is what no key accepts: each says what it does accept.
#[test]
fn every_key_says_what_it_accepts() {
    let all: Vec<String> = config::keys()
        .iter()
        .map(|key| {
            let text = format!("[{}]\n{} = 2000-01-01\n", key.section, key.name);
            Layers::new().user(&text).errors() + "\n"
        })
        .collect();
    expect_file!["snapshots/config_errors.txt"].assert_eq(&all.concat());
}

#[test]
fn all_errors_of_all_layers_are_reported_at_once() {
    let errors = Layers::new()
        .system("[sandbox]\nx = 1\ny = 2")
        .user("[")
        .project("[limits]\nopen_files = 'many'")
        .variable("RINGFENCE_NOPE", "1");
    assert_eq!(errors.errors().lines().count(), 5, "{}", errors.errors());
}

#[test]
fn files_that_are_there_but_no_files_are_errors() {
    let layers = Layers::new();
    fs::create_dir(layers.sources.user.as_ref().unwrap()).unwrap();
    let errors = config::resolve(&layers.sources).unwrap_err().0;
    assert!(
        matches!(errors[..], [ConfigError::NotAFile { .. }]),
        "{errors:?}"
    );

    let layers = Layers::new().user(&"#".repeat((1 << 20) + 1));
    let errors = config::resolve(&layers.sources).unwrap_err().0;
    assert!(
        matches!(errors[..], [ConfigError::NotAFile { .. }]),
        "{errors:?}"
    );

    let layers = Layers::new();
    fs::write(layers.sources.user.as_ref().unwrap(), b"\xff").unwrap();
    let errors = config::resolve(&layers.sources).unwrap_err().0;
    assert!(
        matches!(errors[..], [ConfigError::Unreadable { .. }]),
        "{errors:?}"
    );
}

/// What a user has set, what a project asks for, and what of it is refused.
#[test]
fn a_project_tightens_and_does_not_loosen() {
    for (user, project, refused) in [
        ("", "sandbox.mode = 'read-only'", ""),
        ("", "sandbox.mode = 'workspace-write'", ""),
        (
            "",
            "sandbox.mode = 'danger-full-access'",
            "sandbox.mode = \"danger-full-access\"",
        ),
        (
            "",
            "sandbox.mode = 'external-sandbox'",
            "sandbox.mode = \"external-sandbox\"",
        ),
        (
            "sandbox.mode = 'read-only'",
            "sandbox.mode = 'workspace-write'",
            "sandbox.mode = \"workspace-write\"",
        ),
        (
            "sandbox.mode = 'danger-full-access'",
            "sandbox.mode = 'workspace-write'",
            "",
        ),
        ("", "sandbox.backend = 'none'", "sandbox.backend = \"none\""),
        ("", "sandbox.backend = 'bubblewrap'", ""),
        (
            "",
            "sandbox.container_image = 'mine'",
            "sandbox.container_image = \"mine\"",
        ),
        ("", "sandbox.writable_roots = ['build']", ""),
        (
            "",
            "sandbox.writable_roots = ['build', '/etc', '../up']",
            "sandbox.writable_roots = [\"/etc\", \"DIR/up\"]",
        ),
        ("", "sandbox.denied_reads = ['/srv', 'x']", ""),
        (
            "",
            "sandbox.allowed_reads = ['~/.ssh']",
            "sandbox.allowed_reads = [\"/home/me/.ssh\"]",
        ),
        (
            "sandbox.allowed_reads = ['~/.ssh']",
            "sandbox.allowed_reads = ['~/.ssh']",
            "",
        ),
        ("", "sandbox.protected_paths = ['ci']", ""),
        (
            "",
            "sandbox.unprotected_paths = ['.git/hooks']",
            "sandbox.unprotected_paths = [\".git/hooks\"]",
        ),
        (
            "",
            "sandbox.network = 'allow-list'",
            "sandbox.network = \"allow-list\"",
        ),
        (
            "sandbox.network = 'full'",
            "sandbox.network = 'allow-list'",
            "",
        ),
        ("", "sandbox.tmp = 'host'", "sandbox.tmp = \"host\""),
        (
            "",
            "sandbox.degraded = 'allow'",
            "sandbox.degraded = \"allow\"",
        ),
        (
            "",
            "sandbox.allow_disable_sandbox = true",
            "sandbox.allow_disable_sandbox = true",
        ),
        (
            "sandbox.allow_disable_sandbox = true",
            "sandbox.allow_disable_sandbox = false",
            "",
        ),
        (
            "approval.policy = 'on-request'",
            "approval.policy = 'never'",
            "approval.policy = \"never\"",
        ),
        (
            "approval.policy = 'on-request'",
            "approval.policy = 'on-failure'",
            "approval.policy = \"on-failure\"",
        ),
        ("", "approval.policy = 'on-request'", ""),
        ("", "approval.policy = 'unless-trusted'", ""),
        (
            "approval.policy = 'never'",
            "approval.policy = 'on-request'",
            "approval.policy = \"on-request\"",
        ),
        (
            "approval.policy = 'on-failure'",
            "approval.policy = 'never'",
            "",
        ),
        (
            "",
            "environment.inherit = 'all'",
            "environment.inherit = \"all\"",
        ),
        ("", "environment.inherit = 'none'", ""),
        (
            "",
            "environment.include = ['GITHUB_TOKEN']",
            "environment.include = [\"GITHUB_TOKEN\"]",
        ),
        ("", "environment.exclude = ['X']", ""),
        (
            "",
            "environment.set = { A = 'b', LD_PRELOAD = 'x.so', PATH = '.' }",
            "environment.set = { LD_PRELOAD = \"x.so\", PATH = \".\" }",
        ),
        (
            "environment.set = { IGNORE_SCRIPTS = '1', A = 'b' }",
            "environment.set = { IGNORE_SCRIPTS = '0', A = 'b', RINGFENCE_X = '' }",
            "environment.set = { IGNORE_SCRIPTS = \"0\", RINGFENCE_X = \"\" }",
        ),
        (
            "",
            "limits.processes = 10\nlimits.memory_bytes = 1_000_000_000",
            "",
        ),
        ("", "limits.processes = 5000", "limits.processes = 5000"),
        (
            "",
            "limits.processes = 'unlimited'",
            "limits.processes = \"unlimited\"",
        ),
        ("", "shell.path = 'sh'", "shell.path = \"DIR/project/sh\""),
        (
            "",
            "bash.max_timeout_ms = 600001",
            "bash.max_timeout_ms = 600001",
        ),
        ("", "bash.max_timeout_ms = 1000", ""),
        ("", "audit.enabled = false", "audit.enabled = false"),
        ("", "audit.dir = 'logs'", "audit.dir = \"DIR/project/logs\""),
        ("", "script.mode = 'enabled'", "script.mode = \"enabled\""),
        ("", "script.expose.tools = ['exec']", ""),
        ("", "script.expose.tools = []", ""),
        (
            "",
            "script.expose.tools = ['exec', 'http']",
            "script.expose.tools = [\"http\"]",
        ),
        (
            "",
            "script.expose.enable_http = true",
            "script.expose.enable_http = true",
        ),
    ] {
        let layers = Layers::new().user(user).project(project);
        assert_eq!(
            layers.clean(&layers.refused().join("; ")),
            refused,
            "{user} | {project}"
        );
        // Whoever is trusted is refused nothing.
        let trusted = Layers::new().user(user).project(project).trusted();
        assert_eq!(trusted.refused(), Vec::<String>::new());
        if !refused.is_empty() {
            assert_ne!(trusted.config(), layers.config(), "{project}");
        }
    }
}

#[test]
fn what_is_refused_has_no_effect_and_the_rest_has() {
    let layers = Layers::new().project(
        "[sandbox]\nnetwork = 'full'\ndenied_reads = ['/srv']\n[environment.set]\nA = 'b'\nBASH_ENV = 'x'\n\
         [script.expose]\ntools = ['exec', 'http']",
    );
    let config = layers.config();
    assert_eq!(config.sandbox.network, Network::Off);
    assert_eq!(config.sandbox.denied_reads, [PathBuf::from("/srv")]);
    assert_eq!(config.environment.set.keys().collect::<Vec<_>>(), ["A"]);
    assert_eq!(config.script.expose.tools, ["exec"]);
    expect![[r#"DIR/project/.ringfence/config.toml:4: `environment.set = { BASH_ENV = "x" }` would loosen the fence and was not honoured; `ringfence trust` in this project would honour it"#]].assert_eq(&layers.clean(&layers.resolve().refused[0].to_string()));
    // What the person sets afterwards counts.
    let layers = layers.flag("--network", "sandbox.network", text("full"));
    assert_eq!(layers.config().sandbox.network, Network::Full);
}

#[test]
fn settings_are_shown_with_their_origin() {
    let layers = Layers::new()
        .user("[sandbox]\nmode = 'read-only'\ndenied_reads = ['/a']\n[environment.set]\n\"a b\" = 'c\"d'")
        .project("[sandbox]\ndenied_reads = ['/b']")
        .variable("RINGFENCE_LIMITS_PROCESSES", "64");
    let resolved = layers.resolve();
    let shown: Vec<String> = resolved
        .lines_with_origin()
        .into_iter()
        .filter(|line| !line.ends_with("# default") || line.starts_with("sandbox.tmp"))
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    expect![[r#"
        sandbox.mode = "read-only" # DIR/user.toml:2
        sandbox.denied_reads = ["/a"] # DIR/user.toml:3
        sandbox.denied_reads += ["/b"] # DIR/project/.ringfence/config.toml:2
        sandbox.tmp = "private" # default
        environment.set = { "a b" = 'c"d' } # DIR/user.toml:4
        limits.processes = 64 # RINGFENCE_LIMITS_PROCESSES"#]]
    .assert_eq(&layers.clean(&shown.join("\n")));
    assert_eq!(resolved.lines().len(), config::keys().len());
    assert_eq!(resolved.lines()[0], "sandbox.mode = \"read-only\"");
    let json = resolved.to_json();
    assert_eq!(json["settings"]["sandbox.mode"]["value"], "read-only");
    assert_eq!(
        json["settings"]["sandbox.mode"]["parts"][0]["origin"]["line"],
        2
    );
    assert_eq!(
        json["settings"]["limits.processes"]["parts"][0]["origin"]["kind"],
        "environment"
    );
}

#[test]
fn the_table_of_keys_is_sound() {
    let mut variables: Vec<String> = config::keys().iter().map(|key| key.variable()).collect();
    for reserved in config::RESERVED_VARIABLES {
        assert!(
            !variables.iter().any(|variable| variable == reserved),
            "{reserved}"
        );
    }
    variables.sort();
    variables.dedup();
    assert_eq!(
        variables.len(),
        config::keys().len(),
        "two keys share a variable"
    );
    for key in config::keys() {
        let lists = matches!(
            key.kind,
            Kind::Paths
                | Kind::RootedPaths
                | Kind::Names
                | Kind::Hosts
                | Kind::Presets
                | Kind::Table
        );
        assert!(key.merge == Merge::Replace || lists, "{}", key.path());
        assert!(key.doc.ends_with('.'), "{}", key.path());
        let is_choice = matches!(key.kind, Kind::Choice(_));
        assert!(key.loosens != Loosens::Later || is_choice, "{}", key.path());
        // Every word of every choice becomes a type.
        if let Kind::Choice(words) = key.kind {
            for word in words {
                let layers = Layers::new().variable(&key.variable(), word);
                let resolved = layers.resolve();
                let origin = Origin::Environment {
                    variable: key.variable(),
                };
                assert_eq!(resolved.get(&key.path()).unwrap().parts[0].origin, origin);
                drop(Config::from(&resolved));
            }
        }
    }
}

#[test]
fn the_reference_page_is_current() {
    expect_file!["../../../docs/configuration.md"].assert_eq(&config::reference_page());
}

#[test]
fn every_default_is_what_its_key_accepts() {
    for (key, setting) in config::keys().iter().zip(&Resolved::defaults().settings) {
        let value = setting.value();
        if value == Value::Nothing && key.kind == Kind::Path {
            continue;
        }
        let text = format!("{} = {}", key.path(), key.write(&value));
        let resolved = Layers::new().user(&text).resolve();
        assert_eq!(resolved.get(&key.path()).unwrap().value(), value, "{text}");
        assert!(!resolved.is_default(&key.path()), "{text}");
    }
}

/// The words of the policy's types are those that they have everywhere else.
#[test]
fn words_are_the_same_in_settings_and_in_the_record() {
    let said = |config: &Config, path: &str| match path {
        "sandbox.mode" => serde_json::to_value(config.sandbox.mode).unwrap(),
        "sandbox.network" => serde_json::to_value(config.sandbox.network).unwrap(),
        "sandbox.tmp" => serde_json::to_value(config.sandbox.tmp).unwrap(),
        "sandbox.lookout" => serde_json::to_value(config.sandbox.lookout).unwrap(),
        "approval.policy" => serde_json::to_value(config.approval.policy).unwrap(),
        "environment.inherit" => serde_json::to_value(config.environment.inherit).unwrap(),
        "limits.control_groups" => serde_json::to_value(config.limits.control_groups).unwrap(),
        other => unreachable!("{other}"),
    };
    for path in [
        "sandbox.mode",
        "sandbox.network",
        "sandbox.tmp",
        "sandbox.lookout",
        "approval.policy",
        "environment.inherit",
        "limits.control_groups",
    ] {
        assert!(!config::words_of(path).is_empty(), "{path}");
        for word in config::words_of(path) {
            let config = Layers::new().user(&format!("{path} = '{word}'")).config();
            assert_eq!(said(&config, path), *word, "{path}");
        }
    }
    // Harmless twins: a key without words, and none at all.
    assert!(config::words_of("shell.login").is_empty() && config::words_of("nope").is_empty());
}

/// The sources of every crate, but for those of the configuration itself.
fn sources() -> Vec<(PathBuf, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders: Vec<PathBuf> = fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("src"))
        .collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("harness/src/config") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                files.push((path.clone(), fs::read_to_string(path).unwrap()));
            }
        }
    }
    files
}

fn is_name(c: char) -> bool {
    c.is_ascii_lowercase() || c == '_'
}

/// A setting that nothing reads says something that is not so.
#[test]
fn every_setting_is_read_somewhere() {
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/config/settings/policy.rs");
    let mut sources = sources();
    sources.push((policy.clone(), fs::read_to_string(policy).unwrap()));
    let is_read = |field: &str| {
        let with_dot = format!(".{field}");
        sources.iter().any(|(_, text)| {
            let mut at = text.match_indices(&with_dot);
            at.any(|(start, found)| !text[start + found.len()..].starts_with(is_name))
        })
    };
    // `SandboxConfig::container` reads these two.
    let read_here = ["container_image", "container_engine"];
    let unread: Vec<String> = config::keys()
        .iter()
        .filter(|key| !is_read(key.field) && !read_here.contains(&key.field))
        .map(|key| key.path())
        .collect();
    assert_eq!(unread, Vec::<String>::new());
    assert!(!is_read("a_field_that_is_nowhere"));
}

/// What messages tell people to set can be set.
#[test]
fn every_setting_that_is_named_exists() {
    let mut named = 0;
    for (file, text) in sources() {
        for part in text.split('`').skip(1) {
            let end = part.find(|c| !is_name(c) && c != '.').unwrap_or(part.len());
            let path = &part[..end];
            let section = path.rsplit_once('.').map_or("", |(section, _)| section);
            let is_section = config::keys().iter().any(|key| key.section == section);
            // `network.rs` is a file.
            if !is_section || path.rsplit('.').next() == Some("rs") || !part[end..].starts_with(' ')
            {
                continue;
            }
            named += 1;
            let known = config::keys().iter().any(|key| key.is(path));
            assert!(known, "{}: `{path}`", file.display());
        }
    }
    assert!(named > 5, "only {named} were found");
}
