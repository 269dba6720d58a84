//! Which of git's settings cannot make it run anything: a closed list. Whatever is not on it counts
//! as able to, be it a key of tomorrow's git.

use super::config::Entry;

/// What the value of a harmless key has to look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    /// Whatever it is, git only compares, counts or prints it.
    Any,
    /// The name of a remote, which could also be an address.
    Remote,
    /// The address of a repository, by a transport that runs nothing of the address's choosing.
    Address,
}

use Value::{Address, Any, Remote};

/// Keys without a subsection, by section.
const PLAIN: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "safecrlf",
            "abbrev",
            "quotepath",
            "compression",
            "loosecompression",
            "bigfilethreshold",
            "packedgitwindowsize",
            "packedgitlimit",
            "deltabasecachelimit",
            "preloadindex",
            "untrackedcache",
            "trustctime",
            "checkstat",
            "commentchar",
            "commentstring",
            "whitespace",
            "protecthfs",
            "protectntfs",
            "sparsecheckout",
            "sparsecheckoutcone",
            "splitindex",
            "multipackindex",
            "commitgraph",
            "notesref",
            "warnambiguousrefs",
            "packedrefstimeout",
            "filesreflocktimeout",
            "sharedrepository",
            "fsync",
            "fsyncmethod",
            "fsyncobjectfiles",
        ],
    ),
    (
        "extensions",
        &[
            "objectformat",
            "refstorage",
            "noop",
            "preciousobjects",
            "relativeworktrees",
        ],
    ),
    ("user", &["name", "email", "useconfigonly"]),
    ("author", &["name", "email"]),
    ("committer", &["name", "email"]),
    ("init", &["defaultbranch"]),
    ("branch", &["autosetupmerge", "autosetuprebase", "sort"]),
    (
        "push",
        &[
            "default",
            "autosetupremote",
            "followtags",
            "useforceifincludes",
        ],
    ),
    ("pull", &["rebase", "ff"]),
    (
        "fetch",
        &[
            "prune",
            "prunetags",
            "parallel",
            "writecommitgraph",
            "showforcedupdates",
        ],
    ),
    (
        "merge",
        &[
            "ff",
            "conflictstyle",
            "log",
            "renamelimit",
            "renames",
            "stat",
            "autostash",
            "defaulttoupstream",
        ],
    ),
    (
        "diff",
        &[
            "algorithm",
            "renames",
            "renamelimit",
            "colormoved",
            "colormovedws",
            "mnemonicprefix",
            "noprefix",
            "context",
            "interhunkcontext",
            "wserrorhighlight",
            "ignoresubmodules",
            "submodule",
            "indentheuristic",
            "statgraphwidth",
            "wordregex",
        ],
    ),
    (
        "log",
        &[
            "date",
            "decorate",
            "abbrevcommit",
            "follow",
            "mailmap",
            "showroot",
        ],
    ),
    (
        "status",
        &[
            "short",
            "branch",
            "showuntrackedfiles",
            "aheadbehind",
            "relativepaths",
            "showstash",
            "renames",
            "renamelimit",
            "displaycommentprefix",
        ],
    ),
    ("commit", &["verbose", "cleanup", "status"]),
    (
        "rebase",
        &[
            "autosquash",
            "autostash",
            "updaterefs",
            "stat",
            "missingcommitscheck",
        ],
    ),
    ("rerere", &["enabled", "autoupdate"]),
    (
        "gc",
        &[
            "auto",
            "autopacklimit",
            "autodetach",
            "pruneexpire",
            "reflogexpire",
            "reflogexpireunreachable",
            "packrefs",
        ],
    ),
    (
        "pack",
        &[
            "threads",
            "window",
            "depth",
            "windowmemory",
            "usebitmaps",
            "writereverseindex",
        ],
    ),
    ("index", &["version", "threads", "sparse", "skiphash"]),
    ("feature", &["manyfiles"]),
    ("tag", &["sort"]),
    ("versionsort", &["suffix", "prereleasesuffix"]),
    ("stash", &["showincludeuntracked", "showpatch", "showstat"]),
    ("i18n", &["commitencoding", "logoutputencoding"]),
    ("lfs", &["repositoryformatversion"]),
];

/// Sections of which every key without a subsection is about looks.
const LOOKS: &[&str] = &["advice", "color", "column"];

/// Keys with a subsection.
const NAMED: &[(&str, &str, Value)] = &[
    ("branch", "remote", Remote),
    ("branch", "pushremote", Remote),
    ("branch", "merge", Any),
    ("branch", "rebase", Any),
    ("branch", "description", Any),
    ("branch", "vscode-merge-base", Any),
    ("branch", "github-pr-owner-number", Any),
    ("branch", "gh-merge-base", Any),
    ("remote", "url", Address),
    ("remote", "pushurl", Address),
    ("remote", "fetch", Any),
    ("remote", "push", Any),
    ("remote", "tagopt", Any),
    ("remote", "prune", Any),
    ("remote", "prunetags", Any),
    ("remote", "mirror", Any),
    ("remote", "gh-resolved", Any),
    ("remote", "skipfetchall", Any),
    ("remote", "skipdefaultupdate", Any),
    ("submodule", "url", Address),
    ("submodule", "active", Any),
    ("submodule", "branch", Any),
    ("submodule", "ignore", Any),
    ("lfs", "access", Any),
    ("lfs", "locksverify", Any),
];

