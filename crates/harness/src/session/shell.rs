//! The user's shell.

use std::path::{Path, PathBuf};

use ringfence_confine::account;
use ringfence_policy::ShellKind;
use ringfence_policy::command_line::Shell;
use thiserror::Error;

/// Why a shell could not be found.
#[derive(Debug, Error)]
pub enum ShellError {
    /// The configured one is not there, or not a shell.
    #[error("`shell.path` is {}, which is not a shell that is known here; use one of bash, zsh, sh, pwsh", .0.display())]
    NotAShell(PathBuf),
    /// There is none.
    #[error(
        "no shell was found: neither the account's, nor $SHELL, nor bash, zsh or sh in /bin and /usr/bin; set `shell.path`"
    )]
    None,
}

/// Shells to fall back on.
const FALLBACKS: &[&str] = &[
    "/bin/bash",
    "/usr/bin/bash",
    "/bin/zsh",
    "/usr/bin/zsh",
    "/bin/sh",
    "/usr/bin/sh",
];

/// Finds the shell: the configured one, the account's, `$SHELL`, and then what there is.
pub fn detect_shell(
    configured: Option<&Path>,
    uid: u32,
    shell_variable: Option<&str>,
) -> Result<Shell, ShellError> {
    if let Some(path) = configured {
        return known_shell(path).ok_or_else(|| ShellError::NotAShell(path.to_path_buf()));
    }
    let of_account = account::by_uid(uid).map(|account| account.shell);
    of_account
        .into_iter()
        .chain(shell_variable.map(PathBuf::from))
        .chain(FALLBACKS.iter().map(PathBuf::from))
        .find_map(|path| known_shell(&path))
        .ok_or(ShellError::None)
}

/// A shell at a path, if there is one and its language is known. `nologin` and `false` are not.
fn known_shell(path: &Path) -> Option<Shell> {
    let kind = ShellKind::of_program(&path.to_string_lossy())?;
    path.is_file().then(|| Shell {
        kind,
        path: path.to_path_buf(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configured_shell_wins_and_must_be_one() {
        let shell = detect_shell(Some(Path::new("/bin/sh")), 0, None).unwrap();
        assert_eq!(
            (shell.kind, shell.path.to_str()),
            (ShellKind::Sh, Some("/bin/sh"))
        );
        for path in ["/bin/cat", "/bin/no-such-bash", "/usr/sbin/nologin"] {
            assert!(
                detect_shell(Some(Path::new(path)), 0, None).is_err(),
                "{path}"
            );
        }
    }

    #[test]
    fn without_an_account_the_variable_and_then_the_usual_places_serve() {
        let nobody = 4_294_967_000;
        assert_eq!(
            detect_shell(None, nobody, Some("/bin/sh")).unwrap().path,
            PathBuf::from("/bin/sh")
        );
        let fallback = detect_shell(None, nobody, Some("/usr/sbin/nologin")).unwrap();
        assert!(
            FALLBACKS
                .iter()
                .any(|path| Path::new(path) == fallback.path)
        );
    }
}
