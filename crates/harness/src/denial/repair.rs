//! What a command changed of git's set-up and was put back, as denials.

use std::path::Path;

use ringfence_jail::{Amends, Repair};

use super::{Denial, DenialKind, Evidence};

impl Denial {
    /// The denial that a change amounts to which was put back.
    pub(crate) fn of_repair(repair: &Repair) -> Self {
        let done = match &repair.amends {
            Amends::SetAside(to) => format!("it is now {}", to.display()),
            Amends::PutBack { kept: None } => "it was put back".to_owned(),
            Amends::PutBack { kept: Some(kept) } => {
                format!(
                    "it was put back, and what was there is now {}",
                    kept.display()
                )
            }
            Amends::Ended => "the command was ended; look at what is there".to_owned(),
            Amends::Failed(why) => format!("IT COULD NOT BE PUT BACK: {why}"),
        };
        Self {
            kind: DenialKind::GitSetup,
            subject: repair.path.display().to_string(),
            reason: format!("{}; {done}", repair.reason),
            allow: format!(
                "make the change outside the fence; `sandbox.unprotected_paths = [{}]` lifts the \
                 protection",
                lifted_by(&repair.path)
            ),
            evidence: Evidence::Seen,
            grant: None,
        }
    }
}

/// What lifts the protection of a path: the set-up of git is protected as a whole, and anything else
/// by its name.
fn lifted_by(path: &Path) -> String {
    let of_git = path.components().any(|part| part.as_os_str() == ".git");
    if of_git {
        "\".git/config\", \".git/hooks\"".to_owned()
    } else {
        format!("\"{}\"", path.display())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn what_would_allow_it_names_what_was_refused() {
        for (path, expected) in [
            ("/home/u/.vimrc", "[\"/home/u/.vimrc\"]"),
            ("/home/u/bin", "[\"/home/u/bin\"]"),
            ("/w/.git/config", "[\".git/config\", \".git/hooks\"]"),
        ] {
            let repair = Repair {
                path: PathBuf::from(path),
                amends: Amends::PutBack { kept: None },
                reason: "why".to_owned(),
            };
            let allow = Denial::of_repair(&repair).allow;
            assert!(allow.contains(expected), "{allow}");
        }
    }

    #[test]
    fn what_was_done_is_said() {
        let table = [
            (
                Amends::SetAside("/w/.git/commondir.set-aside".into()),
                "/w/x: why; it is now /w/.git/commondir.set-aside",
            ),
            (Amends::PutBack { kept: None }, "/w/x: why; it was put back"),
            (
                Amends::PutBack {
                    kept: Some("/w/y".into()),
                },
                "/w/x: why; it was put back, and what was there is now /w/y",
            ),
            (
                Amends::Failed("no".into()),
                "/w/x: why; IT COULD NOT BE PUT BACK: no",
            ),
        ];
        for (amends, expected) in table {
            let repair = Repair {
                path: PathBuf::from("/w/x"),
                amends,
                reason: "why".to_owned(),
            };
            assert_eq!(Denial::of_repair(&repair).line(), expected);
        }
    }
}
