//! What it means to read, write or delete at a place.
//!
//! The lists say which places break the machine, record what happened, hold credentials, or run
//! code later. Where a word points is worked out in `path`.

use std::path::Path;

use super::{
    Class,
    path::{HOME, ONE, STAR, Spot, Spread, wildcard},
};
use crate::ground::Ground;

/// A verdict on one use of a path.
pub(super) type Finding = (Class, String);

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
pub(super) fn deletion(spread: &Spread, recursive: bool, ground: &Ground) -> Finding {
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
pub(super) fn writing(spread: &Spread, ground: &Ground) -> Finding {
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
pub(super) fn reading(spread: &Spread, ground: &Ground) -> Finding {
    let lifted = |spot: &Spot| {
        let mut readable = ground.readable.iter();
        !spot.open && readable.any(|path| spot.is_in(path))
    };
    for spot in spread.places.iter().filter(|spot| !lifted(spot)) {
        if let Some(why) = secret(spot, ground) {
            return (
                Class::Suspicious,
                format!("it reads {why} ({})", spot.shown()),
            );
        }
    }
    (Class::ReadOnly, String::new())
}

/// What it means to look at the name, the size or the times of a word: what it holds stays hidden.
pub(super) fn looking(spread: &Spread, ground: &Ground) -> Option<Finding> {
    let (class, why) = reading(spread, ground);
    let hidden = spread
        .places
        .iter()
        .all(|spot| secret(spot, ground).is_none_or(|what| what == CREDENTIALS));
    (class > Class::ReadOnly && !hidden).then_some((class, why))
}

const CREDENTIALS: &str = "credentials";

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
    (listed || in_config).then_some(CREDENTIALS)
}
