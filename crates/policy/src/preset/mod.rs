//! Presets: what a package manager needs to work inside the fence. Its public hosts, the variables that
//! lead it to a cache of its own, and those that keep it from trying again where it is refused.
//!
//! The table is data. Which folder a cache is in is said by whoever has one ([`Caches`]); which preset is in
//! force by the user's configuration, a flag, or a rule about the command.

mod caches;
mod table;

use std::fmt;

use serde::{Serialize, Serializer};

use crate::host::{Host, Protocol};
use crate::rule::HostPattern;

pub use caches::{CacheVariable, Caches, Place};
pub use table::TABLE;

/// What one package manager needs.
#[derive(PartialEq, Eq)]
pub struct Preset {
    /// Its name, in configuration, in rules and on the command line.
    pub name: &'static str,
    /// Other names that people know it by.
    pub also: &'static [&'static str],
    /// The public hosts that it downloads from, with their ports.
    pub hosts: &'static [&'static str],
    /// Where the user's own cache is, if what is in there is of use.
    pub own: Option<Own>,
    /// The variables that lead to its cache.
    pub variables: &'static [Variable],
    /// Variables for where its hosts cannot be reached: it fails at once instead of trying again.
    pub hurried: &'static [(&'static str, &'static str)],
    /// Files of the user's own folder that are seen in the cache's, by their names.
    pub links: &'static [&'static str],
}

/// Where the user's own cache is. It is only read, and only by the tool itself.
#[derive(Debug, PartialEq, Eq)]
pub struct Own {
    /// Variables that name it, each with what is below the folder it names; the first that is set counts.
    pub variables: &'static [(&'static str, &'static str)],
    /// Where it is below the home folder otherwise.
    pub in_home: &'static str,
}

/// A variable that leads to a cache.
#[derive(Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// Its value. `{cache}` is the tool's folder in the cache and `{own}` the user's own; what stands in brackets is left out
    /// where the user has none.
    pub value: &'static str,
    /// When it is set.
    pub when: When,
    /// Why this variable, and why then.
    pub why: &'static str,
}

/// When a variable is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// In every run.
    Always,
    /// Once there is something to find: in runs that may download, and in all others after the first download. Until then the tool
    /// does with what it can read of the user's own.
    OnceUsed,
}

impl Preset {
    /// The preset of a name.
    pub fn of(name: &str) -> Option<&'static Self> {
        TABLE
            .iter()
            .find(|preset| preset.name == name || preset.also.contains(&name))
    }

    /// The names of all, for a person.
    pub fn names() -> String {
        let names: Vec<&str> = TABLE.iter().map(|preset| preset.name).collect();
        names.join(", ")
    }

    /// The hosts, as a rule would name them.
    pub fn patterns(&self) -> impl Iterator<Item = HostPattern> + '_ {
        // A test reads every one of them.
        self.hosts
            .iter()
            .filter_map(|host| HostPattern::parse(host).ok())
    }

    /// The first preset that allows this connection.
    pub fn that_reaches(host: &Host, port: u16, protocol: Protocol) -> Option<&'static Self> {
        TABLE.iter().find(|preset| {
            let mut patterns = preset.patterns();
            patterns.any(|pattern| pattern.covers(host, port, protocol))
        })
    }

    /// The preset of a program, by its name.
    pub fn of_program(program: &str) -> Option<&'static Self> {
        let name = program.rsplit('/').next().unwrap_or(program);
        PROGRAMS
            .iter()
            .find(|(known, _)| *known == name)
            .and_then(|(_, preset)| Self::of(preset))
            .or_else(|| Self::of(name))
    }
}

/// Programs that are not called as their preset is.
const PROGRAMS: &[(&str, &str)] = &[
    ("npx", "npm"),
    ("pip3", "pip"),
    ("pipx", "pip"),
    ("uvx", "uv"),
    ("pnpx", "pnpm"),
    ("bunx", "bun"),
    ("yarnpkg", "yarn"),
    ("mvnw", "maven"),
    ("gradlew", "gradle"),
    ("bundle", "bundler"),
    ("dotnet", "nuget"),
];

