//! Files that run by themselves when the user's next shell, program or session starts.
//!
//! Whatever exists of them is read-only inside. What does not exist costs a name in the user's
//! folder to be held ([`Hold::WhenAbsent`]), so that is done only for what every new terminal or
//! every git command reads; the rest is set aside when a run is over that made it
//! ([`Hold::WhenThere`]).

/// How a path is kept as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// It cannot be changed, and cannot be made while a run lives.
    WhenAbsent,
    /// It cannot be changed. One that a run makes is set aside at its end.
    WhenThere,
}

/// Files that are run for the same reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartUp {
    /// When and by whom they are run.
    pub reason: &'static str,
    /// How they are kept.
    pub hold: Hold,
    /// Relative to the home folder, or to a writable root.
    pub paths: &'static [&'static str],
}

use Hold::{WhenAbsent, WhenThere};

/// Below the home folder. They matter where a writable root is the home folder or holds it.
pub const START_UP_IN_HOME: &[StartUp] = &[
    StartUp {
        reason: "every new terminal reads it",
        hold: WhenAbsent,
        paths: &[
            ".bashrc",
            ".bash_profile",
            ".bash_login",
            ".profile",
            ".bash_aliases",
            ".zshenv",
            ".zprofile",
            ".zshrc",
            ".zlogin",
        ],
    },
    StartUp {
        reason: "every git command reads it",
        hold: WhenAbsent,
        paths: &[".gitconfig", ".config/git"],
    },
    StartUp {
        reason: "a shell reads it: at its start by way of another file, or at its end",
        hold: WhenThere,
        paths: &[
            ".bashrc.d",
            ".bash_logout",
            ".bash_completion",
            ".bash_functions",
            ".bash_it",
            ".oh-my-bash",
            ".blerc",
            ".inputrc",
            ".zlogout",
            ".zsh",
            ".zshrc.local",
            ".zshrc.d",
            ".zfunc",
            ".zcompdump",
            ".zimrc",
            ".zim",
            ".zinit",
            ".zplug",
            ".zpreztorc",
            ".zprezto",
            ".antigen",
            ".antidote",
            ".zsh_plugins.txt",
            ".zsh_plugins.zsh",
            ".oh-my-zsh",
            ".p10k.zsh",
            ".kshrc",
            ".mkshrc",
            ".cshrc",
            ".tcshrc",
            ".login",
            ".logout",
            ".shrc",
            ".config/fish",
            ".config/zsh",
            ".config/bash",
            ".config/nushell",
            ".config/xonsh",
            ".xonshrc",
            ".config/elvish",
            ".elvish",
            ".config/powershell",
            ".config/starship.toml",
            ".config/direnv",
            ".direnvrc",
            ".dircolors",
            ".lesskey",
            ".config/lesskey",
            ".fzf.bash",
            ".fzf.zsh",
            ".iterm2_shell_integration.bash",
            ".iterm2_shell_integration.zsh",
        ],
    },
    StartUp {
        reason: "it is run, or sets variables, when the user logs in",
        hold: WhenThere,
        paths: &[
            ".config/autostart",
            ".config/autostart-scripts",
            ".config/systemd",
            ".config/environment.d",
            ".config/plasma-workspace",
            ".config/lxsession",
            ".config/openbox",
            ".config/upstart",
            ".config/user-tmpfiles.d",
            ".pam_environment",
            ".environment",
            ".xprofile",
            ".xsession",
            ".xsessionrc",
            ".xinitrc",
            ".xserverrc",
            ".Xresources",
            ".Xdefaults",
            ".gnomerc",
            ".dmrc",
            ".i3",
            ".config/i3",
            ".config/i3status",
            ".config/sway",
            ".config/hypr",
            ".config/waybar",
            ".config/polybar",
            ".config/bspwm",
            ".config/sxhkd",
            ".config/awesome",
            ".config/qtile",
            ".config/river",
            ".config/niri",
            ".config/xfce4",
            ".xmonad",
            ".config/xmonad",
            ".local/share/applications",
            ".local/share/dbus-1",
            ".local/share/systemd",
            ".local/share/kservices5",
            ".local/share/plasma",
            ".local/share/gnome-shell",
            ".local/share/nautilus",
            ".config/mimeapps.list",
            ".config/containers",
            ".config/crontab",
            ".forward",
            ".procmailrc",
            ".rhosts",
            ".shosts",
            "Library/LaunchAgents",
        ],
    },
    StartUp {
        reason: "a terminal or its multiplexer starts what it says",
        hold: WhenThere,
        paths: &[
            ".tmux.conf",
            ".tmux",
            ".config/tmux",
            ".screenrc",
            ".byobu",
            ".config/zellij",
            ".config/kitty",
            ".config/alacritty",
            ".alacritty.toml",
            ".alacritty.yml",
            ".config/wezterm",
            ".wezterm.lua",
            ".config/ghostty",
            ".config/foot",
            ".config/terminator",
        ],
    },
    StartUp {
        reason: "programs of the user are found here by their names",
        hold: WhenThere,
        paths: &[
            "bin",
            ".local/bin",
            ".cargo/bin",
            ".cargo/env",
            ".rustup",
            "go/bin",
            ".nvm",
            ".fnm",
            ".volta",
            ".bun/bin",
            ".deno/bin",
            ".local/share/pnpm",
            ".npm-global",
            ".npm-packages",
            ".yarn/bin",
            ".pyenv",
            ".rbenv",
            ".rvm",
            ".rvmrc",
            ".nodenv",
            ".jenv",
            ".sdkman",
            ".asdf",
            ".asdfrc",
            ".tool-versions",
            ".config/mise",
            ".local/share/mise",
            ".config/asdf",
            ".linuxbrew",
            ".nix-profile",
            ".config/nix",
            ".config/nixpkgs",
            ".config/home-manager",
            ".local/share/flatpak",
            ".krew",
            ".ghcup",
            ".cabal/bin",
            ".opam",
            ".composer/vendor/bin",
            ".dotnet/tools",
            ".gem",
            ".local/share/gem",
        ],
    },
    StartUp {
        reason: "an interpreter, a debugger or a build tool runs what it says",
        hold: WhenThere,
        paths: &[
            ".local/lib",
            ".pythonrc",
            ".pythonrc.py",
            ".pythonstartup",
            ".pdbrc",
            ".pdbrc.py",
            ".ipython",
            ".jupyter",
            ".config/pip",
            ".pip",
            ".pydistutils.cfg",
            ".config/matplotlib",
            ".irbrc",
            ".pryrc",
            ".gemrc",
            ".bundle",
            ".Rprofile",
            ".Renviron",
            ".R",
            ".julia/config",
            ".perldb",
            ".replyrc",
            ".gdbinit",
            ".config/gdb",
            ".lldbinit",
            ".gdbearlyinit",
            ".cargo/config",
            ".cargo/config.toml",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".pnpmrc",
            ".config/pnpm",
            ".bunfig.toml",
            ".gradle/init.gradle",
            ".gradle/init.d",
            ".gradle/gradle.properties",
            ".m2/settings.xml",
            ".mavenrc",
            ".antrc",
            ".sbt",
            ".ivy2",
            ".ghci",
            ".ghc",
            ".cabal/config",
            ".stack/config.yaml",
            ".sqliterc",
            ".psqlrc",
            ".my.cnf",
            ".octaverc",
            ".lua",
            ".terraformrc",
            ".ansible.cfg",
            ".ansible",
            ".aliases",
            ".curlrc",
            ".config/curlrc",
            ".wgetrc",
            ".mailcap",
            ".lynxrc",
            ".config/htop",
            ".config/ranger",
            ".config/lf",
            ".config/yazi",
            ".config/nnn",
            ".mc",
            ".config/mc",
            ".config/mpv",
            ".config/bat",
            ".config/lazygit",
            ".config/tig",
            ".tigrc",
            ".hgrc",
            ".config/hg",
            ".subversion",
            ".config/jj",
            ".jjconfig.toml",
        ],
    },
    StartUp {
        reason: "an editor runs what it says",
        hold: WhenThere,
        paths: &[
            ".vimrc",
            ".gvimrc",
            ".exrc",
            ".vim",
            ".config/nvim",
            ".local/share/nvim",
            ".config/vim",
            ".emacs",
            ".emacs.el",
            ".emacs.d",
            ".config/emacs",
            ".doom.d",
            ".config/doom",
            ".spacemacs",
            ".spacemacs.d",
            ".nanorc",
            ".config/nano",
            ".config/micro",
            ".config/kak",
            ".config/helix",
            ".config/zed",
            ".config/Code/User",
            ".config/VSCodium/User",
            ".config/Cursor/User",
            ".config/Windsurf/User",
            ".vscode/extensions",
            ".vscode-server",
            ".vscode-oss",
            ".cursor-server",
            ".config/JetBrains",
            ".ideavimrc",
            ".config/sublime-text",
            ".config/sublime-text-3",
            ".config/geany",
            ".atom",
        ],
    },
];

