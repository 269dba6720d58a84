//! What is particular to each agent: where it is, how it is made to talk to a fake model, how its own shell is switched off, and what
//! it calls the tools of a server.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ringfence_testkit::model::{Call, Part};
use ringfence_testkit::require::missing;
use serde_json::{Value, json};

use crate::program::Place;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agent {
    Codex,
    Claude,
    Gemini,
    Opencode,
}

/// Whether its own shell is switched off, as `mcp install` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnShell {
    On,
    Off,
}

/// How it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// By a program, with nobody to ask.
    ByItself,
    /// By somebody at a terminal.
    AtTerminal,
}

impl Agent {
    /// What `mcp install` calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// The program, if it is installed.
    pub(crate) fn program(self) -> Option<PathBuf> {
        let name = self.name();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-agents");
        let program = root.join(name).join("node_modules/.bin").join(name);
        if program.exists() {
            return program.canonicalize().ok();
        }
        missing("agents", "scripts/test --agents installs them");
        None
    }

    /// What its own shell is called, if a model is to call it, and the field that takes the command.
    pub(crate) fn own_shell(self) -> (&'static str, &'static str) {
        match self {
            Self::Codex => ("exec_command", "cmd"),
            Self::Claude => ("Bash", "command"),
            Self::Gemini => ("run_shell_command", "command"),
            Self::Opencode => ("bash", "command"),
        }
    }

    /// A call of one of our tools, as a model makes it there.
    pub(crate) fn call(self, tool: &str, arguments: &Value, number: usize) -> Part {
        let name = match self {
            Self::Codex => {
                return Part::Raw(json!({
                    "type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
                    "namespace": "mcp__ringfence", "name": tool, "arguments": arguments.to_string(),
                    "status": "completed",
                }));
            }
            Self::Claude => format!("mcp__ringfence__{tool}"),
            Self::Gemini => format!("mcp_ringfence_{tool}"),
            Self::Opencode => format!("ringfence_{tool}"),
        };
        Part::Call(Call {
            name,
            arguments: arguments.clone(),
            id: None,
        })
    }

    /// What a user of it has in its files before `mcp install` adds to them: the model, and that a folder is known.
    pub(crate) fn settings(self, place: &Place, model: &str, shell: OwnShell) -> (PathBuf, String) {
        let (home, work) = (place.home(), place.work().display().to_string());
        let off = shell == OwnShell::Off;
        match self {
            Self::Codex => {
                let text = format!(
                    "model = \"fake\"\nmodel_provider = \"fake\"\ncheck_for_update_on_startup = false\n\n\
                     [model_providers.fake]\nname = \"fake\"\nbase_url = \"{model}/v1\"\nwire_api = \"responses\"\n\
                     env_key = \"FAKE_KEY\"\n\n[analytics]\nenabled = false\n\n[otel]\nexporter = \"none\"\n\n\
                     [projects.\"{work}\"]\ntrust_level = \"trusted\"\n\n[features]\nshell_tool = {}\n",
                    !off
                );
                (home.join(".codex/config.toml"), text)
            }
            Self::Claude => {
                let known = json!({
                    "hasCompletedOnboarding": true, "theme": "dark",
                    "customApiKeyResponses": {"approved": ["dummy"]},
                    "projects": {work: {"hasTrustDialogAccepted": true}},
                });
                (home.join(".claude.json"), known.to_string())
            }
            Self::Gemini => {
                let mut settings = json!({
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "privacy": {"usageStatisticsEnabled": false},
                    "general": {"enableAutoUpdate": false},
                });
                if off {
                    settings["tools"] = json!({"exclude": ["run_shell_command"]});
                }
                (home.join(".gemini/settings.json"), settings.to_string())
            }
            Self::Opencode => {
                let mut settings = json!({
                    "model": "fake/fake",
                    "provider": {"fake": {
                        "npm": "@ai-sdk/openai-compatible", "name": "fake", "models": {"fake": {"name": "fake"}},
                        "options": {"baseURL": format!("{model}/v1"), "apiKey": "dummy"},
                    }},
                });
                if off {
                    settings["tools"] = json!({"bash": false});
                }
                let path = home.join(".config/opencode/opencode.json");
                (path, settings.to_string())
            }
        }
    }

    /// The agent with something to do.
    pub(crate) fn command(
        self,
        place: &Place,
        model: &str,
        shell: OwnShell,
        used: Use,
    ) -> Option<Command> {
        let mut command = Command::new(self.program()?);
        command
            .current_dir(place.work())
            .env_clear()
            .env("HOME", place.home())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null());
        let by_itself = used == Use::ByItself;
        match self {
            Self::Codex => {
                command.env("FAKE_KEY", "dummy");
                if by_itself {
                    command.args(["exec", "--skip-git-repo-check"]);
                } else {
                    // It would leave a process behind.
                    command.arg("--no-daemon");
                }
                command.arg("do it");
            }
            Self::Claude => {
                command
                    .env("ANTHROPIC_BASE_URL", model)
                    .env("ANTHROPIC_API_KEY", "dummy")
                    .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
                    .env("DISABLE_AUTOUPDATER", "1")
                    .args(by_itself.then_some("-p"))
                    .args(["do it", "--allowedTools", "mcp__ringfence"]);
                if shell == OwnShell::Off {
                    command.args(["--disallowedTools", "Bash"]);
                }
            }
            Self::Gemini => {
                // With a model named, it does not ask another one which to take. Without a terminal it offers what changes
                // something only if it may do everything.
                command
                    .env("GOOGLE_GEMINI_BASE_URL", model)
                    .env("GEMINI_API_KEY", "dummy")
                    .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
                    .args(["-m", "gemini-2.5-flash", "--yolo", "-p", "do it"]);
            }
            Self::Opencode => {
                command
                    .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
                    .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
                    .args(["run", "do it"]);
            }
        }
        Some(command)
    }
}
