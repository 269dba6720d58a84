//! What runs by itself when the user's next shell, program or session starts, below the home folder.
//! It matters to the fence where a writable root is the home folder or holds it.

use super::{
    Base::Home,
    PathRow,
    Reading::Free,
    Writing::{Asked, Protected, Watched},
};

const START_UP: &str = "a start-up file";

#[rustfmt::skip]
pub(super) const TABLE: &[PathRow] = &[
    PathRow { base: Home, read: Free, write: Protected, what: START_UP,
        reason: "every new terminal reads it", paths: &[
        ".bashrc", ".bash_profile", ".bash_login", ".profile", ".bash_aliases", ".zshenv", ".zprofile", ".zshrc", ".zlogin",
    ] },
    PathRow { base: Home, read: Free, write: Protected, what: START_UP,
        reason: "every git command reads it", paths: &[".gitconfig", ".config/git"] },
    PathRow { base: Home, read: Free, write: Watched, what: START_UP,
        reason: "a shell reads it: at its start by way of another file, or at its end", paths: &[
        ".bashrc.d", ".bash_logout", ".bash_completion", ".bash_functions", ".bash_it", ".oh-my-bash", ".blerc", ".inputrc", ".zlogout", ".zsh", ".zshrc.local",
        ".zshrc.d", ".zfunc", ".zcompdump", ".zimrc", ".zim", ".zinit", ".zplug", ".zpreztorc", ".zprezto", ".antigen", ".antidote", ".zsh_plugins.txt",
        ".zsh_plugins.zsh", ".oh-my-zsh", ".p10k.zsh", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".shrc", ".aliases", ".config/fish", ".config/zsh",
        ".config/bash", ".config/nushell", ".config/xonsh", ".xonshrc", ".config/elvish", ".elvish", ".config/powershell", ".config/starship.toml",
        ".config/direnv", ".direnvrc", ".dircolors", ".lesskey", ".config/lesskey", ".fzf.bash", ".fzf.zsh", ".iterm2_shell_integration.bash",
        ".iterm2_shell_integration.zsh", ".local/share/bash-completion", ".local/share/fish/vendor_conf.d", ".local/share/fish/vendor_functions.d",
    ] },
    PathRow { base: Home, read: Free, write: Watched, what: START_UP,
        reason: "it is run, or sets variables, when the user logs in", paths: &[
        ".config/autostart", ".config/autostart-scripts", ".config/systemd", ".config/environment.d", ".config/plasma-workspace", ".config/lxsession",
        ".config/openbox", ".config/upstart", ".config/user-tmpfiles.d", ".pam_environment", ".environment", ".xprofile", ".xsession", ".xsessionrc",
        ".xinitrc", ".xserverrc", ".Xclients", ".Xresources", ".Xdefaults", ".xsettingsd", ".xbindkeysrc", ".gnomerc", ".dmrc", ".i3", ".config/i3",
        ".config/i3status", ".config/sway", ".config/hypr", ".config/waybar", ".config/polybar", ".config/rofi", ".config/dunst", ".config/bspwm",
        ".config/sxhkd", ".config/awesome", ".config/qtile", ".config/river", ".config/niri", ".config/xfce4", ".xmonad", ".config/xmonad",
        ".local/share/applications", ".local/share/dbus-1", ".local/share/systemd", ".local/share/kservices5", ".local/share/plasma",
        ".local/share/gnome-shell", ".local/share/nautilus", ".config/mimeapps.list", ".config/containers", ".config/crontab", ".forward", ".procmailrc",
        ".rhosts", ".shosts", "Library/LaunchAgents",
    ] },
    PathRow { base: Home, read: Free, write: Watched, what: START_UP,
        reason: "a terminal or its multiplexer starts what it says", paths: &[
        ".tmux.conf", ".tmux", ".config/tmux", ".screenrc", ".byobu", ".config/zellij", ".config/kitty", ".config/alacritty", ".alacritty.toml", ".alacritty.yml",
        ".config/wezterm", ".wezterm.lua", ".config/ghostty", ".config/foot", ".config/terminator",
    ] },
    PathRow { base: Home, read: Free, write: Watched, what: "programs of the user",
        reason: "programs of the user are found here by their names", paths: &[
        "bin", ".local/bin", ".cargo/bin", ".cargo/env", ".rustup", "go/bin", ".nvm", ".fnm", ".volta", ".bun/bin", ".deno/bin", ".local/share/pnpm", ".npm-global",
        ".npm-packages", ".yarn/bin", ".pyenv", ".rbenv", ".rvm", ".rvmrc", ".nodenv", ".jenv", ".sdkman", ".asdf", ".asdfrc", ".tool-versions", ".config/mise",
        ".local/share/mise", ".config/asdf", ".linuxbrew", ".nix-profile", ".config/nix", ".config/nixpkgs", ".config/home-manager", ".local/share/flatpak",
        ".krew", ".ghcup", ".cabal/bin", ".opam", ".composer/vendor/bin", ".dotnet/tools", ".gem", ".local/share/gem", ".fly/bin", ".local/share/uv",
        ".local/pipx", ".local/share/pipx", ".docker/cli-plugins", ".terraform.d/plugins", ".local/share/helm", ".juliaup", ".elan", ".luarocks", ".proto",
    ] },
    PathRow { base: Home, read: Free, write: Watched, what: START_UP,
        reason: "an interpreter, a debugger or a build tool runs what it says", paths: &[
        ".local/lib", ".pythonrc", ".pythonrc.py", ".pythonstartup", ".pdbrc", ".pdbrc.py", ".ipython", ".jupyter", ".pydistutils.cfg", ".config/matplotlib",
        ".irbrc", ".pryrc", ".gemrc", ".Rprofile", ".Renviron", ".R", ".julia/config", ".perldb", ".replyrc", ".gdbinit", ".config/gdb", ".lldbinit",
        ".gdbearlyinit", ".cargo/config", ".cargo/config.toml", ".yarnrc", ".pnpmrc", ".config/pnpm", ".gradle/init.gradle", ".gradle/init.d", ".mavenrc",
        ".m2/extensions.xml", ".antrc", ".ant", ".sbt", ".ivy2", ".ghci", ".ghc", ".cabal/config", ".config/cabal", ".stack/config.yaml", ".sqliterc", ".psqlrc",
        ".mongorc.js", ".mongoshrc.js", ".redisclirc", ".octaverc", ".lua", ".ansible.cfg", ".ansible", ".mailcap", ".lynxrc", ".config/htop", ".config/ranger",
        ".config/lf", ".config/yazi", ".config/nnn", ".mc", ".config/mc", ".config/mpv", ".config/bat", ".config/ripgrep", ".ripgreprc", ".ackrc",
        ".config/lazygit", ".config/tig", ".tigrc", ".config/hg", ".subversion", ".config/jj", ".jjconfig.toml", ".config/go", ".config/uv", ".bazelrc", ".condarc.d",
        ".ccache/ccache.conf", ".config/ccache", ".valgrindrc", ".iex.exs", ".erlang", ".guile", ".sbclrc", ".clisprc", ".tclshrc", ".wishrc", ".phprc", ".nodemon.json",
    ] },
    PathRow { base: Home, read: Free, write: Watched, what: START_UP,
        reason: "an editor runs what it says", paths: &[
        ".vimrc", ".gvimrc", ".exrc", ".vim", ".config/nvim", ".local/share/nvim", ".config/vim", ".emacs", ".emacs.el", ".emacs.d", ".config/emacs", ".doom.d",
        ".config/doom", ".spacemacs", ".spacemacs.d", ".nanorc", ".config/nano", ".config/micro", ".config/kak", ".config/helix", ".config/zed", ".config/Code/User",
        ".config/VSCodium/User", ".config/Cursor/User", ".config/Windsurf/User", ".vscode/extensions", ".vscode-server", ".vscode-oss", ".cursor-server",
        ".config/JetBrains", ".ideavimrc", ".config/sublime-text", ".config/sublime-text-3", ".config/geany", ".atom",
    ] },
    PathRow { base: Home, read: Free, write: Asked, what: START_UP,
        reason: "agents and editors read it in a home that is a project as well", paths: &[".mcp.json"] },
];
