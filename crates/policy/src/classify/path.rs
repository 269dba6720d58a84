//! Where a word of a command points, and what it means to read, write or delete there.
//!
//! Paths are worked out from the text and the ground alone. Links are not followed: that is the
//! fence's work.

use std::path::{Component, Path, PathBuf};

use super::Class;
use crate::{
    facts::{Directory, FOLDER_MARK, HOME_MARK, Piece, Word},
    ground::Ground,
    rule::{Matched, path_covers},
};

const STAR: char = '\u{f0001}';
const ONE: char = '\u{f0002}';
const ANY: char = '\u{f0003}';
const HOME: &str = "\u{f0004}";

/// The places that a word may point to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spread {
    pub(crate) places: Vec<Spot>,
    /// Whether it may also point somewhere that is not known.
    pub(crate) unknown: bool,
}

/// An absolute path, in parts; a part may hold wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    parts: Vec<String>,
    /// Whether something unknown follows.
    open: bool,
}

impl Spread {
    /// The paths, if they are all fixed.
    pub(crate) fn fixed(&self) -> Option<Vec<PathBuf>> {
        if self.unknown {
            return None;
        }
        let mut paths = Vec::new();
        for spot in &self.places {
            if spot.open || spot.has_wildcard() || spot.part(0) == HOME {
                return None;
            }
            paths.push(PathBuf::from(format!("/{}", spot.parts.join("/"))));
        }
        Some(paths)
    }

    /// Whether it certainly points into this folder.
    pub(crate) fn is_in(&self, folder: &Path) -> bool {
        let inside = |spot: &Spot| !spot.open && spot.is_in(folder);
        !self.unknown && !self.places.is_empty() && self.places.iter().all(inside)
    }

    /// Whether one of the places may be the path that a pattern names, or in it.
    pub(crate) fn may_be_in(&self, pattern: &[String]) -> Matched {
        let matched = self.places.iter().map(|spot| spot.may_be_in(pattern));
        matched.max().unwrap_or(Matched::No)
    }
}

/// The places that a word may point to from one of these directories.
pub(crate) fn spread(word: &Word, directory: &Directory, ground: &Ground) -> Spread {
    let mut found = Spread {
        places: Vec::new(),
        unknown: false,
    };
    let raw = raw(word, ground);
    if raw.starts_with('/') {
        found.places.push(Spot::start().join(&raw));
        return found;
    }
    if raw.starts_with(ANY) {
        found.unknown = true;
        return found;
    }
    found.unknown = directory.unknown;
    for chain in &directory.chains {
        match base(chain, ground) {
            Some(base) => found.places.push(base.join(&raw)),
            None => found.unknown = true,
        }
    }
    found
}

/// The directory that a chain of `cd` arguments leads to.
fn base(chain: &[Word], ground: &Ground) -> Option<Spot> {
    let mut at = Spot::start().join(&ground.cwd.to_string_lossy());
    for step in chain {
        let raw = raw(step, ground);
        if raw.contains(ANY) {
            return None;
        }
        at = if raw.starts_with('/') {
            Spot::start().join(&raw)
        } else {
            at.join(&raw)
        };
    }
    Some(at)
}

/// A value in which marks stand for the home folder and the working directory.
fn with_folders(value: &str, ground: &Ground) -> String {
    if !value.contains([HOME_MARK, FOLDER_MARK]) {
        return value.to_owned();
    }
    let home = match &ground.home {
        Some(home) => home.to_string_lossy().into_owned(),
        None => format!("/{HOME}"),
    };
    value
        .replace(HOME_MARK, &home)
        .replace(FOLDER_MARK, &ground.cwd.to_string_lossy())
}

/// A word as text with wildcards.
fn raw(word: &Word, ground: &Ground) -> String {
    if let Some(value) = word.literal() {
        return with_folders(value, ground);
    }
    let home = || match &ground.home {
        Some(home) => home.to_string_lossy().into_owned(),
        None => format!("/{HOME}"),
    };
    let mut text = String::new();
    let mut in_class = false;
    for piece in &word.pieces {
        match piece {
            Piece::Text(part) => match part.split_once(']') {
                Some((_, after)) if in_class => {
                    in_class = false;
                    text.push_str(after);
                }
                _ if in_class => {}
                _ => text.push_str(&with_folders(part, ground)),
            },
            Piece::Home(None) => text.push_str(&home()),
            Piece::Home(Some(user)) => match user.as_str() {
                "root" => text.push_str("/root"),
                "+" => text.push_str(&ground.cwd.to_string_lossy()),
                user => {
                    text.push_str("/home/");
                    text.push_str(user);
                }
            },
            Piece::Glob('*') | Piece::Sequence => text.push(STAR),
            Piece::Glob('[') => {
                in_class = true;
                text.push(ONE);
            }
            Piece::Glob(_) => text.push(ONE),
            Piece::Parameter { name, .. } if name == "HOME" => text.push_str(&home()),
            Piece::Parameter { name, .. } if name == "PWD" => {
                text.push_str(&ground.cwd.to_string_lossy());
            }
            Piece::Parameter { name, .. } if name == "TMPDIR" => text.push_str("/tmp"),
            _ => text.push(ANY),
        }
    }
    text
}

