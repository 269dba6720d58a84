//! Package managers inside the fence, with real ones against registries that exist in a namespace of the test's
//! own: with their preset they work and keep what they download, without it they are refused at once, with the line that
//! allows it.

#![allow(clippy::unwrap_used)]

mod program;
mod world;

use std::path::Path;
use std::time::{Duration, Instant};

use program::Ran;
use ringfence_testkit::require;
use world::World;

/// A package manager, and how it is used.
struct Manager {
    preset: &'static str,
    program: &'static str,
    /// Files of the project.
    files: &'static [(&'static str, &'static str)],
    /// What gets a dependency and uses it.
    text: &'static str,
    /// What that prints when it worked.
    expected: &'static str,
    /// The host that is asked first.
    host: &'static str,
    /// What the tool prints when it tries again.
    tries_again: &'static [&'static str],
    /// What is in its cache afterwards.
    kept: &'static str,
    /// Whether it says which host it could not look up.
    tells_the_host: bool,
}

/// `CA` is the certificate of the registries' authority, `TOOLCHAIN` the folder of cargo.
const MANAGERS: &[Manager] = &[
    Manager {
        preset: "npm",
        program: "npm",
        files: &[("package.json", "{\"name\":\"p\",\"version\":\"1.0.0\"}")],
        text: "export npm_config_cafile=CA; npm install --loglevel=http --no-audit --no-fund fenced-thing && node -p 'require(\"fenced-thing\")'",
        expected: "npm found it",
        host: "registry.npmjs.org",
        tries_again: &["attempt 2"],
        kept: "npm/_cacache",
        tells_the_host: true,
    },
    Manager {
        preset: "pip",
        program: "python3",
        files: &[],
        text: "export PIP_CERT=CA; python3 -m pip install --target t fenced-thing; PYTHONPATH=t python3 -c 'import fenced_thing; print(fenced_thing.WORD)'",
        expected: "pip found it",
        host: "pypi.org",
        tries_again: &["Retrying"],
        kept: "pip",
        tells_the_host: false,
    },
    Manager {
        preset: "cargo",
        program: "cc",
        files: &[
            (
                "Cargo.toml",
                "[package]\nname=\"c\"\nversion=\"0.1.0\"\nedition=\"2021\"\n[dependencies]\nfenced-thing=\"1\"\n",
            ),
            (
                "src/main.rs",
                "fn main() { println!(\"{}\", fenced_thing::WORD) }\n",
            ),
        ],
        text: "export CARGO_HTTP_CAINFO=CA PATH=TOOLCHAIN:$PATH; cargo build && target/debug/c",
        expected: "cargo found it",
        host: "index.crates.io",
        tries_again: &["spurious network error", "tries remaining"],
        kept: "cargo/registry",
        tells_the_host: true,
    },
    Manager {
        preset: "go",
        program: "go",
        files: &[
            (
                "go.mod",
                "module p\n\ngo 1.19\n\nrequire example.test/fenced v1.0.0\n",
            ),
            (
                "main.go",
                "package main\n\nimport (\n\t\"fmt\"\n\n\t\"example.test/fenced\"\n)\n\nfunc main() { fmt.Println(fenced.Word) }\n",
            ),
        ],
        text: "export SSL_CERT_FILE=CA GONOSUMDB=example.test GOFLAGS=\"$GOFLAGS -mod=mod\"; go build -o p . && ./p",
        expected: "go found it",
        host: "proxy.golang.org",
        tries_again: &[],
        kept: "go/mod/cache/download",
        tells_the_host: true,
    },
];

impl Manager {
    fn is_there(&self) -> bool {
        let there = require::has_program(self.program);
        if !there {
            let why = format!("{} inside the fence", self.preset);
            require::missing(self.program, &why);
        }
        there
    }

    /// Does it in a fresh project, with flags.
    fn run(&self, world: &World, flags: &[&str]) -> Ran {
        self.lay_out(&world.place.work());
        self.run_again(world, flags)
    }

