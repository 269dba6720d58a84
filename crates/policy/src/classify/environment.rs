//! What it means to set a variable: for the shell itself, or for the programs that it starts.
//!
//! The shell gives a meaning to some names. A program may give one to any name, so that only those
//! that are known to be harmless are harmless in front of one.

use super::{Class, Findings, path::spread};
use crate::{
    facts::{Assignment, Directory, Word},
    ground::Ground,
};

/// Who sees a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The shell alone.
    Shell,
    /// Programs as well.
    Programs,
}

/// What a variable is judged with.
pub(super) struct Setting<'s> {
    pub(super) seen: Seen,
    /// Whether a part of the text is read by Zsh, which has names of its own.
    pub(super) zsh: bool,
    pub(super) directory: &'s Directory,
    pub(super) ground: &'s Ground,
}

/// Variables that make programs load or run something else.
const LOADERS: &[&str] = &[
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "BASH_ALIASES",
    "BASH_CMDS",
    "BASH_COMPAT",
    "BASH_LOADABLES_PATH",
    "BASH_XTRACEFD",
    "POSIXLY_CORRECT",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PS0",
    "PROMPT_COMMAND",
    "ZDOTDIR",
    "CDPATH",
    "PAGER",
    "MANPAGER",
    "GIT_PAGER",
    "GH_PAGER",
    "SYSTEMD_PAGER",
    "BAT_PAGER",
    "PSQL_PAGER",
    "AWS_PAGER",
    "DELTA_PAGER",
    "LESS",
    "LESSOPEN",
    "LESSCLOSE",
    "LESSKEY",
    "LESSKEYIN",
    "LESSEDIT",
    "MORE",
    "MANOPT",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "SHELL",
    "RIPGREP_CONFIG_PATH",
    "TAR_OPTIONS",
    "ZIPOPT",
    "UNZIP",
    "GREP_OPTIONS",
    "FZF_DEFAULT_COMMAND",
    "FZF_DEFAULT_OPTS",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "PYTHONBREAKPOINT",
    "PYTHONINSPECT",
    "PYTHONWARNINGS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "GRADLE_OPTS",
    "MAVEN_OPTS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC",
    "RUSTDOC",
    "CC",
    "CXX",
    "LD",
    "AR",
    "CARGO_HOME",
    "CARGO_BUILD_RUSTC",
    "MAKEFLAGS",
    "GOFLAGS",
    "DOCKER_HOST",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SSH_AUTH_SOCK",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "HOME",
    "INPUTRC",
    "TERMINFO",
    "TERMCAP",
    "HOSTALIASES",
    "LUA_INIT",
    "LUA_PATH",
    "LUA_CPATH",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "R_PROFILE",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "MALLOC_TRACE",
    "OPENSSL_CONF",
    "CURL_HOME",
    "WGETRC",
    "EXINIT",
    "VIMINIT",
    "VIM",
    "NETRC",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "npm_config_script_shell",
    "npm_config_userconfig",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
];

/// Beginnings of the names of such variables.
const LOADER_FAMILIES: &[&str] = &[
    "LD_",
    "DYLD_",
    "GIT_",
    "BASH_FUNC_",
    "RINGFENCE",
    "npm_config_",
    "NPM_CONFIG_",
    "_RLD",
    "GLIBC_TUNABLES",
    "PYTHONPYCACHE",
    "CORECLR_",
    "DOTNET_STARTUP",
];

/// Variables that only change how something is shown, or what a project's own code reads.
const HARMLESS: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "CI",
    "DEBUG",
    "VERBOSE",
    "QUIET",
    "RUST_LOG",
    "RUST_BACKTRACE",
    "NODE_ENV",
    "PORT",
    "HOST",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PYTHONHASHSEED",
    "CARGO_TERM_COLOR",
    "CARGO_INCREMENTAL",
    "DEBIAN_FRONTEND",
    "BLOCKSIZE",
    "QUOTING_STYLE",
    "REPLY",
    "OPTIND",
    "TMOUT",
    "SOURCE_DATE_EPOCH",
    "PGTZ",
    "TEST_ENV",
    "APP_ENV",
    "RAILS_ENV",
    "RACK_ENV",
    "FLASK_ENV",
    "DJANGO_DEBUG",
    "LOG_LEVEL",
    "LOGLEVEL",
    "RUST_TEST_THREADS",
    "RUST_MIN_STACK",
    "CARGO_NET_OFFLINE",
    "GOMAXPROCS",
    "OMP_NUM_THREADS",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
    "TSC_COMPILE_ON_ERROR",
    "NEXT_TELEMETRY_DISABLED",
    "DO_NOT_TRACK",
    "HEADLESS",
    "WATCH",
];

/// Parameters by which Zsh is told what names mean and what to run.
const ZSH_MEANINGS: &[&str] = &[
    "functions",
    "aliases",
    "galiases",
    "saliases",
    "commands",
    "builtins",
    "options",
    "parameters",
    "modules",
    "path",
    "fpath",
    "cdpath",
    "module_path",
    "FPATH",
    "MODULE_PATH",
    "NULLCMD",
    "READNULLCMD",
    "chpwd_functions",
    "precmd_functions",
    "preexec_functions",
    "periodic_functions",
    "zshexit_functions",
    "zshaddhistory_functions",
    "nameddirs",
    "userdirs",
    "dirstack",
    "prompt",
    "PROMPT",
    "RPROMPT",
    "TIMEFMT",
];

/// Judges a variable that gets a value.
pub(super) fn judge(assignment: &Assignment, setting: &Setting<'_>, findings: &mut Findings) {
    let name = assignment.name.as_str();
    let text = format!("{name}={}", assignment.value.text);
    if name.starts_with("HIST") || name == "SAVEHIST" || name == "fish_history" {
        return findings.add(
            Class::Dangerous,
            &text,
            "it tampers with the shell's history",
        );
    }
    let known = HARMLESS.contains(&name) || name.starts_with("LC_");
    let loads = LOADERS.contains(&name)
        || LOADER_FAMILIES
            .iter()
            .any(|family| name.starts_with(family));
    let steers_zsh = setting.zsh && (ZSH_MEANINGS.contains(&name) || name.starts_with("dis_"));
    if (loads && !known) || steers_zsh {
        return findings.add(
            Class::Suspicious,
            &text,
            format!("{name} makes programs load or run something else"),
        );
    }
    if name == "PYTHONPATH" {
        return modules(assignment, setting, &text, findings);
    }
    let harmless = known && is_plain(&assignment.value);
    if setting.seen == Seen::Programs && !harmless {
        findings.add(
            Class::Unknown,
            &text,
            format!("what {name} makes a program do is not known"),
        );
    }
}

/// A value that names no file and no command.
fn is_plain(value: &Word) -> bool {
    value.literal().is_some_and(|value| {
        let letter = |c: char| c.is_ascii_alphanumeric() || "_.,:=@%+*/-".contains(c);
        value.chars().all(letter) && !value.starts_with(['/', ':']) && !value.contains("..")
    })
}

/// Modules of the workspace are what its own programs load anyway.
fn modules(assignment: &Assignment, setting: &Setting<'_>, text: &str, findings: &mut Findings) {
    let inside = assignment.value.literal().is_some_and(|folders| {
        folders.split(':').all(|folder| {
            let place = spread(&Word::of(folder), setting.directory, setting.ground);
            place.is_in(&setting.ground.workspace)
        })
    });
    if inside {
        let why = "python loads modules of the workspace";
        return findings.add(Class::Safe, text, why);
    }
    findings.add(
        Class::Suspicious,
        text,
        "PYTHONPATH makes programs load or run something else",
    );
}
