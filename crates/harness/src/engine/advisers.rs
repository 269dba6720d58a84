//! Those who are heard before a verdict besides the rules: classifiers and permission layers.

use std::sync::Arc;

use ringfence_policy::action::Action;
use ringfence_policy::advice::{Advice, Finding};
use ringfence_policy::ground::Ground;
use ringfence_policy::session_approvals::understood;

use crate::classifier::Classifier;
use crate::permission_layer::PermissionLayer;

/// Whoever an embedder has registered.
#[derive(Default)]
pub(crate) struct Advisers {
    pub(super) classifiers: Vec<Arc<dyn Classifier>>,
    pub(super) layers: Vec<Arc<dyn PermissionLayer>>,
}

impl Advisers {
    /// What they say about an action.
    pub(crate) fn advice(&self, action: &Action, ground: &Ground) -> Advice {
        if self.classifiers.is_empty() && self.layers.is_empty() {
            return Advice::default();
        }
        let facts = match action {
            Action::RunCommand(command) => Some(understood(command)),
            _ => None,
        };
        let mut advice = Advice::default();
        for (classifier, facts) in self.classifiers.iter().zip(facts.iter().cycle()) {
            let found = classifier.classify(facts, ground).into_iter();
            advice.findings.extend(found.map(|finding| Finding {
                why: format!("{} ({})", finding.why, classifier.name()),
                ..finding
            }));
        }
        for layer in &self.layers {
            let opinion = layer.decide(action, facts.as_ref());
            advice.opinions.push((layer.name().to_owned(), opinion));
        }
        advice
    }
}