impl Spot {
    fn start() -> Self {
        Self {
            parts: Vec::new(),
            open: false,
        }
    }

    fn join(&self, raw: &str) -> Self {
        let mut parts = if raw.starts_with('/') {
            Vec::new()
        } else {
            self.parts.clone()
        };
        let mut open = self.open;
        for part in raw.split('/') {
            match part {
                "" | "." => {}
                ".." => _ = parts.pop(),
                part if part.contains(ANY) => {
                    open = true;
                    break;
                }
                part => parts.push(part.to_owned()),
            }
        }
        Self { parts, open }
    }

    /// The spot for a person to read.
    fn shown(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            text.push('/');
            text.extend(part.chars().map(|c| match c {
                STAR => '*',
                ONE => '?',
                other => other,
            }));
        }
        if text.is_empty() {
            "/".into()
        } else {
            text.replace(HOME, "~")
        }
    }

    /// Whether this is the path or above it.
    fn covers(&self, path: &Path) -> bool {
        let mut names = path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy()),
            _ => None,
        });
        let mut parts = self.parts.as_slice();
        // Everything in a folder is as good as the folder.
        while let [before @ .., last] = parts {
            if last.chars().all(|c| c == STAR || c == '.' || c == ONE) && last.contains(STAR) {
                parts = before;
            } else {
                break;
            }
        }
        parts
            .iter()
            .all(|part| names.next().is_some_and(|name| wildcard(part, &name)))
    }

    /// Whether this is below the path or the path itself.
    fn is_in(&self, path: &Path) -> bool {
        let mut parts = self.parts.iter();
        path.components().all(|component| match component {
            Component::Normal(name) => parts.next().is_some_and(|part| part.as_str() == name),
            _ => true,
        })
    }

    fn may_be_in(&self, pattern: &[String]) -> Matched {
        if !self.has_wildcard() && !self.open {
            return Matched::of(path_covers(pattern, &self.parts));
        }
        // With wildcards on both sides, what may match is taken to match.
        for (index, expected) in pattern.iter().enumerate() {
            if expected.contains('*') {
                return Matched::Yes;
            }
            match self.parts.get(index) {
                Some(part) if wildcard(part, expected) => {}
                None if self.open => return Matched::Maybe,
                _ => return Matched::No,
            }
        }
        Matched::Yes
    }

    fn has_wildcard(&self) -> bool {
        self.parts.iter().any(|part| part.contains([STAR, ONE]))
    }

    fn part(&self, at: usize) -> &str {
        self.parts.get(at).map_or("", String::as_str)
    }

    fn may_write(&self, ground: &Ground) -> bool {
        self.is_in(&ground.workspace) || ground.writable.iter().any(|root| self.is_in(root))
    }

    /// The parts below the home folder, if it is there.
    fn below_home(&self, ground: &Ground) -> Option<&[String]> {
        if self.part(0) == HOME {
            return Some(&self.parts[1..]);
        }
        let depth = match &ground.home {
            Some(home) if self.is_in(home) => home.components().count().saturating_sub(1),
            _ if self.part(0) == "root" => 1,
            _ if matches!(self.part(0), "home" | "Users") && self.parts.len() > 2 => 2,
            _ => return None,
        };
        Some(&self.parts[depth.min(self.parts.len())..])
    }
}

/// Whether a part with wildcards matches a name.
fn wildcard(pattern: &str, name: &str) -> bool {
    if !pattern.contains([STAR, ONE]) {
        return pattern == name;
    }
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(&STAR) => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == ONE || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    p = at + 1;
                    n = from + 1;
                    star = Some((at, n));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == STAR)
}

/// A verdict on one use of a path.
pub(crate) type Finding = (Class, String);