impl Serialize for &'static Preset {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl fmt::Debug for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "preset {}", self.name)
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The variables that lead to a cache and do nothing else: what the user's environment says of them is about the
/// user's own. The others that presets set say more, such as which server to ask.
pub fn variables() -> impl Iterator<Item = &'static str> {
    let all = TABLE.iter().flat_map(|preset| preset.variables);
    all.filter(|variable| variable.value.starts_with("{cache}"))
        .map(|variable| variable.name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_says_what_it_must() {
        let mut names = BTreeSet::new();
        for preset in TABLE {
            assert!(names.insert(preset.name), "{preset} stands there twice");
            assert!(
                preset.also.iter().all(|name| names.insert(name)),
                "{preset}"
            );
            assert!(!preset.hosts.is_empty(), "{preset} reaches nothing");
            for host in preset.hosts {
                let pattern = HostPattern::parse(host).unwrap();
                assert_eq!(pattern.ports, [443], "{preset}: {host} names its port");
                assert!(!host.contains('*'), "{preset}: {host} is one host");
            }
            for variable in preset.variables {
                assert!(!variable.why.is_empty(), "{preset}: {}", variable.name);
                let own = variable.value.contains("{own}");
                assert!(!own || preset.own.is_some(), "{preset}: {}", variable.name);
            }
        }
    }

    #[test]
    fn no_two_presets_set_a_variable_differently() {
        let mut set: std::collections::BTreeMap<&str, &str> = std::collections::BTreeMap::new();
        for preset in TABLE {
            let own = preset.variables.iter().map(|it| (it.name, it.value));
            for (name, value) in own.chain(preset.hurried.iter().copied()) {
                assert_eq!(set.insert(name, value), None, "{preset}: {name}");
            }
        }
    }

    #[test]
    fn a_host_leads_to_its_preset_and_nothing_like_it_does() {
        let found = |host: &str, port, protocol| {
            let host = Host::parse(host).unwrap();
            Preset::that_reaches(&host, port, protocol).map(|preset| preset.name)
        };
        for (host, port, protocol, expected) in [
            ("registry.npmjs.org", 443, Protocol::Https, Some("npm")),
            ("REGISTRY.npmjs.org.", 443, Protocol::Https, Some("npm")),
            ("pypi.org", 443, Protocol::Https, Some("pip")),
            ("static.crates.io", 443, Protocol::Https, Some("cargo")),
            ("sum.golang.org", 443, Protocol::Https, Some("go")),
            ("repo.maven.apache.org", 443, Protocol::Https, Some("maven")),
            // Not in the clear, not through another port, not by something that cannot be looked into.
            ("registry.npmjs.org", 80, Protocol::Http, None),
            ("registry.npmjs.org", 8443, Protocol::Https, None),
            ("registry.npmjs.org", 443, Protocol::Tcp, None),
            ("npmjs.org", 443, Protocol::Https, None),
            ("evil.registry.npmjs.org", 443, Protocol::Https, None),
            ("evilpypi.org", 443, Protocol::Https, None),
        ] {
            assert_eq!(found(host, port, protocol), expected, "{host}:{port}");
        }
    }

    #[test]
    fn programs_lead_to_their_presets() {
        for (program, expected) in [
            ("npm", Some("npm")),
            ("/usr/bin/npx", Some("npm")),
            ("pip3", Some("pip")),
            ("mvn", Some("maven")),
            ("./gradlew", Some("gradle")),
            ("bundle", Some("bundler")),
            ("npmx", None),
            ("", None),
        ] {
            let found = Preset::of_program(program).map(|preset| preset.name);
            assert_eq!(found, expected, "{program}");
        }
    }
}
