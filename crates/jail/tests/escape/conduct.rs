//! What every backend owes besides holding: sessions, terminals, signals, ends. And what a container
//! goes through: it is stopped, its engine is killed, its image is missing, the disk is full, the
//! harness is killed. Nothing may be left running.

use std::future::Future;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::time::Duration;

use ringfence_jail::{Input, Io, Jail, JailOptions, LaunchError, Output, Process};
use ringfence_policy::permissions::Network;
use ringfence_testkit::scratch::Scratch;
use tokio::io::{AsyncBufReadExt, AsyncReadExt};

use crate::Who;
use crate::fence::{Deed, Fence};
use crate::suite::Where;

/// A trial of conduct.
pub struct Conduct {
    pub name: &'static str,
    pub at: &'static [Where],
    pub who: &'static [Who],
    pub trial: Trial,
}

type Trial = fn(Fence) -> Pin<Box<dyn Future<Output = ()>>>;

const EVERYWHERE: &[Where] = &[
    Where::Native,
    Where::Bubblewrap,
    Where::Container,
    Where::Degraded,
];
const IN_A_CONTAINER: &[Where] = &[Where::Container];
/// Where names that do not exist are held.
const WITH_MARKS: &[Where] = &[Where::Native, Where::Bubblewrap, Where::Container];

macro_rules! conduct {
    ($name:ident, $at:expr) => {
        conduct!($name, $at, &[Who::Root, Who::User])
    };
    ($name:ident, $at:expr, $who:expr) => {
        Conduct {
            name: stringify!($name),
            at: $at,
            who: $who,
            trial: |fence| Box::pin($name(fence)),
        }
    };
}

/// Every trial.
pub const CONDUCTS: &[Conduct] = &[
    conduct!(
        a_session_is_shared,
        &[Where::Native, Where::Bubblewrap, Where::Container]
    ),
    conduct!(sockets_of_another_run_answer, EVERYWHERE),
    conduct!(what_is_left_running_is_told_and_ends, EVERYWHERE),
    conduct!(signals_and_terminals_work, EVERYWHERE),
    conduct!(mistakes_are_named, EVERYWHERE),
    conduct!(an_allow_list_is_held_or_refused, EVERYWHERE),
    conduct!(
        a_proxy_serves_its_own_run_alone,
        &[Where::Native, Where::Bubblewrap, Where::Container]
    ),
    conduct!(locks_taken_inside_are_in_nobodys_way, WITH_MARKS),
    conduct!(
        covers_that_are_replaced_are_of_no_use,
        &[Where::Native, Where::Bubblewrap]
    ),
    conduct!(
        what_can_be_read_is_true_for_every_run,
        &[Where::Native, Where::Bubblewrap]
    ),
    conduct!(names_that_somebody_frees_are_of_no_use, WITH_MARKS),
    // The end of a container may be faster than its warden.
    conduct!(
        names_that_a_killed_harness_leaves_are_of_no_use,
        &[Where::Native, Where::Bubblewrap]
    ),
    conduct!(names_that_somebody_fills_are_theirs, WITH_MARKS),
    conduct!(a_name_that_somebody_frees_is_held_again, WITH_MARKS),
    conduct!(a_container_that_is_stopped_is_replaced, IN_A_CONTAINER),
    conduct!(an_engine_that_is_killed_leaves_nothing, IN_A_CONTAINER),
    conduct!(a_missing_image_is_named, IN_A_CONTAINER),
    // It mounts small file systems.
    conduct!(a_full_disk_is_told, IN_A_CONTAINER, &[Who::Root]),
    conduct!(a_harness_that_is_killed_leaves_nothing, IN_A_CONTAINER),
];

/// Tries one here.
pub async fn try_here(conduct: &Conduct, situation: Where) {
    let fence = Fence::new(Scratch::new(), situation);
    (conduct.trial)(fence).await;
}

/// A harness with a command that does not end, for the one who kills it.
pub async fn be_a_harness(situation: Where, below: &str) {
    let fence = Fence::new(Scratch::below(below.as_ref()), situation);
    let (_process, line) = start(&fence, &endless("echo ready; exec sleep 1000")).await;
    println!("{line}");
    std::future::pending::<()>().await;
}

fn endless(text: &str) -> Vec<String> {
    ["bash", "-c", text].map(str::to_owned).to_vec()
}

