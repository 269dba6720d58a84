//! Running again what the fence refused something: what is offered for it, and with what it then runs.

use std::sync::PoisonError;
use std::time::Instant;

use ringfence_policy::action::Action;
use ringfence_policy::judge::{Denied, Premises, judge_retry};
use ringfence_policy::permit::Confinement;
use ringfence_policy::verdict::{Grounds, Refusal};
use ringfence_policy::{Ground, NarrowGrant, Permit, Verdict};

use super::account::Account;
use super::denied_paths::with_denied_paths;
use super::desk::{Desk, tell_judged};
use super::programs;
use super::record::Decided;
use crate::error::CallError;
use crate::event::Event;

/// As often may a command run again, each time with something granted.
pub(super) const MOST_TRIES: usize = 4;

/// What a command was granted from try to try. What it has had once it keeps.
#[derive(Debug, Default)]
pub(super) struct Tries {
    granted: Vec<NarrowGrant>,
}

impl Tries {
    /// What was refused without what was granted already and did not help.
    pub(super) fn still_missing(&self, asks: &Denied) -> Denied {
        let mut asks = asks.clone();
        asks.grants.retain(|grant| !self.granted.contains(grant));
        asks
    }

    /// Takes down what of this a permit has, and says in words how the command runs again.
    pub(super) fn run_again(&mut self, permit: &Permit, asked: &Denied) -> String {
        let Confinement::Fenced { sandbox, .. } = permit.confinement() else {
            return "the command runs again, OUTSIDE the fence, as was approved".to_owned();
        };
        let has = |grant: &&NarrowGrant| {
            let mut wider = sandbox.clone();
            grant.widen(&mut wider);
            match grant {
                NarrowGrant::Host { host } => sandbox.granted_hosts.contains(host),
                _ => wider == *sandbox,
            }
        };
        let new: Vec<NarrowGrant> = asked.grants.iter().filter(has).cloned().collect();
        let words: Vec<String> = new.iter().map(ToString::to_string).collect();
        self.granted.extend(new);
        format!(
            "the command runs again, inside the fence, and may {}",
            words.join(", and ")
        )
    }
}

impl Desk {
    /// Asks whether a command that the fence refused something may run again with it. Another try has an account of its own.
    pub(super) async fn permit_retry(
        &self,
        first: &Account,
        action: Action,
        denied: Denied,
        tries: &Tries,
    ) -> Result<Result<(Permit, Account), Refusal>, CallError> {
        // Whoever is asked is told what is known about the command, as before its first run.
        let known = self.check(action.clone()).grounds;
        let grounds = Grounds {
            class: known.class,
            reasons: known.reasons,
            facts: known.facts,
            ..Grounds::default()
        };
        first.tell(|call| Event::Judging { call });
        let judging = Instant::now();
        let denied = self.grantable(denied);
        // What it had the first time it has again.
        let has = [first.call().grants.as_slice(), &tries.granted].concat();
        let verdict = self.offering(&action.clone(), &has, |premises| {
            judge_retry(action, denied, premises)
        });
        tell_judged(first, &verdict, &grounds, Some(judging));
        match verdict {
            Verdict::Refuse(refusal) => Ok(Err(refusal)),
            Verdict::Allow(permit) => {
                let account = first.again();
                let because = permit.basis().to_string();
                account.intend(Decided::approved(&permit, grounds.class, &because, None))?;
                Ok(Ok((permit, account)))
            }
            Verdict::Ask(question) => {
                let account = first.again();
                let asked = self.ask(&account, question, &grounds).await;
                account.conclude_unless_permitted(&asked)?;
                Ok(asked?.map(|permit| (permit, account)))
            }
        }
    }

    /// Looks at something with everything that an offer about an action depends on, by somebody who has these grants.
    pub(super) fn offering<T>(
        &self,
        action: &Action,
        has: &[NarrowGrant],
        look: impl FnOnce(&Premises<'_>) -> T,
    ) -> T {
        let approvals = self
            .approvals
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        let (mut sandbox, _) = with_denied_paths(&self.sandbox, action, &rules, &self.ground);
        for grant in has {
            grant.widen(sandbox.to_mut());
        }
        let ground = Ground {
            programs: programs::places(self.search_path.as_deref()),
            ..self.ground.clone()
        };
        look(&Premises {
            ground: &ground,
            sandbox: &sandbox,
            ..self.premises(&rules, &approvals)
        })
    }

    /// What was refused, without what nobody grants.
    fn grantable(&self, mut denied: Denied) -> Denied {
        denied
            .grants
            .retain(|grant| self.why_never(grant).is_none());
        denied
    }
}
