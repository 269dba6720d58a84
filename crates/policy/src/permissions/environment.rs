//! What a command inherits of the environment. Which names mean what is in
//! [`sensitive::variable`](crate::sensitive::variable).
//!
//! The policy is applied to a map that the caller hands in: this module never reads the
//! environment of the process.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sensitive::variable::{self, Passing, name_matches};

/// Where the environment of a command starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inherit {
    /// The variables that programs need to work.
    Core,
    /// Everything, but for secrets, what makes programs load or run something, and what `exclude` drops.
    All,
    /// Nothing.
    None,
}

/// How the environment of a command is made: inherit, drop, keep, set, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentPolicy {
    /// Where to start from.
    pub inherit: Inherit,
    /// Names that are inherited whatever else says no (`*` matches any run of characters).
    pub include: Vec<String>,
    /// Names that are dropped, besides secrets and what makes programs load or run something.
    pub exclude: Vec<String>,
    /// Variables set to a value of their own.
    pub set: BTreeMap<String, String>,
}

impl Default for EnvironmentPolicy {
    fn default() -> Self {
        Self {
            inherit: Inherit::Core,
            include: Vec::new(),
            exclude: Vec::new(),
            set: BTreeMap::new(),
        }
    }
}

impl EnvironmentPolicy {
    /// The environment of a command, from the environment of its harness.
    pub fn build<'a>(
        &self,
        from: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> BTreeMap<String, String> {
        let mut environment: BTreeMap<String, String> = from
            .into_iter()
            .filter(|(name, _)| self.inherits(name))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        environment.extend(self.set.clone());
        environment
    }

    /// Whether a variable is named by the policy itself: set, or included.
    pub fn names(&self, name: &str) -> bool {
        let mut included = self.include.iter();
        self.set.contains_key(name) || included.any(|pattern| name_matches(pattern, name))
    }

    /// Whether a variable of this name is inherited.
    pub fn inherits(&self, name: &str) -> bool {
        if self
            .include
            .iter()
            .any(|pattern| name_matches(pattern, name))
        {
            return true;
        }
        let wanted = match variable::passing(name) {
            Passing::Always => self.inherit != Inherit::None,
            Passing::WithAll => self.inherit == Inherit::All,
            Passing::Dropped => false,
        };
        let mut excluded = self.exclude.iter();
        wanted && !excluded.any(|pattern| name_matches(pattern, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(policy: &EnvironmentPolicy, host: &[&str]) -> Vec<String> {
        policy
            .build(host.iter().map(|name| (*name, "x")))
            .into_keys()
            .collect()
    }

    #[test]
    fn the_default_keeps_core_variables_and_drops_secrets_and_loaders() {
        let host = [
            "PATH",
            "HOME",
            "LC_ALL",
            "GITHUB_TOKEN",
            "LD_PRELOAD",
            "MY_VAR",
            "AWS_SECRET",
        ];
        assert_eq!(
            names(&EnvironmentPolicy::default(), &host),
            ["HOME", "LC_ALL", "PATH"]
        );
    }

    #[test]
    fn inheriting_all_still_drops_secrets_loaders_and_excluded_names() {
        let policy = EnvironmentPolicy {
            inherit: Inherit::All,
            exclude: vec!["COMPANY_*".into()],
            ..EnvironmentPolicy::default()
        };
        let host = [
            "PATH",
            "MY_VAR",
            "api_key",
            "npm_config_token",
            "LD_AUDIT",
            "COMPANY_X",
            "BASH_ENV",
        ];
        assert_eq!(names(&policy, &host), ["MY_VAR", "PATH"]);
    }

    #[test]
    fn include_brings_back_what_was_dropped_and_set_wins() {
        let policy = EnvironmentPolicy {
            include: vec!["GITHUB_TOKEN".into()],
            set: BTreeMap::from([("PATH".into(), "/bin".into())]),
            ..EnvironmentPolicy::default()
        };
        let built = policy.build([("GITHUB_TOKEN", "t"), ("PATH", "/usr/bin")]);
        assert_eq!(built["GITHUB_TOKEN"], "t");
        assert_eq!(built["PATH"], "/bin");
    }
}
