//! What runs code for the user later, at the top of every writable root. A root may also be somebody's
//! home folder, or the folder that theirs links to.
//!
//! The judge asks about these names at any depth of the workspace.

use super::{
    Base::Root,
    OWN, PathRow,
    Reading::Free,
    Writing::{Asked, Protected, ProtectedWhenThere, Watched},
};

const CONFIGURATION: &str = "configuration that runs code";
const START_UP: &str = "a start-up file";

#[rustfmt::skip]
pub(super) const TABLE: &[PathRow] = &[
    PathRow { base: Root, read: Free, write: Protected, what: "what git runs",
        reason: "hooks and commands that git runs for the user", paths: &[".git/hooks", ".git/config"] },
    PathRow { base: Root, read: Free, write: ProtectedWhenThere, what: OWN,
        reason: "a project's configuration and rules of Ringfence itself", paths: &[".ringfence"] },
    PathRow { base: Root, read: Free, write: Protected, what: CONFIGURATION,
        reason: "an editor that opens the folder runs tasks from it", paths: &[".vscode", ".idea"] },
    PathRow { base: Root, read: Free, write: Protected, what: CONFIGURATION,
        reason: "another agent's settings, with hooks, servers and instructions", paths: &[".claude", ".codex", ".cursor", ".gemini", ".mcp.json"] },
    PathRow { base: Root, read: Free, write: Watched, what: START_UP,
        reason: "a shell reads it where this folder is somebody's home", paths: &[
        ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc", ".zshenv", ".zprofile", ".zshrc", ".zlogin", ".zlogout",
        ".kshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".xprofile", ".xsession", ".xsessionrc", ".xinitrc", ".pam_environment", ".gitconfig",
    ] },
    PathRow { base: Root, read: Free, write: Watched, what: CONFIGURATION,
        reason: "a shell's extension runs it when the folder is entered", paths: &[
        ".envrc", ".autoenv", ".autoenv.zsh", ".autoenv_leave.zsh", ".rvmrc", ".mise.toml", "mise.toml", ".mise", ".loadenv",
    ] },
    PathRow { base: Root, read: Free, write: Watched, what: CONFIGURATION,
        reason: "git's hooks run what is in it", paths: &[".husky", ".lefthook"] },
    PathRow { base: Root, read: Free, write: Watched, what: CONFIGURATION,
        reason: "an editor that opens the folder builds and starts a container by it, with commands on this machine", paths: &[
        ".devcontainer", ".devcontainer.json", ".gitpod.yml", ".idx",
    ] },
    PathRow { base: Root, read: Free, write: Watched, what: CONFIGURATION,
        reason: "an editor or another agent that opens the folder runs what it says", paths: &[
        ".zed", ".helix", ".exrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".fleet", ".nova", ".theia", ".windsurf", ".kiro", ".opencode", "opencode.json", "opencode.jsonc",
        ".continue", ".roo", ".qwen", ".goose", ".amp", ".crush.json", "crush.json", ".aider.conf.yml",
    ] },
    PathRow { base: Root, read: Free, write: Watched, what: START_UP,
        reason: "a debugger that is started in the folder runs it", paths: &[".gdbinit", ".lldbinit", ".pdbrc"] },
    PathRow { base: Root, read: Free, write: Watched, what: START_UP,
        reason: "an interpreter that is started in the folder runs it", paths: &[
        ".Rprofile", ".Renviron", ".irbrc", ".pryrc", ".ghci", ".octaverc", ".iex.exs", ".perldb",
    ] },
    PathRow { base: Root, read: Free, write: Asked, what: CONFIGURATION,
        reason: "it says what a tool runs at its next use, and is part of the work", paths: &[
        ".gitmodules", ".gitattributes", ".pre-commit-config.yaml", ".ripgreprc", ".dir-locals.el", ".githooks", ".git-hooks", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pypirc",
        ".netrc", ".curlrc", ".wgetrc", ".RData", ".tmux.conf", ".screenrc", ".vimrc", ".gvimrc", ".emacs", ".lesskey", ".pythonrc",
    ] },
];