/// Starts a command and reads its first line.
async fn start(fence: &Fence, argv: &[String]) -> (Process, String) {
    let permit = fence.permit(argv.to_vec());
    let launched = fence.jail.launch(permit, Io::Pipes(Input::Null)).await;
    let mut process = launched.expect("launch");
    let Some(Output::Pipes { stdout, .. }) = process.output.take() else {
        panic!("no pipes");
    };
    let mut lines = tokio::io::BufReader::new(stdout).lines();
    let line = lines.next_line().await.expect("read").expect("a line");
    // Somebody must read on.
    tokio::spawn(async move {
        let mut rest = Vec::new();
        let _ = lines.into_inner().read_to_end(&mut rest).await;
    });
    (process, line)
}

async fn a_session_is_shared(fence: Fence) {
    let mut serve = fence.where_.this_program();
    serve.extend(["__probe", "serve_once"].map(str::to_owned));
    let (server, line) = start(&fence, &serve).await;
    assert_eq!(line, "serving");
    let called = fence.run(Deed::Probe("call_once")).await.expect("launch");
    assert_eq!(
        (called.code, called.text.as_str()),
        (0, "hello from another run\n")
    );
    let mut server = server;
    assert_eq!(server.exited().await.expect("exit").code(), 0);
    let named = fence.run(Deed::Shell("echo $RINGFENCE_SANDBOX; cat /tmp/shared"));
    let expected = format!("{}\nkept\n", fence.where_.name());
    assert_eq!(named.await.expect("launch").text, expected);
}

async fn sockets_of_another_run_answer(fence: Fence) {
    let mut serve = fence.where_.this_program();
    serve.extend(["__probe", "serve_sockets"].map(str::to_owned));
    let (mut server, line) = start(&fence, &serve).await;
    assert_eq!(line, "serving");
    let called = fence.run(Deed::Probe("call_sockets")).await;
    let called = called.expect("launch");
    assert_eq!((called.code, called.text.as_str()), (0, ""));
    assert_eq!(server.exited().await.expect("exit").code(), 0);
}

async fn covers_that_are_replaced_are_of_no_use(fence: Fence) {
    crate::replaced::are_of_no_use(fence).await;
}

async fn what_can_be_read_is_true_for_every_run(fence: Fence) {
    crate::replaced::lists_are_true(fence).await;
}

async fn names_that_somebody_frees_are_of_no_use(fence: Fence) {
    crate::replaced::do_not_stay(fence).await;
}

async fn names_that_a_killed_harness_leaves_are_of_no_use(fence: Fence) {
    crate::replaced::do_not_stay_when_the_harness_is_killed(&fence);
}

async fn what_is_left_running_is_told_and_ends(fence: Fence) {
    let mark = format!("1000.{}", std::process::id());
    let script =
        format!("(setsid sleep {mark} > /dev/null 2>&1 &) ; exec > /dev/null; echo on >&2");
    let permit = fence.permit(endless(&script));
    let launched = fence.jail.launch(permit, Io::Pipes(Input::Null)).await;
    let mut process = launched.expect("launch");
    let exit = process.exited().await.expect("exit");
    assert_eq!(exit.code(), 0);
    let left: Vec<_> = exit.left_running.iter().map(|left| &left.command).collect();
    assert!(left.iter().any(|line| line.contains(&mark)), "{left:?}");
    process.kill().expect("kill");
    process.gone().await.expect("gone");
    assert_eq!(running(&mark), Vec::<String>::new());
}

async fn signals_and_terminals_work(fence: Fence) {
    let (mut process, _) = start(&fence, &endless("echo ready; exec sleep 1000")).await;
    process.signal(libc::SIGTERM).expect("signal");
    assert_eq!(
        process.exited().await.expect("exit").code(),
        128 + libc::SIGTERM
    );
    let seen = fence.run(Deed::ProbeOnTerminal("terminal_works")).await;
    let seen = seen.expect("launch");
    assert!(seen.code == 0 && seen.text.contains("TERMINAL"), "{seen:?}");
}

async fn mistakes_are_named(fence: Fence) {
    let permit = fence.permit(vec!["no-such-program".into()]);
    let error = fence.jail.launch(permit, Io::Pipes(Input::Null)).await;
    let error = error.map(|_| ()).expect_err("launched");
    assert_eq!(error.code(), "program_not_found", "{error}");
    let works = fence.run(Deed::Shell("echo on")).await.expect("launch");
    assert_eq!(works.text, "on\n");
}

