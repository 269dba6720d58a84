//! Which tools a client sees.

/// A choice of tools. Fewer are easier for a model to choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// What an agent works with: a shell, its tasks, programs that are typed to, patches, files and scripts.
    #[default]
    Default,
    /// Commands in every form.
    Shell,
    /// Code and scripts.
    Code,
    /// Everything that there is.
    All,
}

impl Profile {
    /// Every profile, by the name that it is chosen by.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("default", Self::Default),
        ("shell", Self::Shell),
        ("code", Self::Code),
        ("all", Self::All),
    ];

    /// Whether it has a tool of this name.
    pub fn has(self, tool: &str) -> bool {
        let tools: &[&str] = match self {
            Self::Default => &[
                "bash",
                "bash_task_output",
                "bash_task_stop",
                "exec_command",
                "write_stdin",
                "apply_patch",
                "file_search",
                "run_script",
            ],
            Self::Shell => &[
                "shell",
                "shell_command",
                "exec_command",
                "write_stdin",
                "bash",
                "bash_task_output",
                "bash_task_stop",
                "bash_task_list",
            ],
            Self::Code => &["run_code", "run_script"],
            Self::All => return true,
        };
        tools.contains(&tool)
    }
}
