//! What a command inherits of the environment.
//!
//! The policy is applied to a map that the caller hands in: this module never reads the
//! environment of the process.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Where the environment of a command starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inherit {
    /// The variables that programs need to work ([`CORE_VARIABLES`] and the `LC_` family).
    Core,
    /// Everything, but for what `exclude` and the secrets patterns drop.
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
    /// Names that are dropped, besides secrets and loader variables.
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

/// Variables that programs need to work as their user expects.
pub const CORE_VARIABLES: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PATH",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "TMPDIR",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "HOSTNAME",
    "NO_COLOR",
    "FORCE_COLOR",
    "CI",
    // Where toolchains live. They hold paths, never secrets.
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
];

/// Names that look like secrets. Matched without regard to case.
pub const SECRET_PATTERNS: &[&str] = &[
    "*KEY*",
    "*SECRET*",
    "*TOKEN*",
    "*PASSWORD*",
    "*PASSWD*",
    "*CREDENTIAL*",
];

/// Variables that make a loader or an interpreter run other code before the program's own.
pub const LOADER_PATTERNS: &[&str] = &[
    "LD_*",
    "DYLD_*",
    "GCONV_PATH",
    "BASH_ENV",
    "ENV",
    "BASH_FUNC_*",
    "PROMPT_COMMAND",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PERL5LIB",
    "PERL5OPT",
    "RUBYOPT",
    "RUBYLIB",
    "NODE_OPTIONS",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "GIT_CONFIG*",
    "LESSOPEN",
    "LESSCLOSE",
    "SSH_AUTH_SOCK",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
];

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

    /// Whether a variable of this name is inherited.
    pub fn inherits(&self, name: &str) -> bool {
        if self
            .include
            .iter()
            .any(|pattern| name_matches(pattern, name))
        {
            return true;
        }
        let wanted = match self.inherit {
            Inherit::Core => CORE_VARIABLES.contains(&name) || name.starts_with("LC_"),
            Inherit::All => true,
            Inherit::None => false,
        };
        wanted
            && !is_secret_name(name)
            && !is_loader_name(name)
            && !self
                .exclude
                .iter()
                .any(|pattern| name_matches(pattern, name))
    }
}

/// Whether a variable of this name is held to be a secret.
pub fn is_secret_name(name: &str) -> bool {
    SECRET_PATTERNS
        .iter()
        .any(|pattern| name_matches(pattern, name))
}

/// Whether a variable of this name can make a program load other code.
pub fn is_loader_name(name: &str) -> bool {
    LOADER_PATTERNS
        .iter()
        .any(|pattern| name_matches(pattern, name))
}

/// Matches a name against a pattern in which `*` stands for any run of characters, without regard
/// to case.
fn name_matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    // Where to go on from when a literal run after the last `*` turns out not to match.
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            retry = Some((p + 1, n));
            p += 1;
        } else if pattern
            .get(p)
            .is_some_and(|c| c.eq_ignore_ascii_case(&name[n]))
        {
            p += 1;
            n += 1;
        } else if let Some((after_star, start)) = retry {
            retry = Some((after_star, start + 1));
            (p, n) = (after_star, start + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
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

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("*KEY*", "MONKEY", true),
            ("LD_*", "LD_PRELOAD", true),
            ("LD_*", "OLD_PWD", false),
            ("ENV", "ENVIRONMENT", false),
            ("a*c", "abbc", true),
            ("a*c", "abb", false),
        ] {
            assert_eq!(name_matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
