//! `[environment]`: which variables commands are given.

use std::collections::BTreeMap;

use ringfence_policy::permissions::{EnvironmentPolicy, Inherit};

use crate::config::declare::{settings, words};

settings! {
    impl EnvironmentPolicy in "environment" {
        /// Which variables a command inherits before the lists below.
        inherit: Inherit = word("core"), Later;
        /// Variables that are inherited whatever else says no; `*` matches anything.
        include: Vec<String> = names(), Each;
        /// Variables that are dropped, besides secrets and what makes programs load or run something.
        exclude: Vec<String> = names(), Never;
        /// Variables that are set to a value of their own.
        set: BTreeMap<String, String> = table(), LoaderNames;
    }
}

words! { Inherit { None = "none", Core = "core", All = "all", } }
