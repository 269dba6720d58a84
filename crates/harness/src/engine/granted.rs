//! What a program grants a call beforehand, and who may.

use std::path::Path;
use std::sync::PoisonError;

use ringfence_policy::NarrowGrant;
#[cfg(feature = "commands")]
use ringfence_policy::action::{Action, RunCommand};
use ringfence_policy::host::Protocol;
#[cfg(feature = "commands")]
use ringfence_policy::judge::offered;
#[cfg(feature = "commands")]
use ringfence_policy::permit::Confinement;
use ringfence_policy::rule::{Access, Decision, Hosts};
#[cfg(feature = "commands")]
use ringfence_policy::verdict::{Refusal, RefusalCode};

use super::Engine;
use super::desk::Desk;
#[cfg(feature = "commands")]
use crate::denial::Denial;
use crate::grant::{Grant, GrantError};

impl Engine {
    /// Who answers questions here.
    pub fn approver_name(&self) -> &'static str {
        self.desk.approver.name()
    }

    /// What can be put into [`Call::grants`](super::Call::grants): whoever answers questions may grant this beforehand. What a rule denies and
    /// the harness's own folders cannot be granted.
    pub fn granted(&self, grants: &[Grant]) -> Result<Vec<NarrowGrant>, GrantError> {
        let read = |grant: &Grant| {
            let narrow = NarrowGrant::try_from(grant)?;
            match self.desk.why_never(&narrow) {
                None => Ok(narrow),
                Some(why) => Err(GrantError {
                    what: narrow.to_string(),
                    why,
                }),
            }
        };
        grants.iter().map(read).collect()
    }
}

impl Desk {
    /// Takes out of denials what nobody would be offered.
    #[cfg(feature = "commands")]
    pub(super) fn take_back(&self, denials: &mut [Denial], command: &RunCommand) {
        if denials.iter().all(|denial| denial.grant.is_none()) {
            return;
        }
        let action = Action::RunCommand(command.clone());
        self.offering(&action, &[], |premises| {
            for denial in denials {
                denial.grant = denial.grant.take().filter(|grant| {
                    let one = std::slice::from_ref(grant);
                    !offered(one, command, premises).is_empty() && self.why_never(grant).is_none()
                });
            }
        });
    }

    /// Why a command does not run with what it was granted, earlier or by a rule: commands that may write around a path can put a
    /// link in its place, and nobody has granted what that leads to.
    #[cfg(feature = "commands")]
    pub(super) fn leads_elsewhere(&self, confinement: &Confinement) -> Option<Refusal> {
        let Confinement::Fenced { sandbox, .. } = confinement else {
            return None;
        };
        let own = &self.sandbox;
        let lists = [
            (&sandbox.writable_roots, &own.writable_roots),
            (&sandbox.granted_reads, &own.granted_reads),
            (&sandbox.unix_sockets, &own.unix_sockets),
        ];
        let mut granted = lists
            .into_iter()
            .flat_map(|(all, own)| all.iter().filter(|path| !own.contains(path)));
        granted.find_map(|path| {
            let real = path.canonicalize().ok().filter(|real| real != path)?;
            let (path, real) = (path.display(), real.display());
            let reason = format!("{path} is granted, and leads to {real} now");
            let refusal = Refusal::new(RefusalCode::DeniedByRule, reason);
            Some(refusal.hinting(Some("grant the place that it leads to, if you mean that")))
        })
    }

    /// Why nobody can grant something.
    pub(super) fn why_never(&self, grant: &NarrowGrant) -> Option<String> {
        match grant {
            NarrowGrant::Readable { path } | NarrowGrant::Socket { path } => {
                self.why_never_at(path, Access::Read)
            }
            NarrowGrant::Writable { path } => {
                let meets = |own: &&std::path::PathBuf| own.starts_with(path);
                let own = self.own_folders.iter().find(meets);
                let above =
                    own.map(|own| format!("{} is in it, which is Ringfence's", own.display()));
                above.or_else(|| self.why_never_at(path, Access::Write))
            }
            NarrowGrant::Host { host } => {
                let Hosts::One(name) = &host.host else {
                    return Some("it is more than one host".to_owned());
                };
                let port = host.ports.first().copied().unwrap_or(443);
                let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
                let rule = rules.decide_host(name, port, Protocol::Https, "")?;
                let denies = rule.decision == Decision::Deny;
                denies.then(|| format!("the rule at {} denies it", rule.rule.source))
            }
            NarrowGrant::Network => {
                let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
                let denies = rules.denies_any_host();
                denies.then(|| "rules deny hosts, and would not hold".to_owned())
            }
            NarrowGrant::Unprotected { .. } => None,
        }
    }

    fn why_never_at(&self, path: &Path, access: Access) -> Option<String> {
        if let Some(own) = self.own_folders.iter().find(|own| path.starts_with(own)) {
            return Some(format!("{} is Ringfence's own", own.display()));
        }
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        let rule = rules.decide_path(path, access, &self.ground, "")?;
        let denies = rule.decision == Decision::Deny;
        denies.then(|| format!("the rule at {} denies it", rule.rule.source))
    }
}