/// Folders of the system. Losing the folder, or (with `true`) anything in it, breaks the machine.
const SYSTEM: &[(&str, bool)] = &[
    ("bin", true),
    ("boot", true),
    ("dev", true),
    ("etc", true),
    ("lib", true),
    ("lib32", true),
    ("lib64", true),
    ("libx32", true),
    ("proc", true),
    ("sbin", true),
    ("sys", true),
    ("usr", true),
    ("System", true),
    ("Library", true),
    ("root", false),
    ("home", false),
    ("Users", false),
    ("var", false),
    ("opt", false),
    ("srv", false),
    ("mnt", false),
    ("media", false),
    ("run", false),
    ("Applications", false),
    ("nix", false),
    ("snap", false),
    ("tmp", false),
];

/// What it means to delete what is at a word, with everything below it or not.
pub(crate) fn deletion(spread: &Spread, recursive: bool, ground: &Ground) -> Finding {
    let mut worst = (Class::Unknown, "it deletes files".to_owned());
    let mut note = |class: Class, why: String| {
        if class > worst.0 {
            worst = (class, why);
        }
    };
    if spread.unknown {
        let why = "which files it deletes is computed";
        note(
            if recursive {
                Class::Suspicious
            } else {
                Class::Unknown
            },
            why.into(),
        );
    }
    for spot in &spread.places {
        let (class, why) = delete_at(spot, recursive, ground);
        note(class, why);
    }
    worst
}

fn delete_at(spot: &Spot, recursive: bool, ground: &Ground) -> Finding {
    let shown = spot.shown();
    if let Some(finding) = tampering(spot, ground) {
        return finding;
    }
    if recursive && !spot.open {
        if spot.covers(Path::new("/")) {
            return (Class::Dangerous, "it deletes the whole file system".into());
        }
        let home = spot.part(0) == HOME && spot.covers(Path::new(&format!("/{HOME}")));
        if home || ground.home.as_ref().is_some_and(|home| spot.covers(home)) {
            return (
                Class::Dangerous,
                format!("it deletes the home folder ({shown})"),
            );
        }
        if spot.covers(&ground.workspace) {
            let whole = spot.is_in(&ground.workspace);
            return if whole {
                (Class::Suspicious, "it deletes the workspace".into())
            } else {
                (
                    Class::Dangerous,
                    format!("it deletes a parent of the workspace ({shown})"),
                )
            };
        }
        if let Some(why) = system_loss(spot, ground) {
            return (Class::Dangerous, why);
        }
    }
    if spot.open {
        let class = if recursive {
            Class::Suspicious
        } else {
            Class::Unknown
        };
        return (class, "which files it deletes is computed".into());
    }
    if !spot.may_write(ground) {
        return (
            Class::Suspicious,
            format!("it deletes outside the workspace ({shown})"),
        );
    }
    if let Some(why) = runs_later(spot, ground) {
        return (Class::Suspicious, format!("it deletes {why} ({shown})"));
    }
    if spot.parts.last().is_some_and(|name| name == ".git") {
        return (
            Class::Suspicious,
            "it deletes the repository's history".into(),
        );
    }
    (Class::Unknown, format!("it deletes {shown}"))
}

fn system_loss(spot: &Spot, ground: &Ground) -> Option<String> {
    let (top, deep) = SYSTEM
        .iter()
        .find(|(name, _)| wildcard(spot.part(0), name))?;
    let shown = spot.shown();
    let mut depth = spot.parts.len();
    if spot
        .parts
        .last()
        .is_some_and(|last| last.chars().all(|c| c == STAR))
    {
        depth -= 1;
    }
    if *top == "tmp" && depth == 1 && spot.parts.len() > 1 {
        return None;
    }
    let person = matches!(*top, "home" | "Users") && depth == 2 && !spot.may_write(ground);
    let inside = *deep && !spot.may_write(ground);
    (depth <= 1 || inside || person).then(|| format!("it deletes a folder of the system ({shown})"))
}

/// Files that record what happened, and the fence's own files.
fn tampering(spot: &Spot, ground: &Ground) -> Option<Finding> {
    let shown = spot.shown();
    if spot.parts.iter().any(|part| part == ".ringfence") {
        return Some((
            Class::Dangerous,
            format!("it changes the fence's own files ({shown})"),
        ));
    }
    let below = spot.below_home(ground).unwrap_or_default();
    let first = below.first().map_or("", String::as_str);
    if matches!(below, [a, b, ..] if a == ".config" && b == "ringfence") {
        return Some((
            Class::Dangerous,
            format!("it changes the fence's own files ({shown})"),
        ));
    }
    let history = (first.starts_with('.') && first.ends_with("history"))
        || below
            .last()
            .is_some_and(|name| name.ends_with("_history") || name == "ConsoleHost_history.txt");
    if history {
        return Some((
            Class::Dangerous,
            format!("it tampers with the shell's history ({shown})"),
        ));
    }
    let log = spot.part(0) == "var" && spot.part(1) == "log" && !spot.may_write(ground);
    let login = matches!(spot.part(1), "utmp" | "wtmp") && matches!(spot.part(0), "run" | "var");
    (log || login).then(|| {
        (
            Class::Dangerous,
            format!("it tampers with the system's logs ({shown})"),
        )
    })
}