/// At the top of every writable root: it may be somebody's home folder, or the folder that theirs
/// links to.
pub const START_UP_IN_ROOTS: &[StartUp] = &[
    StartUp {
        reason: "a shell reads it where this folder is somebody's home",
        hold: WhenThere,
        paths: &[
            ".bashrc",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".bash_aliases",
            ".profile",
            ".inputrc",
            ".zshenv",
            ".zprofile",
            ".zshrc",
            ".zlogin",
            ".zlogout",
            ".kshrc",
            ".cshrc",
            ".tcshrc",
            ".login",
            ".logout",
            ".xprofile",
            ".xsession",
            ".xsessionrc",
            ".xinitrc",
            ".pam_environment",
            ".gitconfig",
        ],
    },
    StartUp {
        reason: "an editor or another agent that opens the folder runs what it says",
        hold: WhenThere,
        paths: &[
            ".zed",
            ".helix",
            ".exrc",
            ".nvimrc",
            ".nvim.lua",
            ".windsurf",
            ".kiro",
            ".opencode",
            ".continue",
            ".roo",
            ".aider.conf.yml",
        ],
    },
    StartUp {
        reason: "a debugger that is started in the folder runs it",
        hold: WhenThere,
        paths: &[".gdbinit", ".lldbinit", ".pdbrc"],
    },
];