    /// Does it in the project as it is.
    fn run_again(&self, world: &World, flags: &[&str]) -> Ran {
        let project = world.place.work();
        let toolchain = Path::new(env!("CARGO")).parent().unwrap();
        let text = self
            .text
            .replace("CA;", &format!("{};", world.authority().display()))
            .replace("CA ", &format!("{} ", world.authority().display()))
            .replace("TOOLCHAIN", &toolchain.display().to_string());
        std::fs::write(project.join("deed.sh"), text).unwrap();
        let mut arguments = vec!["run", "--approval", "never"];
        arguments.extend(flags);
        arguments.extend(["--", "bash", "deed.sh"]);
        world.output(&arguments)
    }

    fn lay_out(&self, project: &Path) {
        for entry in std::fs::read_dir(project).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                std::fs::remove_dir_all(path).unwrap();
            } else {
                std::fs::remove_file(path).unwrap();
            }
        }
        for (name, content) in self.files {
            let path = project.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
    }

    /// Checks that it was refused, at its first try.
    fn assert_refused(&self, world: &World, flags: &[&str], ran: &Ran) {
        let what = self.preset;
        assert_ne!(ran.code, Some(0), "{what}: {ran:?}");
        assert_eq!(world.seen(), Vec::<String>::new(), "{what}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        for sign in self.tries_again {
            assert!(!said.contains(sign), "{what} tried again: {ran:?}");
        }
        // With the network off nobody but the tool knows; otherwise the proxy does.
        if flags.is_empty() && !self.tells_the_host {
            return;
        }
        let denied = format!("denied: {}:443: ", self.host);
        assert!(ran.stderr.contains(&denied), "{what}: {ran:?}");
        let line = format!(
            "to allow it: --preset {what}, or --allow-host {}",
            self.host
        );
        assert!(ran.stderr.contains(&line), "{what}: {ran:?}");
    }
}

/// The folder that the caches of the workspace are in.
fn caches(world: &World) -> std::path::PathBuf {
    let all = world.place.home().join(".cache/ringfence/caches");
    let mut shelves = std::fs::read_dir(all).unwrap().map(Result::unwrap);
    let shelf = shelves.find(|entry| entry.path().join("tools").is_dir());
    shelf.unwrap().path().join("tools")
}

#[test]
fn with_their_preset_they_work_and_without_it_they_are_refused_at_once() {
    let Some(world) = World::new() else { return };
    for manager in MANAGERS.iter().filter(|manager| manager.is_there()) {
        let what = manager.preset;
        for flags in [
            &[][..],
            &["--allow-host", "elsewhere.test"],
            // Another's preset is not theirs, unless it names the same host.
            &["--preset", "nuget"],
        ] {
            world.forget();
            let began = Instant::now();
            let ran = manager.run(&world, flags);
            println!("{what} {flags:?} refused after {:?}", began.elapsed());
            manager.assert_refused(&world, flags, &ran);
            // It is the tries that are counted; this is for a tool that tries again without a word.
            assert!(began.elapsed() < Duration::from_secs(30), "{what}: {ran:?}");
        }
        let ran = manager.run(&world, &["--preset", what]);
        assert!(ran.stdout.contains(manager.expected), "{what}: {ran:?}");
        let mut kept = std::fs::read_dir(caches(&world).join(manager.kept)).unwrap();
        assert!(kept.next().is_some(), "{what} kept nothing");
        // Nothing of it is where the user's own would be.
        for own in [".npm", ".cargo", "go", ".cache/pip", ".cache/go-build"] {
            assert!(!world.place.home().join(own).exists(), "{what}: {own}");
        }
    }
}