async fn an_allow_list_is_held_or_refused(mut fence: Fence) {
    fence.sandbox.network = Network::AllowList;
    let asked = fence.run(Deed::Probe("ask_the_proxy")).await;
    if fence.where_ == Where::Degraded {
        let error = asked.expect_err("launched");
        assert_eq!(error.code(), "cannot_enforce", "{error}");
        return;
    }
    // Nobody is there to allow a host, so that none is.
    let asked = asked.expect("launch");
    assert!(asked.text.starts_with("HTTP/1.1 403"), "{asked:?}");
    // SAFETY: this process has a single thread that touches the environment.
    unsafe { std::env::set_var("TEST_PORT", "9") };
    let direct = fence.run(Deed::Probe("reach_out")).await.expect("launch");
    assert_ne!(direct.code, 0, "{direct:?}");
}

/// A run locks whatever it can open; others start and end, and nothing is left.
async fn locks_taken_inside_are_in_nobodys_way(fence: Fence) {
    let mut locker = fence.where_.this_program();
    locker.extend(["__probe", "lock_everything"].map(str::to_owned));
    let (mut process, line) = start(&fence, &locker).await;
    assert_eq!(line, "locked");
    let beside = Jail::open(fence.options()).expect("jail");
    let permit = fence.permit(endless("mkdir .vscode; echo ran"));
    let launched = beside.launch(permit, Io::Pipes(Input::Null)).await;
    let done = crate::fence::finish(launched.expect("launch")).await;
    assert!(done.text.contains("ran\n"), "{done:?}");
    drop(beside);
    assert!(fence.workspace().join(".vscode").is_dir());
    process.kill().expect("kill");
    process.gone().await.expect("gone");
    drop(process);
    let Fence { jail, scratch, .. } = fence;
    drop(jail);
    assert_eq!(names_in(&scratch.workspace()), Vec::<String>::new());
}

/// Somebody outside puts something into a name that is held: it stays, and cannot be changed inside.
async fn names_that_somebody_fills_are_theirs(fence: Fence) {
    let (process, _) = start(&fence, &endless("echo ready; exec sleep 1000")).await;
    let folder = fence.workspace().join(".vscode");
    std::fs::write(folder.join("settings.json"), "theirs").expect("a person's file");
    let deed =
        "cat .vscode/settings.json; echo x > .vscode/settings.json; echo x > .vscode/y; rm deed.sh";
    let tried = fence.run(Deed::Shell(deed)).await.expect("launch");
    assert!(tried.text.starts_with("theirs"), "{tried:?}");
    drop(process);
    let Fence { jail, scratch, .. } = fence;
    drop(jail);
    assert_eq!(names_in(&scratch.workspace()), [".vscode"]);
    assert_eq!(
        names_in(&scratch.workspace().join(".vscode")),
        ["settings.json"]
    );
    let kept = scratch.workspace().join(".vscode/settings.json");
    assert_eq!(std::fs::read_to_string(kept).expect("kept"), "theirs");
}

/// Somebody outside removes a name that is held: the next run does not get it.
async fn a_name_that_somebody_frees_is_held_again(fence: Fence) {
    let (process, _) = start(&fence, &endless("echo ready; exec sleep 1000")).await;
    std::fs::remove_dir(fence.workspace().join(".vscode")).expect("an empty folder");
    let deed = "mkdir .vscode; echo x > .vscode/x; mkdir other && echo other; rm -r deed.sh other";
    let tried = fence.run(Deed::Shell(deed)).await.expect("launch");
    assert!(tried.text.contains("other\n"), "{tried:?}");
    assert!(!fence.workspace().join(".vscode/x").exists(), "{tried:?}");
    drop(process);
    let Fence { jail, scratch, .. } = fence;
    drop(jail);
    assert_eq!(names_in(&scratch.workspace()), Vec::<String>::new());
}

fn names_in(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.collect()
}

async fn a_container_that_is_stopped_is_replaced(fence: Fence) {
    let (mut process, _) = start(&fence, &endless("echo ready; exec sleep 1000")).await;
    let name = container_of(std::process::id());
    assert!(podman(&["stop", &name]).0, "podman stop");
    let exit = tokio::time::timeout(Duration::from_secs(20), process.exited()).await;
    assert_eq!(exit.expect("in time").expect("exit").code(), 137);
    process.gone().await.expect("gone");
    let again = fence.run(Deed::Shell("echo again")).await.expect("launch");
    assert_eq!(again.text, "again\n");
    drop(fence);
    assert_eq!(containers_of(std::process::id()), Vec::<String>::new());
}

