//! The agents that are known: where each keeps its configuration, and what an entry looks like there.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde_json::{Value, json};

use super::{jsonc, toml_text, yaml_text};

/// The name of the entry.
const NAME: &str = "ringfence";

/// An agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    Claude,
    Codex,
    Cursor,
    Vscode,
    Gemini,
    Goose,
    Opencode,
    Zed,
}

/// Whom an entry is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Scope {
    /// Every project of yours
    #[default]
    User,
    /// The project in the current folder
    Project,
}

/// A program with its arguments, as an agent starts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Started {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
}

impl Client {
    /// The file with its entries.
    pub(super) fn file(
        self,
        scope: Scope,
        environment: &BTreeMap<String, String>,
    ) -> Result<PathBuf> {
        let variable = |name: &str| environment.get(name).map(PathBuf::from);
        let home = || variable("HOME").context("HOME is not set");
        let config = || {
            Ok::<_, anyhow::Error>(variable("XDG_CONFIG_HOME").unwrap_or(home()?.join(".config")))
        };
        let project = |path: &str| Ok(std::env::current_dir()?.join(path));
        match (self, scope) {
            (Self::Claude, Scope::User) => Ok(match variable("CLAUDE_CONFIG_DIR") {
                Some(folder) => folder.join(".claude.json"),
                None => home()?.join(".claude.json"),
            }),
            (Self::Claude, Scope::Project) => project(".mcp.json"),
            (Self::Codex, Scope::User) => Ok(match variable("CODEX_HOME") {
                Some(folder) => folder.join("config.toml"),
                None => home()?.join(".codex/config.toml"),
            }),
            (Self::Codex, Scope::Project) => project(".codex/config.toml"),
            (Self::Cursor, Scope::User) => Ok(home()?.join(".cursor/mcp.json")),
            (Self::Cursor, Scope::Project) => project(".cursor/mcp.json"),
            (Self::Vscode, Scope::User) => Ok(config()?.join("Code/User/mcp.json")),
            (Self::Vscode, Scope::Project) => project(".vscode/mcp.json"),
            (Self::Gemini, Scope::User) => Ok(home()?.join(".gemini/settings.json")),
            (Self::Gemini, Scope::Project) => project(".gemini/settings.json"),
            (Self::Goose, _) => Ok(config()?.join("goose/config.yaml")),
            (Self::Opencode, Scope::User) => Ok(config()?.join("opencode/opencode.json")),
            (Self::Opencode, Scope::Project) => project("opencode.json"),
            (Self::Zed, Scope::User) => Ok(config()?.join("zed/settings.json")),
            (Self::Zed, Scope::Project) => project(".zed/settings.json"),
        }
    }

    /// The text of its file with the entry in it.
    pub(super) fn with_entry(self, text: &str, started: &Started) -> Result<String> {
        match self {
            Self::Codex => toml_text::set(text, &format!("mcp_servers.{NAME}"), &codex(started)),
            Self::Goose => yaml_text::set(text, "extensions", NAME, &goose(started)),
            _ => {
                let (key, entry) = self.json(started);
                jsonc::set(text, &[key, NAME], &entry)
            }
        }
    }

    /// The text of its file without it.
    pub(super) fn without_entry(self, text: &str) -> Result<String> {
        match self {
            Self::Codex => Ok(toml_text::remove(text, &format!("mcp_servers.{NAME}"))),
            Self::Goose => Ok(yaml_text::remove(text, "extensions", NAME)),
            _ => {
                let nobody = Started {
                    program: String::new(),
                    arguments: Vec::new(),
                };
                jsonc::remove(text, &[self.json(&nobody).0, NAME])
            }
        }
    }

