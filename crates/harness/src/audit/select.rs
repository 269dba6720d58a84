//! The records of the calls that somebody wants to see.
//!
//! A call is its questions, its intent and its outcome, in this order, among the records of others. What
//! comes before the record that decides about a call is held back until then. Of most lines only the
//! beginnings of a few fields are read, so that a log of a million records takes a second or two.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;

use memchr::memmem::Finder;
use serde::Deserialize;
use std::borrow::Cow;

use super::clock::Timestamp;
use super::filter::Filter;
use super::read::{Entry, Lines, ReadError};
use super::record::Record;

/// The records of an audit directory that a filter wants.
pub fn select(dir: &Path, filter: Filter) -> Result<Selection, ReadError> {
    let lines = Lines::of(dir)?;
    let lines = match filter.since {
        Some(since) => lines.written_since(since),
        None => lines,
    };
    Ok(Selection {
        lines,
        needles: filter.needles(),
        filter,
        held_back: HashMap::new(),
        wanted: HashSet::new(),
        ready: VecDeque::new(),
    })
}

/// Which call a record belongs to.
type CallKey = (String, String);

/// The records that a filter wants, one at a time. A bad line is reported and the reading goes on.
#[derive(Debug)]
pub struct Selection {
    lines: Lines,
    filter: Filter,
    needles: Vec<Finder<'static>>,
    /// Records of calls that are not decided about.
    held_back: HashMap<CallKey, Vec<Entry>>,
    /// Calls of which everything is wanted.
    wanted: HashSet<CallKey>,
    ready: VecDeque<Entry>,
}

/// What of a line decides whether the rest is read.
#[derive(Deserialize)]
struct Sketch<'a> {
    at: Timestamp,
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow)]
    session: Cow<'a, str>,
    #[serde(borrow)]
    call: Option<Cow<'a, str>>,
}

impl Iterator for Selection {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Some(Ok(entry));
            }
            match self.lines.advance()? {
                Ok(()) => {
                    if let Err(error) = self.take() {
                        return Some(Err(error));
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Selection {
    /// Takes in a line: what is decided by it becomes ready.
    fn take(&mut self) -> Result<(), ReadError> {
        let Ok(sketch) = serde_json::from_slice::<Sketch<'_>>(self.lines.bytes()) else {
            // The whole reading says what is wrong with it.
            return self.lines.entry().map(|entry| self.ready.push_back(entry));
        };
        let is_session = |wanted: &String| *wanted == sketch.session;
        if !self.filter.covers(sketch.at) || !self.filter.session.as_ref().is_none_or(is_session) {
            return Ok(());
        }
        let Some(call) = sketch.call else {
            if !self.filter.is_about_calls() {
                self.ready.push_back(self.lines.entry()?);
            }
            return Ok(());
        };
        if !self.filter.is_about_calls() {
            self.ready.push_back(self.lines.entry()?);
            return Ok(());
        }
        let key = (sketch.session.into_owned(), call.into_owned());
        if self.wanted.contains(&key) {
            self.ready.push_back(self.lines.entry()?);
            return Ok(());
        }
        match &*sketch.event {
            "intent" => self.decide_by_intent(key),
            "outcome" => self.decide_by_outcome(key),
            _ => {
                let entry = self.lines.entry()?;
                self.held_back.entry(key).or_default().push(entry);
                Ok(())
            }
        }
    }

    fn decide_by_intent(&mut self, key: CallKey) -> Result<(), ReadError> {
        let bytes = self.lines.bytes();
        if self
            .needles
            .iter()
            .any(|needle| needle.find(bytes).is_none())
        {
            self.held_back.remove(&key);
            return Ok(());
        }
        let entry = self.lines.entry()?;
        let Record::Intent(intent) = &entry.record else {
            return Ok(());
        };
        if !self.filter.takes(intent) {
            self.held_back.remove(&key);
            return Ok(());
        }
        let mut records = self.held_back.remove(&key).unwrap_or_default();
        records.push(entry);
        if self.filter.outcome.is_some() {
            self.held_back.insert(key, records);
        } else {
            self.ready.extend(records);
            self.wanted.insert(key);
        }
        Ok(())
    }

    fn decide_by_outcome(&mut self, key: CallKey) -> Result<(), ReadError> {
        // The intent of one that waits for its outcome is wanted; of another nothing is held back.
        let Some(records) = self.held_back.remove(&key) else {
            return Ok(());
        };
        let entry = self.lines.entry()?;
        let is_wanted = match &entry.record {
            Record::Outcome(ended) => self.filter.outcome == Some(ended.outcome),
            _ => false,
        };
        if is_wanted {
            self.ready.extend(records);
            self.ready.push_back(entry);
            self.wanted.insert(key);
        }
        Ok(())
    }
}