async fn an_engine_that_is_killed_leaves_nothing(fence: Fence) {
    let (mut process, _) = start(&fence, &endless("echo ready; exec sleep 1000")).await;
    let name = container_of(std::process::id());
    let (_, monitor) = podman(&["inspect", "--format", "{{.ConmonPidFile}}", &name]);
    let monitor = std::fs::read_to_string(monitor.trim()).expect("the monitor's id");
    kill(monitor.trim().parse().expect("a number"));
    // The run goes on without its engine, and so does the session.
    let more = fence.run(Deed::Shell("echo more")).await.expect("launch");
    assert_eq!(more.text, "more\n");
    process.kill().expect("kill");
    process.gone().await.expect("gone");
    drop(process);
    drop(fence);
    assert_eq!(containers_of(std::process::id()), Vec::<String>::new());
}

/// Why a command does not start in another jail.
async fn refused_launch(fence: &Fence, options: JailOptions) -> LaunchError {
    let permit = fence.permit(endless("echo ran"));
    let jail = Jail::open(options).expect("jail");
    let launched = jail.launch(permit, Io::Pipes(Input::Null)).await;
    launched.map(|_| ()).expect_err("launched")
}

async fn a_missing_image_is_named(fence: Fence) {
    let mut options = fence.options();
    options.container.image = "localhost/ringfence-no-such-image:1".into();
    let error = refused_launch(&fence, options).await;
    assert!(matches!(error, LaunchError::ImageMissing { .. }), "{error}");
    assert_eq!(error.code(), "container_image_missing");
    assert!(error.to_string().contains("podman pull"), "{error}");
    assert_eq!(containers_of(std::process::id()), Vec::<String>::new());
}

/// A workspace on a file system without room, and an engine whose own store has none.
async fn a_full_disk_is_told(mut fence: Fence) {
    let small = Mounted::at(fence.workspace().join("small"), "64k");
    let written = fence.run(Deed::Shell("dd if=/dev/zero of=small/file bs=64k count=9"));
    let written = written.await.expect("launch");
    assert!(written.text.contains("No space left"), "{written:?}");
    drop(small);
    let store = Mounted::at(fence.workspace().join("store"), "1m");
    let settings = format!(
        "[storage]\ndriver = \"vfs\"\ngraphroot = \"{0}/g\"\nrunroot = \"{0}/r\"\n",
        store.0.display()
    );
    let file = fence.workspace().join("storage.conf");
    std::fs::write(&file, settings).expect("settings");
    let before = std::env::var_os("CONTAINERS_STORAGE_CONF").expect("a store");
    // SAFETY: this process has a single thread that touches the environment.
    unsafe { std::env::set_var("CONTAINERS_STORAGE_CONF", &file) };
    std::fs::write(store.0.join("filler"), vec![0; 2 << 20]).expect_err("a full disk");
    let policy = &mut fence.sandbox;
    policy.protected_paths.clear();
    let error = refused_launch(&fence, fence.options()).await;
    // SAFETY: as above.
    unsafe { std::env::set_var("CONTAINERS_STORAGE_CONF", before) };
    assert!(error.to_string().contains("no space left"), "{error}");
    drop(store);
    let after = fence.run(Deed::Shell("echo after")).await.expect("launch");
    assert_eq!(after.text, "after\n");
}

