//! Secrets of the program's own that are in variables, such as the key of a model: no command gets to see one, whatever the
//! configuration says about the environment.

use std::collections::{BTreeMap, BTreeSet};

/// A value that is shorter may be in another variable by chance.
const SHORTEST: usize = 8;

/// Variables of the program's own.
#[derive(Default)]
pub(crate) struct OwnSecrets {
    names: BTreeSet<String>,
    values: Vec<String>,
}

impl OwnSecrets {
    /// What is in the variables of these names.
    pub(crate) fn of(names: &[String], environment: &BTreeMap<String, String>) -> Self {
        let values = names.iter().filter_map(|name| environment.get(name));
        let values = values.map(|value| value.trim().to_owned());
        Self {
            values: values.filter(|value| value.len() >= SHORTEST).collect(),
            names: names.iter().cloned().collect(),
        }
    }

    /// Whether a variable is one of them, or holds what one of them holds.
    pub(crate) fn include(&self, name: &str, value: &str) -> bool {
        let mut values = self.values.iter();
        self.names.contains(name) || values.any(|secret| value.contains(secret))
    }

    /// What they hold.
    pub(crate) fn values(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_one_under_any_name() {
        let environment = [("KEY", " sk-12345678\n"), ("FLAG", "on")];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let names = ["KEY", "FLAG", "UNSET"].map(str::to_owned);
        let own = OwnSecrets::of(&names, &environment.into());
        for (name, value, expected) in [
            ("KEY", "sk-12345678", true),
            ("KEY", "another one", true),
            ("UNSET", "x", true),
            ("COPY", "sk-12345678", true),
            ("URL", "http://u:sk-12345678@h", true),
            ("OTHER", "sk-1234567", false),
            ("OTHER", "on", false),
        ] {
            assert_eq!(own.include(name, value), expected, "{name}={value}");
        }
    }
}