/// Files of a user or a project that run code later.
fn runs_later(spot: &Spot, ground: &Ground) -> Option<&'static str> {
    const START_UP: &[&str] = &[
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".bash_aliases",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".zlogout",
        ".kshrc",
        ".cshrc",
        ".tcshrc",
        ".login",
        ".inputrc",
        ".gitconfig",
        ".npmrc",
        ".pypirc",
        ".netrc",
        ".vimrc",
        ".gvimrc",
        ".exrc",
        ".emacs",
        ".screenrc",
        ".tmux.conf",
        ".pam_environment",
        ".xinitrc",
        ".xprofile",
        ".xsession",
        ".lesskey",
        ".pythonrc",
        ".pdbrc",
        ".gdbinit",
        ".lldbinit",
        ".irbrc",
        ".perldb",
        ".Rprofile",
        ".octaverc",
        ".curlrc",
        ".wgetrc",
    ];
    const FOLDERS: &[&str] = &[
        ".ssh", ".gnupg", ".aws", ".kube", ".docker", ".claude", ".codex", ".gemini", ".cursor",
    ];
    const PROJECT: &[&str] = &[
        ".envrc",
        ".mcp.json",
        ".gitmodules",
        ".gitattributes",
        ".pre-commit-config.yaml",
        ".claude",
        ".codex",
        ".gemini",
        ".cursor",
        ".vscode",
        ".idea",
        ".husky",
        ".devcontainer",
        ".zed",
        ".ripgreprc",
    ];
    if let Some(below) = spot.below_home(ground) {
        let first = below.first().map_or("", String::as_str);
        if START_UP.contains(&first) {
            return Some("a start-up file");
        }
        if FOLDERS.contains(&first) {
            return Some("credentials or another agent's files");
        }
        if matches!(below, [a, b, ..] if a == ".config" && matches!(b.as_str(), "autostart" | "systemd" | "git" | "fish" | "environment.d"))
        {
            return Some("a start-up file");
        }
        if matches!(below, [a, b, c, ..] if a == "Library" && b == "LaunchAgents" && !c.is_empty())
        {
            return Some("a start-up file");
        }
    }
    if let Some(at) = spot.parts.iter().position(|part| part == ".git") {
        let after = spot.part(at + 1);
        if matches!(
            after,
            "hooks" | "config" | "config.worktree" | "info" | "modules"
        ) || after.contains([STAR, ONE])
        {
            return Some("what git runs");
        }
    }
    if spot.is_in(&ground.workspace) {
        if spot
            .parts
            .iter()
            .any(|part| PROJECT.contains(&part.as_str()))
        {
            return Some("configuration that runs code");
        }
        if spot
            .parts
            .last()
            .is_some_and(|name| START_UP.contains(&name.as_str()))
        {
            return Some("a start-up file");
        }
    }
    None
}

/// What it means to write to a word.
pub(crate) fn writing(spread: &Spread, ground: &Ground) -> Finding {
    let mut worst = (Class::ReadOnly, String::new());
    let mut note = |finding: Finding| {
        if finding.0 > worst.0 {
            worst = finding;
        }
    };
    if spread.unknown {
        note((Class::Unknown, "which file it writes is computed".into()));
    }
    for spot in &spread.places {
        note(write_at(spot, ground));
    }
    worst
}

/// Devices that writing to destroys.
const BLOCK_DEVICES: &[&str] = &[
    "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "loop", "dm-", "md", "disk", "rdisk", "mapper",
    "sr", "nbd", "zd", "ram", "mem", "kmem", "port", "fb", "mtd", "pmem", "drbd", "bcache",
    "block", "root",
];