    /// What its file starts now, as far as that can be read.
    pub(super) fn started_by(self, text: &str) -> Option<Started> {
        let entry = match self {
            Self::Codex => {
                let table: toml::Table = text.parse().ok()?;
                let entry = table.get("mcp_servers")?.get(NAME)?.clone();
                serde_json::to_value(entry).ok()?
            }
            // No YAML is read here.
            Self::Goose => return None,
            _ => {
                let nobody = Started {
                    program: String::new(),
                    arguments: Vec::new(),
                };
                jsonc::read(text).ok()?[self.json(&nobody).0][NAME].take()
            }
        };
        let words = |value: &Value| -> Option<Vec<String>> {
            let list = value.as_array()?.iter();
            list.map(|word| word.as_str().map(str::to_owned)).collect()
        };
        if let Some(mut command) = words(&entry["command"]).filter(|command| !command.is_empty()) {
            let program = command.remove(0);
            return Some(Started {
                program,
                arguments: command,
            });
        }
        Some(Started {
            program: entry["command"].as_str()?.to_owned(),
            arguments: words(&entry["args"]).unwrap_or_default(),
        })
    }

    /// The key that entries are below, and the entry, where it is JSON.
    fn json(self, started: &Started) -> (&'static str, Value) {
        let (program, arguments) = (&started.program, &started.arguments);
        match self {
            Self::Vscode => (
                "servers",
                json!({"type": "stdio", "command": program, "args": arguments}),
            ),
            Self::Opencode => {
                let command: Vec<&String> = std::iter::once(program).chain(arguments).collect();
                (
                    "mcp",
                    json!({"type": "local", "command": command, "enabled": true}),
                )
            }
            Self::Zed => (
                "context_servers",
                json!({"command": program, "args": arguments, "env": {}}),
            ),
            Self::Claude => (
                "mcpServers",
                json!({"type": "stdio", "command": program, "args": arguments}),
            ),
            // Ringfence judges and asks by itself.
            Self::Gemini => (
                "mcpServers",
                json!({"command": program, "args": arguments, "trust": true}),
            ),
            _ => ("mcpServers", json!({"command": program, "args": arguments})),
        }
    }

    /// Flags that the entry needs so that the workspace is the project: some start servers elsewhere.
    pub(super) fn workspace_flags(self) -> &'static [&'static str] {
        match self {
            Self::Cursor | Self::Vscode => &["--cwd", WORKSPACE],
            _ => &[],
        }
    }

    /// How its own shell is switched off, which would go past the fence.
    pub(super) fn own_shell(self) -> &'static str {
        match self {
            Self::Claude => "start it with `claude --disallowedTools Bash`",
            Self::Codex => "add `shell_tool = false` below `[features]` in the same file",
            Self::Cursor => {
                "switch off Run Command for the agent in Cursor's settings, or deny it by a hook"
            }
            Self::Vscode => {
                "switch off the terminal tool (runInTerminal) in the tool picker of the chat"
            }
            Self::Gemini => "add \"run_shell_command\" to `tools.exclude` in the same file",
            Self::Goose => "switch off the extension `developer` with `goose configure`",
            Self::Opencode => "add `\"tools\": {\"bash\": false}` to the same file",
            Self::Zed => "switch off `terminal` in the agent's profile",
        }
    }

    /// How it is kept from asking about each call by itself, where the entry does not do that.
    pub(super) fn own_questions(self) -> Option<&'static str> {
        match self {
            Self::Claude => Some("start it with `claude --allowedTools mcp__ringfence`"),
            _ => None,
        }
    }
}

/// What stands for the project's folder in the entries of editors.
pub(super) const WORKSPACE: &str = "${workspaceFolder}";

fn codex(started: &Started) -> String {
    let text = |text: &str| Value::String(text.to_owned()).to_string();
    let arguments: Vec<String> = started.arguments.iter().map(|word| text(word)).collect();
    format!(
        "command = {}\nargs = [{}]\n# Without this its tools miss the first turn.\nrequired = true\n\
         # Ringfence judges and asks by itself.\ndefault_tools_approval_mode = \"approve\"\n",
        text(&started.program),
        arguments.join(", ")
    )
}

fn goose(started: &Started) -> Vec<String> {
    let text = |text: &str| Value::String(text.to_owned()).to_string();
    let mut lines = vec![
        "enabled: true".to_owned(),
        "type: stdio".to_owned(),
        format!("name: {NAME}"),
        format!("cmd: {}", text(&started.program)),
        "args:".to_owned(),
    ];
    lines.extend(
        started
            .arguments
            .iter()
            .map(|word| format!("  - {}", text(word))),
    );
    lines.push("timeout: 600".to_owned());
    lines
}