/// The paths of a table that are kept in this way.
pub fn start_up_paths(table: &[StartUp], hold: Hold) -> impl Iterator<Item = &'static str> {
    let groups = table.iter().filter(move |group| group.hold == hold);
    groups.flat_map(|group| group.paths.iter().copied())
}

/// Why a path is in one of the tables, relative to the home folder or to a writable root.
pub fn start_up_reason(path: &str) -> Option<&'static str> {
    let mut groups = START_UP_IN_HOME.iter().chain(START_UP_IN_ROOTS);
    let group = groups.find(|group| group.paths.contains(&path))?;
    Some(group.reason)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_path_is_there_once_and_tidy() {
        for table in [START_UP_IN_HOME, START_UP_IN_ROOTS] {
            let all: Vec<&str> = [WhenAbsent, WhenThere]
                .into_iter()
                .flat_map(|hold| start_up_paths(table, hold))
                .collect();
            let distinct: BTreeSet<&str> = all.iter().copied().collect();
            assert_eq!(all.len(), distinct.len());
            for path in all {
                assert!(!path.starts_with('/') && !path.ends_with('/') && !path.contains(".."));
            }
        }
    }

    #[test]
    fn few_names_are_held() {
        assert!(start_up_paths(START_UP_IN_HOME, WhenAbsent).count() <= 12);
        assert_eq!(start_up_paths(START_UP_IN_ROOTS, WhenAbsent).count(), 0);
    }
}
