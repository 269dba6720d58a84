//! What is known about programs, one table per family.
//!
//! The tables are meant to be read. Each entry says what a program does; a program that stands in
//! no table is unknown. Where an option changes what a program does, the option is named.

pub(super) mod windows;

mod builtins;
mod containers;
mod files;
mod git;
mod languages;
mod look;
mod network;
mod packages;
mod search;
mod system;
mod text;

use std::{collections::HashMap, sync::OnceLock};

use super::table::Tool;

const TABLES: &[&[Tool]] = &[
    look::TABLE,
    search::TABLE,
    text::TABLE,
    files::TABLE,
    builtins::TABLE,
    git::TABLE,
    packages::TABLE,
    languages::TABLE,
    network::TABLE,
    containers::TABLE,
    system::TABLE,
];

/// The entry of a program.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    static INDEX: OnceLock<HashMap<&'static str, &'static Tool>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let mut index = HashMap::new();
        for tool in TABLES.iter().copied().flatten() {
            for name in tool.names.split(' ') {
                index.entry(name).or_insert(tool);
            }
        }
        index
    });
    // `mkfs.ext4`, `python3.12`.
    index.get(name).copied().or_else(|| {
        let stem = name.split('.').next().unwrap_or(name);
        let stem = if stem == "mkfs" {
            stem
        } else {
            stem.trim_end_matches(|c: char| c.is_ascii_digit())
        };
        let versioned = matches!(
            stem,
            "mkfs" | "python" | "pip" | "ruby" | "perl" | "lua" | "php" | "gcc" | "clang"
        );
        index.get(stem).copied().filter(|_| versioned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{classify::table::Options, facts::options::parts};

    fn walk(tool: &'static Tool, path: &str, check: &mut impl FnMut(&'static Tool, &str)) {
        check(tool, path);
        for sub in tool.subcommands {
            walk(sub, &format!("{path} {}", sub.names), check);
        }
    }

    #[test]
    fn no_program_stands_in_two_tables() {
        let mut seen = std::collections::HashSet::new();
        for tool in TABLES.iter().copied().flatten() {
            for name in tool.names.split(' ') {
                assert!(seen.insert(name), "{name} stands twice");
            }
        }
    }

    /// Programs without options, or whose words are never options.
    const WITHOUT_OPTIONS: &[&str] = &[
        ":", "echo", "printf", "test", "sleep", "expr", "getopts", "exit", "set", "trap", "eval",
        "unalias", "setsid",
    ];

    #[test]
    fn what_only_looks_has_a_closed_list_of_options() {
        for tool in TABLES.iter().copied().flatten() {
            walk(tool, tool.names, &mut |tool, path| {
                let closed = matches!(tool.options, Options::Known(_));
                let exempt = WITHOUT_OPTIONS.iter().any(|name| tool.is_named(name));
                let looks = tool.class == crate::classify::Class::ReadOnly;
                // Options before a subcommand that only looks are closed as well.
                let class = crate::classify::Class::ReadOnly;
                let looks = looks || tool.subcommands.iter().any(|sub| sub.class == class);
                assert!(
                    !looks || closed || exempt,
                    "{path} has an open list of options"
                );
            });
        }
    }

    #[test]
    fn a_marked_option_of_a_closed_grammar_is_in_the_grammar() {
        for tool in TABLES.iter().copied().flatten() {
            walk(tool, tool.names, &mut |tool, path| {
                let Options::Known(grammar) = tool.options else {
                    return;
                };
                for name in tool.marks.iter().flat_map(|mark| mark.names.split(' ')) {
                    let known = grammar.options.split_ascii_whitespace();
                    let mut known = known.map(|entry| parts(entry).0);
                    let found = known.any(|option| option == name);
                    assert!(found, "{path}: {name} is marked, but not among the options");
                }
            });
        }
    }
}
