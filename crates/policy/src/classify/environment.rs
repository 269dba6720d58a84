//! What it means to set an environment variable.

use super::{Class, Findings};
use crate::facts::Assignment;

/// Variables that make programs load or run something else.
const LOADERS: &[&str] = &[
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
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
    "PYTHONPATH",
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
    "POSIXLY_CORRECT",
    "REPLY",
    "OPTIND",
];

/// Words in a name that hint at an option, a command or a path that a program will use.
const HINTS: &[&str] = &[
    "PAGER", "EDITOR", "COMMAND", "_CMD", "WRAPPER", "PATH", "OPTIONS", "OPTS", "FLAGS", "_CONFIG",
    "SHELL", "PLUGIN", "PRELOAD", "LAUNCHER", "RUNNER", "EXEC", "HOOK", "STARTUP", "INIT",
];

/// Judges a variable that gets a value.
pub(super) fn judge(assignment: &Assignment, findings: &mut Findings) {
    let name = assignment.name.as_str();
    let text = format!("{name}={}", assignment.value.text);
    if name.starts_with("HIST") || name == "SAVEHIST" || name == "fish_history" {
        return findings.add(
            Class::Dangerous,
            &text,
            "it tampers with the shell's history",
        );
    }
    if HARMLESS.contains(&name) || name.starts_with("LC_") {
        return;
    }
    let loads = LOADERS.contains(&name)
        || LOADER_FAMILIES
            .iter()
            .any(|family| name.starts_with(family));
    if loads {
        findings.add(
            Class::Suspicious,
            &text,
            format!("{name} makes programs load or run something else"),
        );
    } else if HINTS
        .iter()
        .any(|hint| name.to_ascii_uppercase().contains(hint))
    {
        findings.add(
            Class::Unknown,
            &text,
            format!("{name} may make a program run something else"),
        );
    }
}
