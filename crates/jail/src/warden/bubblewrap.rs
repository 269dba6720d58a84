//! Stages of a bubblewrap world. Outside, a stage works out its view as arguments, holds
//! marks, and becomes `bwrap`. Inside, this program goes on as the first process of what
//! `bwrap` has made.

use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use ringfence_confine::cgroup::{Controls, Handed};
use ringfence_confine::process;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::mark::Ledger;

use super::STAGE_ARGUMENT;
use super::bounds::Means;
use super::protection::{Depth, Hand, Protection};
use super::protocol::{
    self, Boot, Enclosure, Failure, Fence, Identity, Launch, RawPath, RunFolder, Step, Tmp, World,
};
use super::stage::{self, Stage};
use super::view::{NOT_FOR_WRITING, shown};
use super::world::{self, DEV, SHUT_FILE, SHUT_FOLDER, TMP, VOID};

/// What goes from a stage outside to itself inside. Descriptors keep their numbers.
#[derive(Debug, Serialize, Deserialize)]
struct Package {
    identity: Identity,
    enclosure: Enclosure,
    launch: Launch,
    harness: RawFd,
    standard: Vec<RawFd>,
    /// `/proc/sys/kernel`, as it can be written outside.
    kernel: RawFd,
    /// The controls of the run's control group.
    controls: Handed,
    outlet_port: Option<u16>,
    /// The session's roll of sockets, and when it began.
    roll: RawFd,
    began: i64,
}

/// Whether `bwrap` works in here, tried before anything depends on it.
pub(super) fn try_out(bwrap: &RawPath) -> Result<(), Failure> {
    let failed = |error: &io::Error, said: &str| {
        Failure::new(Step::Bubblewrap, error, format!("bubblewrap: {said}"))
    };
    let output = Command::new(bwrap.to_path())
        .args(base())
        // Itself, which is there whatever else is not.
        .args(["--", "/proc/self/exe", "--version"])
        .output()
        .map_err(|error| failed(&error, "bwrap cannot be run"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let error = io::Error::from_raw_os_error(libc::EPERM);
    Err(failed(&error, said.trim()))
}

/// The arguments that every run has.
fn base() -> Vec<&'static OsStr> {
    let mut arguments = vec!["--unshare-pid", "--as-pid-1", "--die-with-parent"];
    if !rustix::process::geteuid().is_root() {
        arguments.push("--unshare-user");
    }
    arguments.extend(["--ro-bind", "/", "/", "--dev-bind", DEV, "/dev"]);
    arguments.extend(["--proc", "/proc", "--chdir", "/"]);
    arguments.into_iter().map(OsStr::new).collect()
}

/// Turns the calling stage into `bwrap`. Returns only what went wrong.
pub(super) fn become_bwrap(
    bwrap: &RawPath,
    stage: &Stage<'_>,
    launch: Launch,
    descriptors: &[OwnedFd],
    ledger: &Ledger<'_>,
) -> Failure {
    let ready = || -> Result<(CString, Vec<CString>, Vec<OwnedFd>), Failure> {
        let failed = |error: io::Error| Failure::new(Step::Prepare, &error, "bubblewrap");
        let harness = stage.harness;
        let mut view = Arguments::new();
        let mut kept = match &stage.enclosure.fence {
            Some(fence) => view.paint(fence, ledger)?,
            None => Vec::new(),
        };
        let kernel = open("/proc/sys/kernel", OFlags::PATH).map_err(failed)?;
        let program = open("/proc/self/exe", OFlags::RDONLY).map_err(failed)?;
        let (standard, complaints) = descriptors.split_at(descriptors.len().saturating_sub(1));
        let package = Package {
            identity: stage.workshop.identity.clone(),
            enclosure: stage.enclosure.clone(),
            launch,
            harness: harness.as_raw_fd(),
            standard: standard.iter().map(AsRawFd::as_raw_fd).collect(),
            kernel: kernel.as_raw_fd(),
            controls: stage.means.controls.hand_over().map_err(failed)?,
            outlet_port: stage.outlet_port,
            roll: stage.workshop.roll.as_raw_fd(),
            began: stage.workshop.began,
        };
        let package = postcard::to_stdvec(&package)
            .map_err(io::Error::other)
            .and_then(|bytes| protocol::file_of(&bytes))
            .map_err(failed)?;
        let list = protocol::file_of(&view.list()).map_err(failed)?;
        let number = |descriptor: &OwnedFd| descriptor.as_raw_fd().to_string();
        let words = [
            bwrap.to_path().into_os_string(),
            "--args".into(),
            number(&list).into(),
            "--".into(),
            format!("/proc/self/fd/{}", number(&program)).into(),
            STAGE_ARGUMENT.into(),
            number(&package).into(),
        ];
        if let Some(complaints) = complaints.first() {
            ringfence_confine::descriptor::place(complaints, 2).map_err(failed)?;
        }
        kept.extend([kernel, program, package, list]);
        let inherited = kept.iter().chain(standard).chain([harness]);
        let roll = stage.workshop.roll.as_fd();
        for descriptor in inherited.map(AsFd::as_fd).chain([roll]) {
            rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::empty())
                .map_err(|error| failed(error.into()))?;
        }
        let words: Vec<CString> = words
            .iter()
            .map(|word| CString::new(word.as_bytes()))
            .collect::<Result<_, _>>()
            .map_err(|error| failed(error.into()))?;
        Ok((words[0].clone(), words, kept))
    };
    match ready() {
        Ok((program, words, _kept)) => {
            let error = process::exec(&program, &words, &[]);
            Failure::new(Step::Bubblewrap, &error, "bubblewrap: bwrap cannot be run")
        }
        Err(failure) => failure,
    }
}

