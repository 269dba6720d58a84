//! What tools of every day run: git, ssh, pagers, editors, searches, archives.

use super::{
    Passing::{Dropped, WithAll},
    Project::MayNotSet,
    Setting::Asked,
    VariableRow,
};

#[rustfmt::skip]
pub(super) const TABLE: &[VariableRow] = &[
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "git runs or reads what it names", names: "GIT_*" },
    VariableRow { setting: Asked, passing: WithAll, project: MayNotSet,
        reason: "it says whom git trusts, and by which ways it fetches", names: "GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_ALLOW_PROTOCOL GIT_PROTOCOL_FROM_USER GIT_CEILING_DIRECTORIES" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "another tool for versions runs or reads what it names", names: "
        GH_EDITOR GH_BROWSER GH_PAGER GH_CONFIG_DIR GLAB_CONFIG_DIR HGEDITOR HGMERGE HGRCPATH HG SVN_SSH SVN_EDITOR SVN_MERGE CVS_RSH CVSEDITOR BZR_EDITOR
        BZR_PLUGIN_PATH BZR_SSH P4EDITOR P4DIFF P4MERGE P4CONFIG P4ENVIRO JJ_EDITOR JJ_CONFIG DARCS_EDITOR DARCS_SSH TIG_EDITOR TIGRC_USER TIGRC_SYSTEM LG_CONFIG_FILE" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "a program is run to ask for a password, or to make a connection", names: "
        SSH_ASKPASS SSH_ASKPASS_REQUIRE SUDO_ASKPASS SSH_SK_PROVIDER SSH_SK_HELPER SSH_PKCS11_HELPER RSYNC_RSH RSYNC_CONNECT_PROG RSYNC_PARTIAL_DIR
        PINENTRY_USER_DATA SUDO_EDITOR SUDO_PROMPT SUDO_PS1 MOSH_SERVER LFTP_HOME LFTP_PASSWORD TORSOCKS_CONF_FILE PROXYCHAINS_CONF_FILE" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "it leads to a program outside the fence that does what it is asked", names: "
        SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO GNUPGHOME GNOME_KEYRING_CONTROL DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS DBUS_STARTER_ADDRESS
        NOTIFY_SOCKET WAYLAND_SOCKET XAUTHORITY SWAYSOCK I3SOCK HYPRLAND_INSTANCE_SIGNATURE KITTY_LISTEN_ON ALACRITTY_SOCKET WEZTERM_UNIX_SOCKET TMUX STY
        ZELLIJ_SESSION_NAME NVIM NVIM_LISTEN_ADDRESS EMACS_SERVER_FILE EMACS_SOCKET_NAME VSCODE_IPC_HOOK* VSCODE_GIT_* PULSE_SERVER" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "a pager or a viewer runs what it names", names: "
        MANPAGER MANOPT MANPATH MANROFFOPT MANROFFSEQ GROFF_BIN_PATH GROFF_TMAC_PATH GROFF_COMMAND_PREFIX GROFF_FONT_PATH SYSTEMD_PAGER SYSTEMD_LESS SYSTEMD_EDITOR BAT_PAGER
        BAT_CONFIG_PATH BAT_CONFIG_DIR BAT_OPTS DELTA_PAGER DELTA_FEATURES PSQL_PAGER AWS_PAGER MYSQL_PAGER PERLDOC_PAGER ACK_PAGER LESS LESSOPEN LESSCLOSE
        LESSKEY LESSKEYIN LESSKEY_CONTENT LESSKEY_SYSTEM LESSKEYIN_SYSTEM LESSEDIT LESSECHO LESSMETACHARS LESSMETAESCAPE LESSGLOBALTAGS LESSHISTFILE MORE
        MOST_EDITOR MOST_INITFILE DPKG_PAGER DPKG_FRONTEND TERMINAL" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "an editor or a browser is run, or runs what it says", names: "
        BROWSER ALTERNATE_EDITOR EXINIT VIMINIT GVIMINIT VIM VIMRUNTIME MYVIMRC NVIM_APPNAME NVIM_RPLUGIN_MANIFEST EMACSLOADPATH EMACSPATH EMACSDATA EMACSDOC
        KAKOUNE_CONFIG_DIR MICRO_CONFIG_HOME HELIX_RUNTIME NANORC CHROME_BIN CHROME_PATH PUPPETEER_EXECUTABLE_PATH" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "options are added to every use of a tool, some of which run programs", names: "
        RIPGREP_CONFIG_PATH GREP_OPTIONS ACK_OPTIONS ACKRC FZF_* TAR_OPTIONS TAR_LONGLINK ZIPOPT UNZIP UNZIPOPT ZIPINFO ZIPINFOOPT GZIP BZIP BZIP2 XZ_OPT XZ_DEFAULTS
        AWKPATH AWKLIBPATH PARALLEL PARALLEL_SHELL PARALLEL_HOME XARGS TIMEOUT_OPTIONS TREE_OPTIONS VALGRIND_OPTS VALGRIND_LIB STRACE_OPTS GDBHISTFILE
        CURL_HOME WGETRC SYSTEM_WGETRC LYNX_CFG ASAN_OPTIONS ASAN_SYMBOLIZER_PATH MSAN_SYMBOLIZER_PATH LLVM_SYMBOLIZER_PATH LLVM_PROFILE_FILE" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "it holds passwords, or names a file that does", names: "NETRC PGPASSFILE" },
    VariableRow { setting: Asked, passing: WithAll, project: MayNotSet,
        reason: "it says whom programs talk to; which proxy there is says the fence", names: "
        HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY RSYNC_PROXY NO_PROXY http_proxy https_proxy all_proxy ftp_proxy grpc_proxy no_proxy CURL_CA_BUNDLE REQUESTS_CA_BUNDLE" },
];
