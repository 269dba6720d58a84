//! The rules file: read as a layer, and added to when somebody approves with a rule.
//!
//! A rule is added under a lock, to a copy that then takes the file's place: a concurrent writer
//! waits, and a crash leaves the old file or the new one, never a part.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ringfence_policy::rule::{Layer, Rule, RuleError};
use ringfence_policy::ruleset::RuleSet;
use thiserror::Error;

use crate::audit::Timestamp;
use crate::project::{self, Project};

/// Why rules could not be read or added.
#[derive(Debug, Error)]
pub enum RulesFileError {
    /// The file cannot be read or written.
    #[error("{} cannot be used: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file, or the rule to add, is not right.
    #[error(transparent)]
    Rule(#[from] RuleError),
}

/// What adding a rule came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Added {
    /// It is in the file now.
    Written,
    /// It was there already.
    AlreadyThere,
}

/// Reads a rules file; one that does not exist has no rules.
pub fn read(layer: Layer, path: &Path) -> Result<RuleSet, RulesFileError> {
    parse(layer, path, &read_text(path)?)
}

/// The rules of a file that was read already.
pub fn parse(layer: Layer, path: &Path, text: &str) -> Result<RuleSet, RulesFileError> {
    Ok(RuleSet::parse(layer, &path.display().to_string(), text)?)
}

/// The rules of a project, as it was read when its trust was looked up. Relative paths in them
/// start at its folder, wherever in it the work is.
pub fn of_project(
    layer: Layer,
    project: &Project,
    workspace: &Path,
) -> Result<RuleSet, RulesFileError> {
    let text = project.rules.as_deref().unwrap_or_default();
    let name = project.path(project::RULES).display().to_string();
    let rules = RuleSet::parse(layer, &name, text)?;
    Ok(if project.root == workspace {
        rules
    } else {
        rules.below(&project.root)
    })
}

/// Adds rules (as TOML) to a file, with a comment that says when and why.
pub fn add(path: &Path, rules: &str, why: &str, when: Timestamp) -> Result<Added, RulesFileError> {
    let failed = |source| RulesFileError::File {
        path: path.to_path_buf(),
        source,
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let lock = lock_beside(path).map_err(failed)?;
    let before = read_text(path)?;
    let name = path.display().to_string();
    let present = written(&RuleSet::parse(Layer::User, &name, &before)?);
    let wanted = RuleSet::parse(Layer::User, "the approved rule", rules)?;
    if wanted
        .rules()
        .iter()
        .map(Rule::to_toml)
        .all(|rule| present.contains(&rule))
    {
        return Ok(Added::AlreadyThere);
    }
    let gap = if before.is_empty() || before.ends_with("\n\n") {
        ""
    } else {
        "\n"
    };
    let why = why.replace(['\n', '\r'], " ");
    let after = format!(
        "{before}{gap}# Approved {when}: {why}\n{}\n",
        rules.trim_end()
    );
    // What was put together must be right before it replaces what was.
    RuleSet::parse(Layer::User, &name, &after)?;
    replace(path, &after).map_err(failed)?;
    drop(lock);
    Ok(Added::Written)
}

fn written(set: &RuleSet) -> Vec<String> {
    set.rules().iter().map(Rule::to_toml).collect()
}

fn read_text(path: &Path) -> Result<String, RulesFileError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(source) => Err(RulesFileError::File {
            path: path.to_path_buf(),
            source,
        }),
    }
}

/// A lock that all writers of a file take. It is a file of its own, since the file itself is
/// replaced.
fn lock_beside(path: &Path) -> io::Result<File> {
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(path.with_extension("toml.lock"))?;
    lock.lock()?;
    Ok(lock)
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let draft = path.with_extension("toml.new");
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(draft, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NPM: &str = "[[rule]]\nprefix = [\"npm\", \"test\"]\ndecision = \"allow\"\n";
    const GIT: &str = "[[rule]]\nprefix = [\"git\", \"push\"]\ndecision = \"allow\"\n";

    fn now() -> Timestamp {
        Timestamp::from(std::time::UNIX_EPOCH)
    }

    #[test]
    fn rules_are_added_once_with_a_comment_and_nothing_else_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.toml");
        fs::write(
            &path,
            "# mine\n[[rule]]\nprefix = [\"ls\"]\ndecision = \"allow\"\n",
        )
        .unwrap();
        assert_eq!(
            add(&path, NPM, "it is not\nknown", now()).unwrap(),
            Added::Written
        );
        assert_eq!(
            add(&path, NPM, "again", now()).unwrap(),
            Added::AlreadyThere
        );
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# mine\n"), "{text}");
        assert!(
            text.contains("# Approved 1970-01-01T00:00:00.000Z: it is not known\n"),
            "{text}"
        );
        assert_eq!(read(Layer::User, &path).unwrap().rules().len(), 2);
    }

    #[test]
    fn a_broken_file_or_rule_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.toml");
        assert!(add(&path, "[[rule]]\nprefix = 5\n", "x", now()).is_err());
        assert!(!path.exists());
        fs::write(&path, "[[rule").unwrap();
        assert!(add(&path, NPM, "x", now()).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "[[rule");
    }

    #[test]
    fn writers_at_once_lose_nothing_and_a_left_draft_does_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.toml");
        // What a writer that was killed half-way leaves behind.
        fs::write(path.with_extension("toml.new"), "[[rule]]\nprefix = [\"ha").unwrap();
        std::thread::scope(|scope| {
            for n in 0..16 {
                let path = &path;
                scope.spawn(move || {
                    let own = format!("[[rule]]\nprefix = [\"tool{n}\"]\ndecision = \"ask\"\n");
                    add(path, &own, "own", now()).unwrap();
                    add(path, GIT, "shared", now()).unwrap();
                });
            }
        });
        assert_eq!(read(Layer::User, &path).unwrap().rules().len(), 17);
    }
}
