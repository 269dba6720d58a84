//! What programs need to work as their user expects, and what is known to be harmless.

use super::{
    Passing::{Always, WithAll},
    Project::{MayNotSet, MaySet},
    Setting::{Asked, Harmless, Refused, Unknown},
    VariableRow,
};

#[rustfmt::skip]
pub(super) const TABLE: &[VariableRow] = &[
    VariableRow { setting: Asked, passing: Always, project: MayNotSet,
        reason: "it says where programs, or the user's settings, are", names: "PATH HOME SHELL EDITOR VISUAL PAGER CARGO_HOME XDG_CONFIG_HOME" },
    VariableRow { setting: Unknown, passing: Always, project: MayNotSet,
        reason: "it says where a toolchain is", names: "RUSTUP_HOME GOPATH GOROOT JAVA_HOME NVM_DIR PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX XDG_DATA_HOME" },
    VariableRow { setting: Unknown, passing: Always, project: MayNotSet,
        reason: "it says whom to trust on the network", names: "SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS" },
    VariableRow { setting: Unknown, passing: Always, project: MaySet,
        reason: "who and where the user is, and where files may be put", names: "USER LOGNAME HOSTNAME TMPDIR XDG_CACHE_HOME XDG_STATE_HOME" },
    VariableRow { setting: Harmless, passing: Always, project: MaySet,
        reason: "how something is shown", names: "LANG LANGUAGE LC_* TZ TERM COLORTERM NO_COLOR FORCE_COLOR CI" },
    VariableRow { setting: Harmless, passing: WithAll, project: MaySet,
        reason: "how something is shown, or how much of the machine is used", names: "
        COLUMNS LINES CLICOLOR CLICOLOR_FORCE VERBOSE QUIET RUST_LOG RUST_BACKTRACE BLOCKSIZE QUOTING_STYLE PGTZ LOG_LEVEL LOGLEVEL DEBUG HEADLESS
        CARGO_TERM_COLOR CARGO_INCREMENTAL CARGO_NET_OFFLINE CARGO_BUILD_JOBS RUST_TEST_THREADS RUST_MIN_STACK GOMAXPROCS OMP_NUM_THREADS
        PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 PYTHONHASHSEED DEBIAN_FRONTEND SOURCE_DATE_EPOCH LESSCHARSET LESSSECURE
        GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS PYTEST_DISABLE_PLUGIN_AUTOLOAD TSC_COMPILE_ON_ERROR NEXT_TELEMETRY_DISABLED DO_NOT_TRACK WATCH HGPLAIN
        PIP_NO_INPUT PIP_DISABLE_PIP_VERSION_CHECK NINJA_STATUS npm_config_loglevel npm_config_fund npm_config_audit npm_config_progress
        npm_config_update_notifier npm_config_color npm_config_offline" },
    VariableRow { setting: Harmless, passing: WithAll, project: MaySet,
        reason: "what a project's own code reads", names: "
        NODE_ENV PORT HOST TEST_ENV APP_ENV RAILS_ENV RACK_ENV FLASK_ENV DJANGO_DEBUG REPLY OPTIND TMOUT" },
    VariableRow { setting: Unknown, passing: WithAll, project: MaySet,
        reason: "where the shell is, and was", names: "PWD OLDPWD" },
    VariableRow { setting: Unknown, passing: WithAll, project: MaySet,
        reason: "who made a commit, and when", names: "GIT_AUTHOR_* GIT_COMMITTER_*" },
    VariableRow { setting: Refused, passing: WithAll, project: MayNotSet,
        reason: "it says where a shell keeps what was typed", names: "HIST* SAVEHIST fish_history" },
    VariableRow { setting: Asked, passing: WithAll, project: MayNotSet,
        reason: "it says how a fence inside this one behaves", names: "RINGFENCE*" },
];
