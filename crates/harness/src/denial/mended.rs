//! What a command changed of git's set-up and was put back, as denials.

use ringfence_jail::{Amends, Mended};

use super::{Denial, DenialKind, Evidence};

impl Denial {
    /// The denial that a change amounts to which was put back.
    pub(crate) fn of_mended(mended: &Mended) -> Self {
        let done = match &mended.amends {
            Amends::SetAside(to) => format!("it is now {}", to.display()),
            Amends::PutBack { kept: None } => "it was put back".to_owned(),
            Amends::PutBack { kept: Some(kept) } => {
                format!(
                    "it was put back, and what was there is now {}",
                    kept.display()
                )
            }
            Amends::Failed(why) => format!("IT COULD NOT BE PUT BACK: {why}"),
        };
        Self {
            kind: DenialKind::GitSetup,
            subject: mended.path.display().to_string(),
            reason: format!("{}; {done}", mended.reason),
            allow: "make the change outside the fence; \
                    `sandbox.unprotected_paths = [\".git/config\", \".git/hooks\"]` lifts the protection"
                .to_owned(),
            evidence: Evidence::Seen,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

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
            let mended = Mended {
                path: PathBuf::from("/w/x"),
                amends,
                reason: "why".to_owned(),
            };
            assert_eq!(Denial::of_mended(&mended).line(), expected);
        }
    }
}