fn open(path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(
        path,
        flags | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

/// Goes on inside. Never returns.
pub(crate) fn serve_inside(package: Option<&OsStr>) -> ! {
    let code = match enter(package) {
        Ok(()) => 0,
        Err(_) => 1,
    };
    process::exit_now(code)
}

fn enter(package: Option<&OsStr>) -> io::Result<()> {
    let number = package
        .and_then(OsStr::to_str)
        .and_then(|number| number.parse::<RawFd>().ok())
        .ok_or(io::ErrorKind::InvalidInput)?;
    let package: Package =
        postcard::from_bytes(&protocol::read_file(&take(number))?).map_err(io::Error::other)?;
    let mut workshop = world::make(&Boot {
        world: World::BubblewrapRun,
        identity: package.identity,
        run_folder: RunFolder::default(),
        marks: None,
        workspace: RawPath::default(),
        harness: 0,
    })
    .map_err(|failure| io::Error::from_raw_os_error(failure.errno))?;
    workshop.roll = take(package.roll).into();
    workshop.began = package.began;
    let harness = take(package.harness);
    let standard = package.standard.into_iter().map(take).collect();
    let kernel = take(package.kernel);
    #[allow(unsafe_code)]
    // SAFETY: the stage outside handed these over to us alone.
    let controls = unsafe { Controls::taken_over(package.controls) };
    let means = Means {
        controls: &controls,
        kernel: Some(&kernel),
    };
    let stage = Stage {
        workshop: &workshop,
        harness: &harness,
        enclosure: &package.enclosure,
        outlet_port: package.outlet_port,
        means,
    };
    stage::run_inside(&stage, package.launch, standard)
}

/// A descriptor that came with the program.
#[allow(unsafe_code)]
fn take(number: RawFd) -> OwnedFd {
    // SAFETY: the stage outside left these numbers open for us alone, and each is taken once.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    let _ = rustix::io::fcntl_setfd(&descriptor, rustix::io::FdFlags::CLOEXEC);
    descriptor
}

/// A view, as arguments of `bwrap`.
struct Arguments {
    words: Vec<Vec<u8>>,
    /// What is replaced inside: a path below one of these means something else there.
    covered: Vec<PathBuf>,
}

impl Arguments {
    fn new() -> Self {
        Self {
            words: base().iter().map(|word| word.as_bytes().to_vec()).collect(),
            covered: ["/dev", "/proc", "/run"].map(PathBuf::from).to_vec(),
        }
    }

    fn push(&mut self, option: &str, operands: &[&Path]) {
        self.words.push(option.as_bytes().to_vec());
        let operands = operands.iter().map(|path| path.as_os_str().as_bytes());
        self.words.extend(operands.map(<[u8]>::to_vec));
    }

    /// The arguments as `--args` reads them.
    fn list(&self) -> Vec<u8> {
        self.words
            .iter()
            .flat_map(|word| word.iter().copied().chain([0]))
            .collect()
    }

    /// The whole view, in the order in which `view` puts it together from mounts.
    fn paint(&mut self, fence: &Fence, ledger: &Ledger<'_>) -> Result<Vec<OwnedFd>, Failure> {
        let roots = roots(fence)?;
        let cache = fence.cache.as_ref().map(RawPath::to_path);
        match fence.tmp {
            Tmp::SessionReadOnly if fence.seen_in_tmp.is_empty() => {
                self.push("--ro-bind", &[Path::new(TMP), Path::new("/tmp")]);
            }
            // Places for what is seen in one that is only read have to be made first.
            Tmp::Session | Tmp::SessionReadOnly => {
                self.push("--bind", &[Path::new(TMP), Path::new("/tmp")]);
            }
            Tmp::Machine => {}
        }
        for folder in fence.seen_in_tmp.iter().map(RawPath::to_path) {
            self.push("--ro-bind", &[&folder, &folder]);
        }
        if fence.tmp == Tmp::SessionReadOnly && !fence.seen_in_tmp.is_empty() {
            self.push("--remount-ro", &[Path::new("/tmp")]);
        }
        if fence.tmp != Tmp::Machine {
            self.covered.push("/tmp".into());
        }
        let denied: Vec<PathBuf> = fence
            .denied
            .iter()
            // What cannot be reached cannot be read; a link is followed, as reading would.
            .filter_map(|path| path.to_path().canonicalize().ok())
            .collect();
        let (around, plain): (Vec<_>, Vec<_>) = denied.into_iter().partition(|path| {
            roots
                .iter()
                .chain(&cache)
                .any(|root| root != path && root.starts_with(path))
        });
        for path in around {
            self.push("--tmpfs", &[&path]);
            self.covered.push(path);
        }
        let ways: Vec<PathBuf> = fence.ways_in_tmp.iter().map(RawPath::to_path).collect();
        for way in &ways {
            self.push("--tmpfs", &[way]);
        }
        for root in &roots {
            self.push("--bind", &[root, root]);
        }
        for way in &ways {
            self.push("--remount-ro", &[way]);
        }
        let mut protection = Protection::new(roots.clone(), fence, ledger);
        protection.apply(self)?;
        for path in &plain {
            if self.is_in_sight(path, &roots) {
                let cover = if path.is_dir() {
                    SHUT_FOLDER
                } else {
                    SHUT_FILE
                };
                self.push("--ro-bind", &[Path::new(cover), path]);
            }
        }
        if let Some(cache) = &cache {
            self.push("--bind", &[cache, cache]);
        }
        self.push("--ro-bind", &[Path::new(VOID), Path::new(world::WORKSHOP)]);
        Ok(protection.into_locks())
    }

    fn is_in_sight(&self, path: &Path, roots: &[PathBuf]) -> bool {
        roots.iter().any(|root| path.starts_with(root))
            || !self.covered.iter().any(|cover| path.starts_with(cover))
    }
}

impl Hand for Arguments {
    /// What `bwrap` has covered is watched from inside.
    fn enter(&mut self, _: &Path, _: Depth) -> io::Result<()> {
        Ok(())
    }

    fn hide(&mut self, path: &Path, place: &OwnedFd) -> io::Result<()> {
        // The denied paths follow later, all of them.
        self.freeze(path, place)
    }

    fn pin(&mut self, path: &Path, _: &OwnedFd) -> io::Result<()> {
        self.push("--bind", &[path, path]);
        Ok(())
    }

    fn freeze(&mut self, path: &Path, _: &OwnedFd) -> io::Result<()> {
        self.push("--ro-bind", &[path, path]);
        Ok(())
    }
}

/// The writable roots, outer ones first.
fn roots(fence: &Fence) -> Result<Vec<PathBuf>, Failure> {
    let mut roots: Vec<PathBuf> = fence.writable.iter().map(RawPath::to_path).collect();
    roots.sort();
    roots.dedup();
    for root in &roots {
        let reserved = NOT_FOR_WRITING.iter().any(|own| root == Path::new(own));
        let found = fs::symlink_metadata(root);
        let error = match found {
            Ok(_) if !reserved => continue,
            Ok(_) => io::Error::from_raw_os_error(libc::EINVAL),
            Err(error) => error,
        };
        return Err(Failure::new(Step::WritableRoot, &error, shown(root)));
    }
    Ok(roots)
}
