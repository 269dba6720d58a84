//! Paths in a configuration: made absolute without a look at the file system.

use std::path::{Component, Path, PathBuf};

/// What the paths of one layer are relative to.
#[derive(Debug, Clone, Copy)]
pub(in crate::config) struct Bases<'a> {
    /// Where relative paths start; `None` where there is no sensible place.
    pub(in crate::config) start: Option<&'a Path>,
    /// What `~` stands for.
    pub(in crate::config) home: Option<&'a Path>,
}

impl Bases<'_> {
    /// An absolute path without `.` and `..`, or what is wrong with it.
    pub(in crate::config) fn absolute(&self, text: &str) -> Result<String, String> {
        let path = self.expand(text)?;
        if path.is_absolute() {
            return normal(&path);
        }
        let start = self.start.ok_or_else(|| {
            format!(
                "the relative path {text:?}, which needs to be absolute or to begin with ~/ here"
            )
        })?;
        normal(&start.join(path))
    }

    /// The same, but for a relative path, which stays so; it must not climb out.
    pub(in crate::config) fn rooted(&self, text: &str) -> Result<String, String> {
        let path = self.expand(text)?;
        if path.is_absolute() {
            return normal(&path);
        }
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(format!("{text:?}, which climbs out with `..`"));
        }
        normal(&path)
    }

    fn expand(&self, text: &str) -> Result<PathBuf, String> {
        if text.is_empty() || text.contains('\0') {
            return Err(format!("{text:?}, which is no path"));
        }
        match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                let home = self
                    .home
                    .ok_or_else(|| format!("{text:?}, but no home folder is known"))?;
                Ok(home.join(rest.trim_start_matches('/')))
            }
            _ => Ok(PathBuf::from(text)),
        }
    }
}

/// Without `.`, `..` and trailing slashes: a deny entry must not depend on how it is spelt.
fn normal(path: &Path) -> Result<String, String> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    let text = out.into_os_string().into_string();
    text.map_err(|text| format!("{}, which is not UTF-8", text.display()))
        .and_then(|text| {
            if text.is_empty() {
                Err("an empty path".into())
            } else {
                Ok(text)
            }
        })
}