async fn a_harness_that_is_killed_leaves_nothing(fence: Fence) {
    let this = std::env::current_exe().expect("this program");
    let below = fence.workspace();
    let mut harness = Command::new(this)
        .args(["__harness", fence.where_.name()])
        .arg(fence.workspace())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a harness");
    let mut line = String::new();
    let stdout = harness.stdout.take().expect("stdout");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    let first = first_of_container(harness.id());
    harness.kill().expect("kill");
    harness.wait().expect("wait");
    assert!(ends(&first), "the container's first process lives on");
    // The engine removes it a moment later; there is no event for that to wait for.
    let left = (0..100).find(|_| containers_of(harness.id()).is_empty());
    assert!(left.is_some(), "{:?}", containers_of(harness.id()));
    // Its marks go with it.
    let workspaces = names_in(&below)
        .into_iter()
        .map(|name| below.join(name).join("workspace"));
    for workspace in workspaces.filter(|folder| folder.is_dir()) {
        let gone = (0..100).find(|_| {
            // Asking the engine takes a moment.
            let _ = containers_of(harness.id());
            names_in(&workspace).is_empty()
        });
        assert!(gone.is_some(), "{:?}", names_in(&workspace));
    }
    // Nor is there anything else of it: the next session has nothing to sweep.
    let left = |place: &str| {
        let prefix = format!("ringfence-{}-{}-", namespace(), harness.id());
        let entries = std::fs::read_dir(place).expect("a folder").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with(&prefix)).count()
    };
    assert_eq!(left("/tmp"), 0);
}

/// A small file system, unmounted with this.
struct Mounted(std::path::PathBuf);

impl Mounted {
    fn at(place: std::path::PathBuf, size: &str) -> Self {
        std::fs::create_dir(&place).expect("a folder");
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(&place)
            .status();
        assert!(done.expect("mount").success());
        Self(place)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["-l"]).arg(&self.0).status();
    }
}

fn podman(arguments: &[&str]) -> (bool, String) {
    let output = Command::new("podman").args(arguments).output();
    let output = output.expect("podman");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success(), text)
}

fn namespace() -> u64 {
    std::fs::metadata("/proc/self/ns/pid")
        .expect("namespace")
        .ino()
}

/// The containers of a harness, running or not.
fn containers_of(pid: u32) -> Vec<String> {
    let filter = format!("name=ringfence-{}-{pid}-", namespace());
    let (_, names) = podman(&["ps", "--all", "--filter", &filter, "--format", "{{.Names}}"]);
    names.lines().map(str::to_owned).collect()
}

fn container_of(pid: u32) -> String {
    let found = containers_of(pid);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

/// The command lines that have a mark in them.
fn running(mark: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.starts_with("sleep") && line.contains(mark))
        .collect()
}

fn kill(pid: i32) {
    // SAFETY: kill takes numbers; this one is the monitor of our own container.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
}

/// The first process of a harness's container: its warden.
fn first_of_container(harness: u32) -> std::os::fd::OwnedFd {
    let name = container_of(harness);
    let (_, first) = podman(&["inspect", "--format", "{{.State.Pid}}", &name]);
    open_pid(first.trim().parse().expect("a number"))
}

pub fn open_pid(pid: i32) -> std::os::fd::OwnedFd {
    use std::os::fd::FromRawFd;
    // SAFETY: the call takes numbers and makes a descriptor that nobody else owns.
    unsafe {
        let opened = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        assert!(opened >= 0, "{}", std::io::Error::last_os_error());
        std::os::fd::OwnedFd::from_raw_fd(i32::try_from(opened).expect("a descriptor"))
    }
}

/// Whether a process ends, at most in twenty seconds.
pub fn ends(pidfd: &std::os::fd::OwnedFd) -> bool {
    use std::os::fd::AsRawFd;
    let mut polled = libc::pollfd {
        fd: pidfd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one entry, which outlives the call.
    unsafe { libc::poll(&raw mut polled, 1, 20_000) == 1 }
}

/// Two runs of a session with a proxy each: neither can use the other's.
async fn a_proxy_serves_its_own_run_alone(mut fence: Fence) {
    fence.sandbox.network = Network::AllowList;
    let script = "echo $http_proxy > proxy; echo ready; exec sleep 1000";
    let (other, line) = start(&fence, &endless(script)).await;
    assert_eq!(line, "ready");
    let asked = fence.run(Deed::Probe("ask_anothers_proxy")).await;
    let asked = asked.expect("launch");
    assert!(asked.code != 0 && !asked.text.contains("HTTP"), "{asked:?}");
    let own = fence.run(Deed::Probe("ask_the_proxy")).await;
    let own = own.expect("launch");
    assert!(own.text.starts_with("HTTP/1.1 403"), "{own:?}");
    // A run without a proxy can use none either.
    fence.sandbox.network = Network::Off;
    let asked = fence.run(Deed::Probe("ask_anothers_proxy")).await;
    let asked = asked.expect("launch");
    assert!(asked.code != 0 && !asked.text.contains("HTTP"), "{asked:?}");
    other.kill().expect("kill");
}
