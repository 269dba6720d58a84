//! The reference page of all keys, `docs/configuration.md`.

use std::fmt::Write as _;

use super::built_in::{BuiltIn, built_in};
use super::key::{Key, Kind, Loosens, Merge};
use super::layer::RESERVED_VARIABLES;
use super::settings::keys;
use super::value::Value;

/// The whole page. A test compares it with the one in `docs/`.
pub fn reference_page() -> String {
    let mut page = String::from(INTRODUCTION);
    let mut section = "";
    for key in keys() {
        if key.section != section {
            section = key.section;
            let _ = write!(
                page,
                "\n## [{section}]\n\n| key | accepts | default | what it does |\n|---|---|---|---|\n"
            );
        }
        let accepts = key.kind.accepts().replace('"', "`");
        let (name, default) = (key.name, default(key));
        let _ = writeln!(
            page,
            "| `{name}` | {accepts} | {default} | {}{} |",
            key.doc,
            notes(key)
        );
    }
    page.push_str(&defaults());
    page.push_str("\n## Variables that are not configuration\n\n");
    page.push_str("These begin like the others and are left alone: ");
    let names: Vec<_> = RESERVED_VARIABLES
        .iter()
        .map(|name| format!("`{name}`"))
        .collect();
    page.push_str(&names.join(", "));
    page.push_str(".\n");
    page
}

const INTRODUCTION: &str = "\
# Configuration

What this page is for: every setting, what it accepts and what it does. It is made from the program's own
declarations of them; to change it, change `crates/harness/src/config/settings` and run the tests with `UPDATE_EXPECT=1`.

Settings come from these places, each over the one before:

1. built-in defaults,
2. the system's file, `/etc/ringfence/config.toml`,
3. the user's file, `~/.config/ringfence/config.toml`,
4. the project's file, `.ringfence/config.toml`: in the workspace, and in every folder above it up to the home folder and
   within one file system, the nearest last. It must be a plain file of at most 1 MiB inside the project,
5. environment variables: `RINGFENCE_<SECTION>_<KEY>`, such as `RINGFENCE_SANDBOX_MODE=read-only`
   (paths in a list are separated by `:`, names by `,`; a table is written `{ NAME = \"value\" }`),
6. flags.

`ringfence config show --origin` prints every value with the place that it came from. An unknown key, a value of
the wrong type and a syntax error are errors that name the file and the line.

A project's file may tighten the fence at once. What would loosen it is not honoured, and listed, until
`ringfence trust` is run there. The last column says what counts as loosening. A project inside another one adds to what the
outer one tightens and takes nothing of it away. Rules are in files of their own, see [rules.md](rules.md).
";

/// The lists that hold when nobody sets anything.
fn defaults() -> String {
    let mut text = String::from(
        "\n## Default lists\n\n`ringfence config show --defaults` prints them. An entry counts for itself and \
         everything in it.\n",
    );
    for list in built_in() {
        let _ = write!(
            text,
            "\n{} {}\n\n```text\n{}\n```\n",
            list.what,
            list.changed_by(),
            entries(&list)
        );
    }
    text
}

/// The entries of a list: paths one by one, names of variables in lines.
fn entries(list: &BuiltIn) -> String {
    let of_paths = list.adds.is_some_and(|key| key.starts_with("sandbox."));
    let mut text = String::new();
    for entry in &list.paths {
        let line = text.rsplit('\n').next().unwrap_or_default();
        if !text.is_empty() {
            let is_full = of_paths || line.len() + entry.len() > 118;
            text.push(if is_full { '\n' } else { ' ' });
        }
        text.push_str(entry);
    }
    text
}

fn default(key: &Key) -> String {
    match (Value::from(key.default), key.kind) {
        (Value::Nothing, Kind::Path) => "found out".into(),
        (value, _) => format!("`{}`", key.write(&value)),
    }
}

fn notes(key: &Key) -> String {
    let adds = match key.merge {
        Merge::Add => " Layers add to each other.",
        Merge::Replace => "",
    };
    let loosens = match key.loosens {
        Loosens::Never => return adds.to_owned(),
        Loosens::Always => "any change".to_owned(),
        Loosens::Later => format!("a later one of {}", words(words_of(key), " < ")),
        Loosens::To(words_) => words(words_, " or "),
        Loosens::Unless(steps) => {
            let steps: Vec<_> = steps
                .iter()
                .map(|(a, b)| format!("`{a}` to `{b}`"))
                .collect();
            format!("any change but {}", steps.join(", "))
        }
        Loosens::When(value) => format!("`{value}`"),
        Loosens::Higher => "a larger value".to_owned(),
        Loosens::Outside => "a path outside the workspace".to_owned(),
        Loosens::Each => "each entry that is not there already".to_owned(),
        Loosens::LoaderNames => "variables that say what programs load or run ([the lists](#default-lists)), and another value for what is set already".to_owned(),
    };
    format!("{adds} *Loosens:* {loosens}.")
}

fn words_of(key: &Key) -> &'static [&'static str] {
    match key.kind {
        Kind::Choice(words) => words,
        _ => &[],
    }
}

fn words(words: &[&str], between: &str) -> String {
    words
        .iter()
        .map(|word| format!("`{word}`"))
        .collect::<Vec<_>>()
        .join(between)
}
