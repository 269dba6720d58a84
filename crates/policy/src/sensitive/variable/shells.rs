//! What shells run or take for granted when they start, and what names mean to them.

use super::{Passing::Dropped, Project::MayNotSet, Setting::Asked, VariableRow};

#[rustfmt::skip]
pub(super) const TABLE: &[VariableRow] = &[
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "a shell runs what it names when it starts", names: "
        ENV BASH_ENV BASH_FUNC_* BASH_ALIASES BASH_CMDS BASH_LOADABLES_PATH ZDOTDIR INPUTRC STARSHIP_CONFIG DIRENV_CONFIG DIRENV_BASH ZSH_CUSTOM
        fish_function_path fish_complete_path fish_user_paths PSModulePath ComSpec COMSPEC" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "a shell runs or expands what it says", names: "PROMPT_COMMAND PS0 PS1 PS2 PS4 PROMPT RPROMPT MAILPATH FCEDIT NULLCMD READNULLCMD" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "it changes how a shell reads what follows", names: "
        IFS BASH_COMPAT BASH_XTRACEFD POSIXLY_CORRECT SHELLOPTS BASHOPTS CDPATH FPATH EXECIGNORE MODULE_PATH" },
];