/// What was downloaded once is there for the next run, without a network.
#[test]
fn what_was_downloaded_is_kept_for_the_workspace() {
    let Some(world) = World::new() else { return };
    let offline = ["cargo", "go"];
    let managers = MANAGERS.iter().filter(|it| offline.contains(&it.preset));
    for manager in managers.filter(|manager| manager.is_there()) {
        let what = manager.preset;
        let ran = manager.run(&world, &["--preset", what]);
        assert!(ran.stdout.contains(manager.expected), "{what}: {ran:?}");
        world.forget();
        let ran = manager.run_again(&world, &[]);
        assert!(ran.stdout.contains(manager.expected), "{what}: {ran:?}");
        assert_eq!(world.seen(), Vec::<String>::new(), "{what}");
        // Unless nothing is kept.
        let config = world.place.home().join(".config/ringfence");
        std::fs::create_dir_all(&config).unwrap();
        let file = config.join("config.toml");
        std::fs::write(&file, "[caches]\nkeep = \"session\"\n").unwrap();
        let ran = manager.run_again(&world, &[]);
        assert!(!ran.stdout.contains(manager.expected), "{what}: {ran:?}");
        let ran = manager.run(&world, &["--preset", what]);
        assert!(ran.stdout.contains(manager.expected), "{what}: {ran:?}");
        std::fs::remove_file(&file).unwrap();
    }
}

/// A registry of the user's own is offered by its name, not allowed by the preset.
#[test]
fn a_registry_of_ones_own_is_offered_and_not_silently_allowed() {
    let Some(world) = World::new() else { return };
    let Some(npm) = MANAGERS.iter().find(|manager| manager.is_there()) else {
        return;
    };
    let text = format!(
        "export npm_config_cafile={} npm_config_fetch_retries=0; npm view --registry=https://registry.corp.test/ fenced-thing name",
        world.authority().display()
    );
    npm.lay_out(&world.place.work());
    std::fs::write(world.place.work().join("deed.sh"), text).unwrap();
    let run = |flags: &[&str]| {
        let mut arguments = vec!["run", "--approval", "never"];
        arguments.extend(flags);
        arguments.extend(["--", "bash", "deed.sh"]);
        world.forget();
        world.output(&arguments)
    };
    for flags in [&[][..], &["--preset", "npm"]] {
        let ran = run(flags);
        let line = "to allow it: --allow-host registry.corp.test, or";
        assert!(ran.stderr.contains(line), "{flags:?}: {ran:?}");
        assert_eq!(world.seen(), Vec::<String>::new());
    }
    let ran = run(&["--preset", "npm", "--allow-host", "registry.corp.test"]);
    assert!(ran.stdout.contains("fenced-thing"), "{ran:?}");
}

/// The same by a rule about the command, and by the configuration.
#[test]
fn a_rule_and_the_configuration_name_presets_too() {
    let Some(world) = World::new() else { return };
    let Some(go) = MANAGERS.iter().find(|manager| manager.preset == "go") else {
        return;
    };
    if !go.is_there() {
        return;
    }
    let config = world.place.home().join(".config/ringfence");
    std::fs::create_dir_all(&config).unwrap();
    let write = |name: &str, text: &str| std::fs::write(config.join(name), text).unwrap();
    write(
        "rules.toml",
        "[[rule]]\nprefix = [\"bash\", \"deed.sh\"]\npreset = \"go\"\ndecision = \"allow\"\n",
    );
    let ran = go.run(&world, &[]);
    assert!(ran.stdout.contains(go.expected), "{ran:?}");
    write("rules.toml", "");
    write(
        "config.toml",
        "[sandbox]\nnetwork = \"allow-list\"\n[network]\npresets = [\"go\"]\n[caches]\nkeep = \"session\"\n",
    );
    let ran = go.run(&world, &[]);
    assert!(ran.stdout.contains(go.expected), "{ran:?}");
    // One that there is none of is an error that names all.
    write("config.toml", "[network]\npresets = [\"gopher\"]\n");
    let ran = go.run(&world, &[]);
    assert!(ran.stderr.contains("a list of npm, pip, cargo"), "{ran:?}");
}
