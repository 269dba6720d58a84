//! The user's side: a workspace that is a repository with a submodule and another repository
//! inside, a remote, and the git commands that the user gives next.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use ringfence_confine::account::Account;
use ringfence_testkit::scratch::Scratch;

/// Who commits.
pub const PERSON: &[(&str, &str)] = &[
    ("GIT_AUTHOR_NAME", "A"),
    ("GIT_AUTHOR_EMAIL", "a@example.com"),
    ("GIT_COMMITTER_NAME", "A"),
    ("GIT_COMMITTER_EMAIL", "a@example.com"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("LC_ALL", "C"),
];

/// A workspace and its user.
pub struct Scene {
    scratch: Scratch,
    owner: Option<Account>,
}

/// What the user does next, at the top and in the submodule: eight everyday commands, those of a
/// prompt, and some that need a driver, an editor or the remote.
const NEXT: &[&str] = &[
    "git rev-parse --is-inside-work-tree --abbrev-ref HEAD",
    "git status --porcelain=2 --branch",
    "git status",
    "echo changed >> file.txt",
    "git diff",
    "git log -p -2",
    "git add -A .",
    "git diff --cached",
    "git commit -q -m next",
    "git commit -q --amend",
    "git checkout -q -b another",
    "git branch -a",
    "echo once more >> file.txt",
    "git stash -q",
    "git stash pop -q",
    "git checkout -q -- file.txt",
    "git fetch -q origin",
    "git merge -q --no-edit origin/main",
    "git gc --auto -q",
];

impl Scene {
    pub fn set(owner: Option<Account>) -> Self {
        let scene = Self {
            scratch: Scratch::new(),
            owner,
        };
        let script = r#"set -e
            git config --global init.defaultBranch main
            git config --global protocol.file.allow always
            git init -q --bare "$OUTSIDE/lib.git"
            git init -q --bare "$OUTSIDE/top.git"
            git clone -q "$OUTSIDE/lib.git" "$OUTSIDE/lib" 2>/dev/null
            cd "$OUTSIDE/lib"; echo one > file.txt; git add .; git commit -q -m one; git push -q origin HEAD:main
            git clone -q "$OUTSIDE/top.git" "$WORKSPACE" 2>/dev/null
            cd "$WORKSPACE"
            mkdir -p scripts vendor/tool
            printf '#!/bin/sh\nexit 0\n' > scripts/hook.sh; chmod +x scripts/hook.sh
            printf '#!/bin/sh\ncat\n' > scripts/clean.sh; chmod +x scripts/clean.sh
            printf '.deed-*\nplanted*\nvendor\n' > .git/info/exclude
            echo one > file.txt
            git submodule --quiet add "$OUTSIDE/lib.git" lib
            printf '.deed-*\nplanted*\n' > .git/modules/lib/info/exclude
            git add .; git commit -q -m one; git push -q origin HEAD:main
            git -C lib checkout -q -B main origin/main
            git init -q vendor/tool; cd vendor/tool; echo x > file.txt; git add .; git commit -q -m tool
        "#;
        scene
            .outside_in(&scene.scratch.outside(), script)
            .expect("scene");
        scene
    }

    /// Gives everything to the ordinary user that it is for.
    pub fn give_away(&self) {
        if let Some(owner) = &self.owner {
            self.scratch.give_to(owner.uid, owner.gid);
        }
    }

    pub fn workspace(&self) -> PathBuf {
        self.scratch.workspace()
    }

    pub fn home(&self) -> PathBuf {
        self.scratch.home()
    }

    pub fn marks(&self) -> PathBuf {
        self.scratch.marks()
    }

    pub fn outside(&self) -> PathBuf {
        self.scratch.outside()
    }

    /// Does something as the user, before or after.
    pub fn outside_in(&self, folder: &Path, script: &str) -> Result<String, String> {
        // Git waits for a pipe that it takes for a file.
        let mut command = Command::new("timeout");
        command
            .args(["60", "bash", "-c", script])
            .current_dir(folder)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .env("HOME", self.home())
            .env("OUTSIDE", self.outside())
            .env("WORKSPACE", self.workspace())
            .env("EDITOR", "true")
            .env("GIT_TERMINAL_PROMPT", "0")
            .envs(PERSON.iter().copied())
            .stdin(std::process::Stdio::null());
        if let Some(owner) = &self.owner {
            use std::os::unix::fs::MetadataExt;
            let mine = std::fs::metadata(folder).expect("folder").uid() != owner.uid;
            if !mine {
                command.uid(owner.uid).gid(owner.gid);
            }
        }
        let output = command.output().expect("bash");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        if output.status.success() {
            Ok(text)
        } else {
            Err(format!("{}: {text}", output.status))
        }
    }

    /// The places where the user works.
    fn places(&self) -> [PathBuf; 3] {
        let workspace = self.workspace();
        [
            workspace.join("lib"),
            workspace.join("vendor/tool"),
            workspace,
        ]
    }

    /// The settings that git goes by in each place, as far as they are about running something:
    /// what was planted has that in its name.
    pub fn settings(&self) -> Vec<String> {
        let mut settings = Vec::new();
        for place in self.places() {
            let listed = self.outside_in(&place, "git config --list 2>/dev/null || true");
            settings.extend(listed.unwrap_or_default().lines().map(str::to_owned));
        }
        settings.retain(|line| line.contains("planted"));
        settings
    }

    /// Gives the user's next commands.
    pub fn use_git(&self) -> Result<(), String> {
        for place in self.places() {
            // A folder that was closed is opened again by whoever works there.
            self.outside_in(&place, "chmod u+rwx .")?;
            let has_remote = !place.ends_with("vendor/tool");
            let here = NEXT
                .iter()
                .filter(|line| has_remote || !line.contains("origin"));
            for line in here {
                self.outside_in(&place, line)
                    .map_err(|error| format!("`{line}` in {}: {error}", place.display()))?;
            }
        }
        Ok(())
    }

    /// What was planted and has run.
    pub fn ran(&self) -> Option<String> {
        std::fs::read_to_string(self.outside().join("ran")).ok()
    }
}