fn write_at(spot: &Spot, ground: &Ground) -> Finding {
    let shown = spot.shown();
    if let Some(finding) = device(spot) {
        return finding;
    }
    if let Some(finding) = tampering(spot, ground) {
        return finding;
    }
    let top = spot.part(0);
    if matches!(top, "proc" | "sys") && !spot.may_write(ground) {
        return (
            Class::Dangerous,
            format!("it changes the running kernel ({shown})"),
        );
    }
    let account = top == "etc"
        && (matches!(
            spot.part(1),
            "passwd" | "shadow" | "group" | "gshadow" | "sudoers" | "ld.so.preload"
        ) || spot.part(1).starts_with("sudoers")
            || spot.part(1) == "pam.d");
    if account && !spot.may_write(ground) {
        return (
            Class::Dangerous,
            format!("it changes who may do what on this machine ({shown})"),
        );
    }
    if spot.open {
        return (Class::Unknown, "which file it writes is computed".into());
    }
    if let Some(why) = runs_later(spot, ground) {
        return (Class::Suspicious, format!("it writes {why} ({shown})"));
    }
    if spot.may_write(ground) {
        if spot.has_wildcard() {
            return (
                Class::Unknown,
                format!("which file it writes depends on what is there ({shown})"),
            );
        }
        return (Class::Safe, format!("it writes {shown}"));
    }
    // Nothing is hidden or destroyed: where there is a fence it refuses this, and says so.
    (
        Class::Unknown,
        format!("it writes outside the workspace ({shown})"),
    )
}

fn device(spot: &Spot) -> Option<Finding> {
    if spot.part(0) != "dev" {
        return None;
    }
    let (name, shown) = (spot.part(1), spot.shown());
    Some(match name {
        "null" | "stdout" | "stderr" | "stdin" | "tty" | "fd" | "zero" | "full" | "random"
        | "urandom" => (Class::ReadOnly, String::new()),
        "tcp" | "udp" => (
            Class::Suspicious,
            format!("it opens a network connection ({shown})"),
        ),
        "shm" => (Class::Safe, format!("it writes {shown}")),
        _ if BLOCK_DEVICES.iter().any(|known| name.starts_with(known)) || spot.has_wildcard() => {
            (Class::Dangerous, format!("it writes to a device ({shown})"))
        }
        _ => (
            Class::Suspicious,
            format!("it writes to a device ({shown})"),
        ),
    })
}

/// What it means to read a word.
pub(crate) fn reading(spread: &Spread, ground: &Ground) -> Finding {
    for spot in &spread.places {
        if let Some(why) = secret(spot, ground) {
            return (
                Class::Suspicious,
                format!("it reads {why} ({})", spot.shown()),
            );
        }
    }
    (Class::ReadOnly, String::new())
}

fn secret(spot: &Spot, ground: &Ground) -> Option<&'static str> {
    const HOME_SECRETS: &[&str] = &[
        ".ssh",
        ".gnupg",
        ".aws",
        ".azure",
        ".kube",
        ".netrc",
        ".pgpass",
        ".my.cnf",
        ".git-credentials",
        ".npmrc",
        ".pypirc",
        ".docker",
        ".password-store",
        ".vault-token",
        ".mozilla",
        ".terraform.d",
        ".claude",
        ".codex",
        ".gemini",
    ];
    const CONFIG_SECRETS: &[&str] = &[
        "gcloud",
        "gh",
        "hub",
        "op",
        "sops",
        "google-chrome",
        "chromium",
        "ringfence",
    ];
    let system = match (spot.part(0), spot.part(1)) {
        ("etc", "shadow" | "gshadow" | "sudoers" | "sudoers.d" | "shadow-" | "krb5.keytab") => true,
        ("proc", _) => matches!(
            spot.part(2),
            "environ" | "mem" | "root" | "cwd" | "fd" | "maps"
        ),
        ("dev", name) => {
            matches!(name, "mem" | "kmem" | "tcp" | "udp")
                || ["sd", "nvme", "vd", "hd", "disk"]
                    .iter()
                    .any(|d| name.starts_with(d))
        }
        ("var", "run") | ("run", _) => spot
            .parts
            .last()
            .is_some_and(|name| Path::new(name).extension().is_some_and(|end| end == "sock")),
        _ => false,
    };
    if system {
        return Some("what belongs to the system");
    }
    let below = spot.below_home(ground)?;
    let first = below.first().map_or("", String::as_str);
    let in_config =
        matches!(below, [a, b, ..] if a == ".config" && CONFIG_SECRETS.contains(&b.as_str()));
    let listed = HOME_SECRETS
        .iter()
        .any(|name| wildcard(first, name) && (first == *name || first.starts_with('.')));
    (listed || in_config).then_some("credentials")
}

/// Whether a word is a Windows network path.
pub(crate) fn is_unc(word: &Word) -> bool {
    let start = word.known_start();
    let start = start.split_once('=').map_or(start, |(_, value)| value);
    start.starts_with("\\\\") || start.starts_with("//") && start.len() > 2
}
