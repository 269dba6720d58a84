//! What was counted: a value for every metric and every combination of its labels, within bounds.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::names::{Id, Kind, METRICS};

/// As many combinations of labels has one metric; what comes then is told together.
const MOST_SERIES: usize = 200;
/// The longest value of a label, in bytes.
const LONGEST: usize = 120;
/// What stands for all values that there is no room for.
const OTHER: &str = "other";

/// The values of a metric's labels, in the order of the table.
pub(crate) type Values = Box<[String]>;

/// One number, or many.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Count(u64),
    Level(i64),
    Spread(Spread),
}

/// How often something was at most so much.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spread {
    pub(crate) bounds: &'static [f64],
    /// For each bound, and for what lies beyond the last.
    pub(crate) counts: Box<[u64]>,
    pub(crate) sum: f64,
}

impl Spread {
    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// What a metric has, by the values of its labels.
pub(crate) type Series = BTreeMap<Values, Value>;

/// What was counted.
#[derive(Debug)]
pub(crate) struct Registry(Mutex<Vec<Series>>);

impl Default for Registry {
    fn default() -> Self {
        let mut series: Vec<Series> = METRICS.iter().map(|_| Series::new()).collect();
        // What has no labels is there from the start.
        for (metric, series) in METRICS.iter().zip(&mut series) {
            if metric.labels.is_empty() {
                series.insert(Box::default(), new(metric.kind));
            }
        }
        Self(Mutex::new(series))
    }
}

impl Registry {
    fn lock(&self) -> MutexGuard<'_, Vec<Series>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count(&self, id: Id, labels: &[&str], by: u64) {
        self.change(id, labels, |value| {
            if let Value::Count(count) = value {
                *count = count.saturating_add(by);
            }
        });
    }

    pub(crate) fn move_by(&self, id: Id, by: i64) {
        self.change(id, &[], |value| {
            if let Value::Level(level) = value {
                *level = level.saturating_add(by);
            }
        });
    }

    pub(crate) fn set(&self, id: Id, to: i64) {
        self.change(id, &[], |value| *value = Value::Level(to));
    }

    pub(crate) fn observe(&self, id: Id, labels: &[&str], number: f64) {
        self.change(id, labels, |value| {
            if let Value::Spread(spread) = value {
                let bucket = spread.bounds.iter().position(|bound| number <= *bound);
                spread.counts[bucket.unwrap_or(spread.bounds.len())] += 1;
                spread.sum += number;
            }
        });
    }

    fn change(&self, id: Id, labels: &[&str], change: impl FnOnce(&mut Value)) {
        let metric = id.metric();
        debug_assert_eq!(labels.len(), metric.labels.len(), "{}", metric.name);
        let mut all = self.lock();
        let series = &mut all[id as usize];
        let mut values: Values = labels.iter().map(|value| bounded(value)).collect();
        if series.len() >= MOST_SERIES && !series.contains_key(&values) {
            values.iter_mut().for_each(|value| OTHER.clone_into(value));
        }
        change(series.entry(values).or_insert_with(|| new(metric.kind)));
    }

    /// Everything, as it is now.
    pub(crate) fn snapshot(&self) -> Vec<Series> {
        self.lock().clone()
    }
}

fn new(kind: Kind) -> Value {
    match kind {
        Kind::Counter => Value::Count(0),
        Kind::Gauge => Value::Level(0),
        Kind::Histogram(bounds) => Value::Spread(Spread {
            bounds,
            counts: vec![0; bounds.len() + 1].into(),
            sum: 0.0,
        }),
    }
}

fn bounded(value: &str) -> String {
    value[..value.floor_char_boundary(LONGEST)].to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_there_is_no_room_for_is_told_together() {
        let registry = Registry::default();
        for number in 0..1_000 {
            let rule = format!("rules.toml:{number}");
            registry.count(Id::Verdicts, &["allow", "safe", &rule], 1);
        }
        let series = &registry.snapshot()[Id::Verdicts as usize];
        assert_eq!(series.len(), MOST_SERIES + 1);
        let other: Values = vec![OTHER.to_owned(); 3].into();
        let rest = u64::try_from(1_000 - MOST_SERIES).unwrap();
        assert_eq!(series[&other], Value::Count(rest));
        // Those that are known go on by themselves.
        registry.count(Id::Verdicts, &["allow", "safe", "rules.toml:0"], 1);
        let known: Values = ["allow", "safe", "rules.toml:0"].map(str::to_owned).into();
        assert_eq!(
            registry.snapshot()[Id::Verdicts as usize][&known],
            Value::Count(2)
        );
    }

    #[test]
    fn a_label_is_cut_between_characters() {
        let registry = Registry::default();
        registry.count(Id::Denials, &[&"é".repeat(100)], 1);
        let series = &registry.snapshot()[Id::Denials as usize];
        assert_eq!(series.keys().next().unwrap()[0], "é".repeat(60));
    }

    #[test]
    fn a_number_falls_into_the_first_bucket_that_holds_it() {
        let registry = Registry::default();
        for number in [0.001, 0.0011, 9_999.0] {
            registry.observe(Id::Turns, &[], number);
        }
        let all = registry.snapshot();
        let Value::Spread(spread) = &all[Id::Turns as usize][&Values::default()] else {
            panic!("a histogram");
        };
        assert_eq!(spread.counts[0], 1);
        assert_eq!(spread.counts[1], 1);
        assert_eq!(*spread.counts.last().unwrap(), 1);
        assert_eq!(spread.count(), 3);
    }
}
