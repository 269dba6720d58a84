//! What is left to whoever outlives the harness: which protected names are to be compared if it is
//! killed before it has done so itself.
//!
//! The harness tells before each run what stands at the names, and afterwards that it has compared
//! them. Both go to a socket that the warden keeps and does not read while all is well. When the
//! harness is gone, everything that ran is dead, and something was not compared, the warden does it.
//!
//! Git's set-up is not among it.

use std::io;
use std::os::fd::OwnedFd;

use ringfence_confine::descriptor;
use serde::{Deserialize, Serialize};

use crate::git::{Repair, set_aside};
use crate::names::{Names, NamesBefore};
use crate::standing::Standing;
use crate::startup::StartUp;
use crate::warden::protocol::{self, RawPath};
use crate::ways::Ways;

/// What is told.
#[derive(Debug, Serialize, Deserialize)]
enum Told {
    /// A run is about to begin, and this stands at its names, to which these are the ways.
    Before(NamesBefore, Vec<RawPath>),
    /// It has begun, and this was covered for it.
    Covered(Vec<Standing>),
    /// What it did has been compared.
    Compared,
}

/// The two ends for a run.
pub(crate) fn ends() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) = descriptor::socket_pair()?;
    // Neither side ever waits for the other.
    for end in [&ours, &theirs] {
        rustix::io::ioctl_fionbio(end, true)?;
    }
    Ok((ours, theirs))
}

/// The harness's end. Dropping it says that everything was compared: a harness that is killed does
/// not get to that.
#[derive(Debug)]
pub(crate) struct Testator(OwnedFd);

impl Testator {
    /// Tells of a run that is about to begin.
    pub(crate) fn before(to: OwnedFd, names: &Names, start_up: &StartUp, ways: &Ways) -> Self {
        let testator = Self(to);
        let names = names.before(start_up.absent());
        testator.tell(&Told::Before(names, ways.told()));
        testator
    }

    /// Tells what was covered for it.
    pub(crate) fn covered(&self, covered: &[Standing]) {
        self.tell(&Told::Covered(covered.to_vec()));
    }

    /// A warden that is gone compares nothing, and the harness lives.
    fn tell(&self, told: &Told) {
        let _ = protocol::send(&self.0, told, &[]);
    }
}

impl Drop for Testator {
    fn drop(&mut self) {
        self.tell(&Told::Compared);
    }
}

/// The warden's end.
#[derive(Debug)]
pub(crate) struct Testament {
    told: OwnedFd,
    before: Option<(NamesBefore, Vec<RawPath>)>,
    covered: Vec<Standing>,
}

impl Testament {
    pub(crate) fn new(told: OwnedFd) -> Self {
        Self {
            told,
            before: None,
            covered: Vec::new(),
        }
    }

    /// Reads what has been told. Nothing is left of it once the harness has compared.
    fn read(&mut self) {
        while let Ok(Some((told, _))) = protocol::receive::<Told>(&self.told) {
            match told {
                Told::Before(names, ways) => self.before = Some((names, ways)),
                Told::Covered(nodes) => self.covered = nodes,
                Told::Compared => self.before = None,
            }
        }
    }
}

/// Testaments of runs that are over, until the harness has compared what they did. There are no more
/// than the harness has runs in hand.
#[derive(Debug, Default)]
pub(crate) struct Testaments(Vec<Testament>);

impl Testaments {
    /// Keeps that of a run that is over.
    pub(crate) fn keep(&mut self, testament: Testament) {
        self.0.push(testament);
        self.read();
    }

    /// What the harness has left to be compared, once it is gone.
    pub(crate) fn left(&mut self) -> Vec<Left> {
        self.read();
        let left = self.0.drain(..).filter_map(|testament| {
            let (names, ways) = testament.before?;
            Some(Left {
                names: Names::taken_up(names),
                ways: Ways::taken_up(&ways),
                covered: testament.covered,
            })
        });
        left.collect()
    }

    fn read(&mut self) {
        self.0.iter_mut().for_each(Testament::read);
        self.0.retain(|testament| testament.before.is_some());
    }
}

/// Names that nobody has compared.
#[derive(Debug)]
pub(crate) struct Left {
    names: Names,
    ways: Ways,
    covered: Vec<Standing>,
}

impl Left {
    /// Compares them, now that nothing runs any more. The caller is the user whom commands ran as.
    pub(crate) fn compare(&self) -> Vec<Repair> {
        let mut mended = self.ways.open(self.names.reach());
        let findings = self.names.findings(&self.covered);
        mended.extend(set_aside(self.names.reach(), &findings));
        mended
    }
}