/// Settings whose values are data, or are looked at for what they are: a file of that name which
/// comes into being is not a program.
const DATA: &[(&str, &[&str])] = &[
    (
        "core",
        &["excludesfile", "attributesfile", "worktree", "hookspath"],
    ),
    ("commit", &["template"]),
    ("blame", &["ignorerevsfile"]),
    ("mailmap", &["file", "blob"]),
    ("format", &["signaturefile", "outputdirectory"]),
    ("include", &["path"]),
    ("includeif", &["path"]),
    ("user", &["signingkey"]),
    ("init", &["templatedir"]),
];

/// Whether what a setting names is data.
pub(super) fn names_data(entry: &Entry) -> bool {
    let is_in = |(section, names): &(&str, &[&str])| {
        *section == entry.section && names.contains(&entry.name.as_str())
    };
    DATA.iter().any(is_in)
}

/// Whether a setting could make git run something, now or later.
pub(super) fn runs(entry: &Entry) -> bool {
    let known = if entry.subsection.is_some() {
        let mut named = NAMED.iter();
        named
            .find(|(section, name, _)| *section == entry.section && *name == entry.name)
            .map(|(_, _, value)| *value)
    } else {
        let listed = PLAIN.iter().any(|(section, names)| {
            *section == entry.section && names.contains(&entry.name.as_str())
        });
        (listed || LOOKS.contains(&entry.section.as_str())).then_some(Any)
    };
    match known {
        None => true,
        Some(Any) => false,
        Some(Remote) => !is_name(entry.text()),
        Some(Address) => !is_plain_address(entry.text()),
    }
}

/// The name of a remote: no address, no option, no path.
fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    text == "." || (!text.starts_with(['-', '.', '/']) && text.chars().all(allowed))
}

/// An address by a transport that git knows by itself: `ext::`, other helpers, and hosts that ssh
/// would take for options are not among them.
fn is_plain_address(text: &str) -> bool {
    const SCHEMES: &[&str] = &["https://", "http://", "git://", "ssh://", "file:///"];
    if text.chars().any(char::is_control) || text.starts_with('-') {
        return false;
    }
    if let Some(rest) = SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme)) {
        let host = rest.split(['/', ':']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        return !host.starts_with('-') && !rest.starts_with('-');
    }
    if text.contains("://") || text.contains("::") {
        return false;
    }
    match text.split_once(':') {
        // A host and a path, or a path with a colon in it.
        Some((host, _)) => !host.rsplit('@').next().unwrap_or_default().starts_with('-'),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::config::parse;

    fn verdict(text: &str) -> bool {
        runs(&parse(text.as_bytes()).unwrap()[0])
    }

    #[test]
    fn only_what_is_known_is_harmless() {
        for text in [
            "[core]\nbare = false",
            "[user]\nname = A",
            "[branch \"main\"]\nremote = origin",
            "[branch \"main\"]\nmerge = refs/heads/main",
            "[branch \"main\"]\nremote = .",
            "[remote \"o\"]\nurl = https://example.com/x.git",
            "[remote \"o\"]\nurl = git@example.com:x/y.git",
            "[remote \"o\"]\nurl = ../other",
            "[remote \"o\"]\nurl = /srv/x.git",
            "[submodule \"x\"]\nactive = true",
            "[advice]\nanything = false",
            "[column]\nui = auto",
        ] {
            assert!(!verdict(text), "{text}");
        }
    }

    #[test]
    fn whatever_else_counts_as_running_something() {
        for text in [
            "[core]\nfsmonitor = x",
            "[core]\nhooksPath = x",
            "[core]\nsshCommand = x",
            "[core]\neditor = x",
            "[core]\nworktree = ..",
            "[core]\nattributesFile = x",
            "[alias]\nst = !x",
            "[filter \"x\"]\nclean = x",
            "[diff]\nexternal = x",
            "[diff \"x\"]\ntextconv = x",
            "[merge \"x\"]\ndriver = x",
            "[merge]\ntool = x",
            "[gpg]\nprogram = x",
            "[commit]\ngpgSign = true",
            "[credential]\nhelper = x",
            "[sequence]\neditor = x",
            "[pager]\nlog = x",
            "[include]\npath = x",
            "[includeIf \"gitdir:x\"]\npath = x",
            "[remote \"o\"]\nuploadpack = x",
            "[remote \"o\"]\nvcs = x",
            "[remote \"o\"]\nurl = ext::sh -c x",
            "[remote \"o\"]\nurl = -oProxyCommand=x",
            "[remote \"o\"]\nurl = ssh://-oProxyCommand=x/y",
            "[remote \"o\"]\nurl = ssh://a@-oProxyCommand=x/y",
            "[remote \"o\"]\nurl = x@-oProxyCommand=x:y",
            "[branch \"m\"]\nremote = ext::sh",
            "[submodule \"x\"]\nupdate = !x",
            "[submodule \"x\"]\nurl = ext::x",
            "[uploadpack]\npackObjectsHook = x",
            "[interactive]\ndiffFilter = x",
            "[browser \"x\"]\ncmd = x",
            "[man \"x\"]\ncmd = x",
            "[trailer \"x\"]\ncmd = x",
            "[protocol \"ext\"]\nallow = always",
            "[init]\ntemplateDir = x",
            "[extensions]\nworktreeConfig = true",
            "[url \"ext::x\"]\ninsteadOf = https://",
            "[tomorrow]\nkey = x",
        ] {
            assert!(verdict(text), "{text}");
        }
    }
}
