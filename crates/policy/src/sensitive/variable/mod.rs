//! Variables that say what programs load or run, hold secrets, or are known to be harmless.
//!
//! A row says what it means that a command sets its names, whether they are passed on to commands, and whether a
//! project that nobody has trusted may set them. A name that stands in no row is passed on if everything is, may be
//! set by a project, and what it makes a program do is not known.

mod builds;
mod everyday;
mod languages;
mod loading;
mod services;
mod shells;
mod tools;

use std::{collections::HashMap, sync::LazyLock};

/// What it means that a command sets a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// It only changes how something is shown, or what a project's own code reads.
    Harmless,
    /// What it makes a program do is not known.
    Unknown,
    /// It makes programs load or run something else: the command is asked about.
    Asked,
    /// It hides what was done.
    Refused,
}

/// Whether a variable of the user's is passed on to commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// Programs need it to work as their user expects.
    Always,
    /// If everything is passed on.
    WithAll,
    /// Only if it is included by name.
    Dropped,
}

/// Whether a project that nobody has trusted may set a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Project {
    /// It may.
    MaySet,
    /// It may not: a command that is allowed to leave the fence would run what the project wants.
    MayNotSet,
}

/// Variables that mean the same.
#[derive(Debug, PartialEq, Eq)]
pub struct VariableRow {
    /// What it means that a command sets them.
    pub setting: Setting,
    /// Whether they are passed on.
    pub passing: Passing,
    /// Whether a project may set them.
    pub project: Project,
    /// Why.
    pub reason: &'static str,
    /// The names, with blanks between them. One that ends in `*` stands for all that begin so.
    pub names: &'static str,
}

/// Names that look like secrets, in whatever case: they are not passed on. `*` matches any run of
/// characters.
pub const SECRETS: &[&str] = &[
    "*KEY*",
    "*SECRET*",
    "*TOKEN*",
    "*PASSWORD*",
    "*PASSWD*",
    "*PASSPHRASE*",
    "*CREDENTIAL*",
    "*COOKIE*",
    "*WEBHOOK*",
    "*CONNECTION_STRING*",
    "*_AUTH",
    "*_PWD",
    "*_PASS",
    "*_PAT",
    "*_DSN",
    "*_JWT",
    "*DATABASE_URL",
    // What a collector of telemetry is shown.
    "OTEL_EXPORTER_OTLP*HEADERS",
];

impl VariableRow {
    /// The names, one by one.
    pub fn each(&self) -> impl Iterator<Item = &'static str> {
        self.names.split_ascii_whitespace()
    }
}

const TABLES: &[&[VariableRow]] = &[
    everyday::TABLE,
    loading::TABLE,
    shells::TABLE,
    tools::TABLE,
    languages::TABLE,
    builds::TABLE,
    services::TABLE,
];

/// Every row.
pub fn rows() -> impl Iterator<Item = &'static VariableRow> {
    TABLES.iter().copied().flatten()
}

/// The row of a variable of exactly this name.
pub(crate) fn row(name: &str) -> Option<&'static VariableRow> {
    let family = || longest(&INDEX.families, name);
    INDEX.names.get(name).copied().or_else(family)
}

/// The row of a variable of this name. Some programs take no notice of case, so what keeps something
/// from them does not either.
fn row_in_any_case(name: &str) -> Option<&'static VariableRow> {
    let upper = name.to_ascii_uppercase();
    let family = || longest(&INDEX.upper_families, &upper);
    let named = || INDEX.upper_names.get(&upper).copied();
    // What is written as it stands says more than a namesake.
    let exact = INDEX.names.get(name).copied();
    exact.or_else(named).or_else(family)
}

/// Whether a variable of this name is held to be a secret.
pub fn is_secret(name: &str) -> bool {
    SECRETS.iter().any(|pattern| name_matches(pattern, name))
}

/// What happens to a variable of the user's of this name.
pub fn passing(name: &str) -> Passing {
    if is_secret(name) {
        return Passing::Dropped;
    }
    row_in_any_case(name).map_or(Passing::WithAll, |row| row.passing)
}

/// Whether a project that nobody has trusted may set a variable of this name.
pub fn project_may_set(name: &str) -> bool {
    row_in_any_case(name).is_none_or(|row| row.project == Project::MaySet)
}

/// The families that a name belongs to, by their beginnings; of those the longest.
fn longest<S: AsRef<str>>(
    families: &[(S, &'static VariableRow)],
    name: &str,
) -> Option<&'static VariableRow> {
    let found = families
        .iter()
        .filter(|(start, _)| name.starts_with(start.as_ref()));
    let longest = found.max_by_key(|(start, _)| start.as_ref().len());
    longest.map(|(_, row)| *row)
}

struct Index {
    names: HashMap<&'static str, &'static VariableRow>,
    families: Vec<(&'static str, &'static VariableRow)>,
    upper_names: HashMap<String, &'static VariableRow>,
    upper_families: Vec<(String, &'static VariableRow)>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let (mut names, mut families) = (HashMap::new(), Vec::new());
    for row in rows() {
        for name in row.each() {
            match name.strip_suffix('*') {
                Some(start) => families.push((start, row)),
                None => _ = names.insert(name, row),
            }
        }
    }
    let upper = |name: &str| name.to_ascii_uppercase();
    Index {
        upper_names: names
            .iter()
            .map(|(name, row)| (upper(name), *row))
            .collect(),
        upper_families: families.iter().map(|(s, row)| (upper(s), *row)).collect(),
        names,
        families,
    }
});

/// Matches a name against a pattern in which `*` stands for any run of characters, without regard
/// to case.
pub(crate) fn name_matches(pattern: &str, name: &str) -> bool {
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

    #[test]
    fn each_name_is_there_once_and_with_a_reason() {
        let mut seen = std::collections::HashSet::new();
        for row in rows() {
            assert!(!row.reason.is_empty() && row.each().count() > 0);
            for name in row.each() {
                assert!(seen.insert(name), "{name} stands twice");
                let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let plain = name.strip_suffix('*').unwrap_or(name);
                assert!(!plain.is_empty() && plain.chars().all(letter), "{name}");
            }
            let loads = row.setting == Setting::Asked || row.passing == Passing::Dropped;
            let kept = row.project == Project::MayNotSet;
            assert!(!loads || kept, "a project may set {}", row.names);
        }
    }

    #[test]
    fn names_that_differ_in_case_mean_the_same_where_something_is_kept_from_programs() {
        for name in [
            "npm_config_script_shell",
            "NPM_CONFIG_SCRIPT_SHELL",
            "Ld_Preload",
        ] {
            assert_eq!(passing(name), Passing::Dropped, "{name}");
            assert!(!project_may_set(name), "{name}");
        }
        // To a shell `path` is a variable like any other.
        assert_eq!(row("path"), None);
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

    #[test]
    fn secrets_are_known_by_their_names() {
        for (name, expected) in [
            ("GITHUB_TOKEN", true),
            ("api_key", true),
            ("MYSQL_PWD", true),
            ("AZURE_DEVOPS_EXT_PAT", true),
            ("SENTRY_DSN", true),
            ("NPM_CONFIG__AUTH", true),
            ("GPG_PASSPHRASE", true),
            ("DATABASE_URL", true),
            ("PWD", false),
            ("OLDPWD", false),
            ("PATH", false),
            ("COMPAT", false),
            ("AUTHOR", false),
        ] {
            assert_eq!(is_secret(name), expected, "{name}");
        }
    }
}
