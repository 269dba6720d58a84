//! Where the caches of a session's commands are, as far as the fence has to know.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Own, Preset, TABLE, When};

/// The caches of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caches {
    /// Where they are.
    pub place: Place,
    /// The variables that lead there.
    pub variables: Vec<CacheVariable>,
}

/// Where caches are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a folder that outlives the session, and that commands may write.
    Kept(PathBuf),
    /// In the session's own `/tmp`, at this path.
    Session(PathBuf),
}

/// A variable, worked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheVariable {
    /// Whose it is.
    pub preset: &'static Preset,
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// When it is set.
    pub when: When,
}

impl Place {
    /// The folder.
    pub fn folder(&self) -> &Path {
        let (Self::Kept(folder) | Self::Session(folder)) = self;
        folder
    }
}

impl Caches {
    /// The caches in a folder, for a user with this home and environment. A path that cannot stand in an option or a list is left
    /// out of those, and so is the variable if nothing remains of it.
    pub fn at(place: Place, home: Option<&Path>, environment: &BTreeMap<String, String>) -> Self {
        let mut variables = Vec::new();
        for preset in TABLE {
            let cache = place.folder().join(preset.name);
            let own = preset
                .own
                .as_ref()
                .and_then(|own| own.find(home, environment));
            for variable in preset.variables {
                let value = expand(variable.value, &cache, own.as_deref());
                variables.extend(value.map(|value| CacheVariable {
                    preset,
                    name: variable.name,
                    value,
                    when: variable.when,
                }));
            }
        }
        Self { place, variables }
    }

    /// The folder of one tool.
    pub fn of(&self, preset: &Preset) -> PathBuf {
        self.place.folder().join(preset.name)
    }
}

impl Own {
    /// Where it is for this user.
    pub fn find(
        &self,
        home: Option<&Path>,
        environment: &BTreeMap<String, String>,
    ) -> Option<PathBuf> {
        let named = self.variables.iter().find_map(|(name, below)| {
            let folder = environment.get(*name).filter(|it| it.starts_with('/'))?;
            Some(Path::new(folder).join(below))
        });
        named.or_else(|| home.map(|home| home.join(self.in_home)))
    }
}

/// Fills a value in. Nothing if it is empty then, or if the cache's own path cannot stand in it.
fn expand(value: &str, cache: &Path, own: Option<&Path>) -> Option<String> {
    let cache = cache.to_str()?;
    let is_a_path = value.starts_with("{cache}");
    if !is_a_path && value.contains("{cache}") && !is_plain(cache) {
        return None;
    }
    let mut filled = String::new();
    let mut rest = value;
    while let Some((before, behind)) = rest.split_once('[') {
        let (inner, after) = behind.split_once(']')?;
        filled.push_str(before);
        if let Some(own) = own.and_then(Path::to_str).filter(|own| is_plain(own)) {
            filled.push_str(&inner.replace("{own}", own));
        }
        rest = after;
    }
    filled.push_str(rest);
    let filled = filled.replace("{cache}", cache);
    (!filled.is_empty()).then_some(filled)
}

/// Whether a path means the same in a list, in a URL and among options.
fn is_plain(path: &str) -> bool {
    path.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"/._-+@".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(home: &str, folder: &str, name: &str) -> Option<String> {
        let place = Place::Kept(folder.into());
        let home = (!home.is_empty()).then(|| Path::new(home));
        let caches = Caches::at(place, home, &BTreeMap::new());
        let found = caches.variables.into_iter().find(|it| it.name == name);
        found.map(|variable| variable.value)
    }

    #[test]
    fn values_are_filled_in() {
        for (home, folder, name, expected) in [
            ("/home/u", "/c", "npm_config_cache", Some("/c/npm")),
            ("/home/u", "/c", "CARGO_HOME", Some("/c/cargo")),
            (
                "/home/u",
                "/c",
                "GOPROXY",
                Some("file:///home/u/go/pkg/mod/cache/download,https://proxy.golang.org,direct"),
            ),
            ("", "/c", "GOPROXY", Some("https://proxy.golang.org,direct")),
            // What would end a list or an option early does not stand in one.
            (
                "/home/a,b",
                "/c",
                "GOPROXY",
                Some("https://proxy.golang.org,direct"),
            ),
            ("/home/u", "/c d", "MAVEN_OPTS", None),
            ("/home/u", "/c d", "npm_config_cache", Some("/c d/npm")),
            ("", "/c", "GRADLE_RO_DEP_CACHE", None),
            (
                "/home/u",
                "/c",
                "GRADLE_RO_DEP_CACHE",
                Some("/home/u/.gradle/caches"),
            ),
        ] {
            let found = value(home, folder, name);
            assert_eq!(found.as_deref(), expected, "{home} {folder} {name}");
        }
        let maven = value("/home/u", "/c", "MAVEN_OPTS").unwrap();
        assert!(maven.starts_with(
            "-Dmaven.repo.local=/c/maven -Dmaven.repo.local.tail=/home/u/.m2/repository "
        ));
    }

    #[test]
    fn the_users_own_is_where_the_environment_says() {
        let own = Preset::of("go").and_then(|go| go.own.as_ref()).unwrap();
        let environment = BTreeMap::from([("GOPATH".to_owned(), "/srv/go".to_owned())]);
        let found = own.find(Some(Path::new("/home/u")), &environment);
        assert_eq!(found.as_deref(), Some(Path::new("/srv/go/pkg/mod")));
    }
}
