//! The shells of this machine: the user's own, and those that a call may name.

use std::fs;
use std::os::unix::fs::MetadataExt;
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
    /// A call names something that is not one of the machine's shells.
    #[error("`{}` is not one of this machine's shells; {}", .0.display(), WHAT_COUNTS)]
    NotOfTheMachine(PathBuf),
    /// Commands could put anything in its place.
    #[error(
        "the shell {} is in {}, where commands may write; {}",
        path.display(),
        root.display(),
        WHAT_COUNTS
    )]
    Writable {
        /// The shell.
        path: PathBuf,
        /// The folder.
        root: PathBuf,
    },
}

const WHAT_COUNTS: &str =
    "use bash, zsh, sh, dash, ksh or pwsh from /bin, /usr/bin, /usr/local/bin or /etc/shells";

/// Where the system keeps its shells.
const FOLDERS: &[&str] = &[
    "/bin",
    "/usr/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/run/current-system/sw/bin",
];

/// The system's own list.
const LIST: &str = "/etc/shells";
const LONGEST_LIST: u64 = 64 << 10;

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

/// The shell that a call names, by a path or a bare name. It has to be one of the machine's: in a
/// folder of the system's or on its list, whatever it is a link to outside of what commands may
/// write, and not anybody's to change.
pub fn named_shell(named: &Path, writable: &[PathBuf]) -> Result<Shell, ShellError> {
    let stranger = || ShellError::NotOfTheMachine(named.to_path_buf());
    let kind = ShellKind::of_program(&named.to_string_lossy()).ok_or_else(stranger)?;
    let path = if named.components().count() == 1 {
        let found = FOLDERS
            .iter()
            .map(|folder| Path::new(folder).join(named))
            .find(|path| path.is_file());
        found.ok_or_else(stranger)?
    } else {
        named.to_path_buf()
    };
    let path = in_its_folder(&path).ok_or_else(stranger)?;
    if !is_of_the_system(&path) {
        return Err(stranger());
    }
    outside(&path, writable)?;
    let metadata = path.metadata().map_err(|_| stranger())?;
    let owners = [0, account::own_uid()];
    if !metadata.is_file() || !owners.contains(&metadata.uid()) || metadata.mode() & 0o002 != 0 {
        return Err(stranger());
    }
    Ok(Shell { kind, path })
}

/// Makes sure that the user's own shell is not one that commands brought along. The system's shells
/// serve wherever the workspace is, were it the root folder.
pub(crate) fn owned_by_the_user(shell: &Shell, writable: &[PathBuf]) -> Result<(), ShellError> {
    match in_its_folder(&shell.path) {
        Some(path) if is_of_the_system(&path) => Ok(()),
        _ => outside(&shell.path, writable),
    }
}

/// Makes sure that commands can change neither a shell nor the link that leads to it.
fn outside(shell: &Path, writable: &[PathBuf]) -> Result<(), ShellError> {
    let resolved = [in_its_folder(shell), shell.canonicalize().ok()];
    for path in resolved.into_iter().flatten() {
        let inside = |root: &&PathBuf| {
            path.starts_with(root) || root.canonicalize().is_ok_and(|root| path.starts_with(root))
        };
        if let Some(root) = writable.iter().find(inside) {
            let (path, root) = (shell.to_path_buf(), root.clone());
            return Err(ShellError::Writable { path, root });
        }
    }
    Ok(())
}

/// The path with every link in its folder followed, and its own name kept: a shell behaves as
/// what it is called.
fn in_its_folder(path: &Path) -> Option<PathBuf> {
    let folder = path.is_absolute().then(|| path.parent())??;
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

/// Whether a shell is in a folder of the system's or on its list.
fn is_of_the_system(path: &Path) -> bool {
    let in_folder = FOLDERS.iter().any(|folder| {
        let folder = Path::new(folder).canonicalize();
        folder.is_ok_and(|folder| path.parent() == Some(&folder))
    });
    let short = || fs::metadata(LIST).is_ok_and(|list| list.len() <= LONGEST_LIST);
    let listed = || {
        let list = fs::read_to_string(LIST).unwrap_or_default();
        list.lines()
            .filter_map(|line| in_its_folder(Path::new(line.trim())))
            .any(|listed| listed == path)
    };
    in_folder || (short() && listed())
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
