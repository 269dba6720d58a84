//! Several at once in one folder, people who come by meanwhile, and what a power failure left.

use std::io::{BufRead, BufReader, Lines};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command};

use ringfence_testkit::require;

use crate::program::Place;
use crate::trace::processes_of;
use ringfence_testkit::processes::{empty_within_a_second, none_within_a_second};

/// A run that waits to be told to go on, and then tries to make a name that is held.
struct Waiting {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    go: std::path::PathBuf,
}

const DEED: &str = "echo up; read -r x < \"$1\"
mkdir .vscode 2>/dev/null && echo MADE; (echo x > .vscode/x) 2>/dev/null && echo FILLED
mv .vscode aside 2>/dev/null && echo MOVED; mkdir -p .git/hooks 2>/dev/null; (echo x > .git/hooks/x) 2>/dev/null && echo HOOKED
echo done";

impl Waiting {
    fn start(place: &Place, number: usize) -> Self {
        let go = place.outside().join(format!("go{number}"));
        let mode = rustix::fs::Mode::from_raw_mode(0o666);
        rustix::fs::mknodat(rustix::fs::CWD, &go, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        // One each: a shell may be reading another's.
        let deed = place.outside().join(format!("deed{number}.sh"));
        std::fs::write(&deed, DEED).unwrap();
        let words = [deed.to_str().unwrap(), go.to_str().unwrap()];
        let mut child = place.spawn(&["run", "--", "sh", words[0], words[1]]);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines, go }
    }

    fn is_up(&mut self) {
        let Some(line) = self.lines.next() else {
            let mut said = String::new();
            let stderr = self.child.stderr.as_mut().unwrap();
            std::io::Read::read_to_string(stderr, &mut said).unwrap();
            panic!("it did not come up: {said}");
        };
        assert_eq!(line.unwrap(), "up");
    }

    /// Lets it go on to its end: what it says, and its exit code.
    fn end(mut self) -> (Vec<String>, Option<i32>) {
        std::fs::write(&self.go, "go\n").unwrap();
        let said = self.lines.by_ref().map(Result::unwrap).collect();
        (said, self.child.wait().unwrap().code())
    }
}

impl Drop for Waiting {
    /// A test that fails leaves nothing running either.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn eight_at_once_come_and_go_in_any_order() {
    let place = Place::new();
    let mut runs: Vec<_> = (0..8)
        .map(|number| Waiting::start(&place, number))
        .collect();
    runs.iter_mut().for_each(Waiting::is_up);
    let held = ["done".to_owned()];
    // The first to come, who made the names, goes first; another is killed.
    let first = runs.remove(0).end();
    assert_eq!(first, (held.to_vec(), Some(0)));
    let mut killed = runs.remove(3);
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    for order in [5, 0, 2, 1] {
        assert_eq!(runs.remove(order).end(), (held.to_vec(), Some(0)));
        assert!(place.work().join(".vscode").is_dir());
    }
    // One more comes while the last ones are there.
    let mut late = Waiting::start(&place, 8);
    late.is_up();
    for run in runs {
        assert_eq!(run.end(), (held.to_vec(), Some(0)));
    }
    assert!(place.work().join(".vscode").is_dir());
    assert_eq!(late.end(), (held.to_vec(), Some(0)));
    assert_eq!(empty_within_a_second(&place.work()), Ok(()));
}

#[test]
fn a_warden_that_is_killed_disturbs_no_other_and_is_tidied_up_after() {
    let place = Place::new();
    let (mut one, mut other) = (Waiting::start(&place, 0), Waiting::start(&place, 1));
    one.is_up();
    other.is_up();
    kill_the_warden_of(&one.child);
    one.child.wait().unwrap();
    assert_eq!(other.end(), (vec!["done".to_owned()], Some(0)));
    assert_eq!(empty_within_a_second(&place.work()), Ok(()));
    // By itself, it is the harness that does it.
    let mut alone = Waiting::start(&place, 2);
    alone.is_up();
    kill_the_warden_of(&alone.child);
    alone.child.wait().unwrap();
    assert_eq!(empty_within_a_second(&place.work()), Ok(()));
}

fn kill_the_warden_of(harness: &Child) {
    let pid = harness.id();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let mut kill = Command::new("kill");
    let killed = kill.arg("-9").args(children.split_whitespace()).status();
    assert!(killed.unwrap().success());
}

#[test]
fn eight_start_at_the_same_moment_over_and_over() {
    let place = Place::new();
    for round in 0..6 {
        let runs: Vec<_> = (0..8)
            .map(|_| place.spawn(&["run", "--", "true"]))
            .collect();
        for run in runs {
            let ran = run.wait_with_output().unwrap();
            assert!(ran.status.success(), "round {round}: {ran:?}");
        }
        assert_eq!(empty_within_a_second(&place.work()), Ok(()));
    }
}

#[test]
fn people_can_have_the_names_meanwhile() {
    let place = Place::new();
    let mut run = Waiting::start(&place, 0);
    run.is_up();
    let outside = |program: &str, arguments: &[&str]| {
        let ran = Command::new(program)
            .args(arguments)
            .current_dir(place.work())
            .output()
            .unwrap();
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8_lossy(&ran.stdout).into_owned()
    };
    outside("git", &["init", "-q"]);
    // Git takes no notice of the others.
    assert_eq!(outside("git", &["status", "--porcelain"]), "");
    outside("mkdir", &["-p", ".vscode"]);
    outside("sh", &["-c", "echo '{}' > .vscode/settings.json"]);
    let told = place.output(&["status"]);
    let pid = run.child.id();
    assert!(
        told.stdout.contains(&format!("process {pid}, for ")),
        "{told:?}"
    );
    assert!(told.stdout.contains("  holds .idea\n"), "{told:?}");
    assert!(!told.stdout.contains("  holds .git\n"), "{told:?}");
    let told: serde_json::Value =
        serde_json::from_str(&place.output(&["status", "--json"]).stdout).unwrap();
    let work = place.work().display().to_string();
    assert_eq!(told["sessions"][0]["workspace"], work.as_str(), "{told:#}");
    assert_eq!(told["sessions"][0]["pid"], pid, "{told:#}");
    assert_eq!(run.end(), (vec!["done".to_owned()], Some(0)));
    let mut names: Vec<_> = std::fs::read_dir(place.work())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, [".git", ".vscode"]);
    assert!(place.work().join(".git/HEAD").is_file());
    assert_eq!(place.output(&["status"]).stdout, "no session is open\n");
}

/// An empty folder with the time that marks have.
fn mark(path: &Path) {
    std::fs::create_dir(path).unwrap();
    let made = Command::new("touch")
        .args(["-m", "-d", "@1380535878.314159"])
        .arg(path)
        .status();
    assert!(made.unwrap().success());
    assert_eq!(std::fs::metadata(path).unwrap().mtime_nsec(), 314_159_000);
}

#[test]
fn what_a_power_failure_left_is_swept() {
    let place = Place::new();
    // One that was written down, elsewhere.
    let elsewhere = place.outside().join(".vscode");
    mark(&elsewhere);
    let registry = place.home().join(".local/state/ringfence/marks");
    std::fs::create_dir_all(&registry).unwrap();
    let line = format!("{}\0", elsewhere.display());
    std::fs::write(registry.join("root-0123456789abcdef"), line).unwrap();
    // Some that were not, and one of the old kind.
    mark(&place.work().join(".git"));
    mark(&place.work().join(".mcp.json"));
    let old = place.work().join(".idea");
    let (kind, mode) = (
        rustix::fs::FileType::Socket,
        rustix::fs::Mode::from_raw_mode(0o1000),
    );
    rustix::fs::mknodat(rustix::fs::CWD, &old, kind, mode, 0).unwrap();
    // One that cannot be read, and something that only looks like one.
    mark(&place.work().join(".codex"));
    let shut = std::os::unix::fs::PermissionsExt::from_mode(0o000);
    std::fs::set_permissions(place.work().join(".codex"), shut).unwrap();
    mark(&place.work().join("mine"));
    let ran = place.output(&["run", "--", "true"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let names: Vec<_> = std::fs::read_dir(place.work())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["mine"]);
    assert!(!elsewhere.exists());
}

#[test]
fn a_configuration_that_is_a_mark_is_absent() {
    let place = Place::new();
    mark(&place.work().join(".ringfence"));
    assert_eq!(place.output(&["run", "--", "true"]).code, Some(0));
    assert_eq!(empty_within_a_second(&place.work()), Ok(()));
    std::fs::create_dir(place.work().join(".ringfence")).unwrap();
    mark(&place.work().join(".ringfence/rules.toml"));
    mark(&place.work().join(".ringfence/config.toml"));
    let ran = place.output(&["run", "--", "true"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let old = place.work().join(".ringfence");
    std::fs::remove_dir_all(&old).unwrap();
    let (kind, mode) = (
        rustix::fs::FileType::Socket,
        rustix::fs::Mode::from_raw_mode(0o1000),
    );
    rustix::fs::mknodat(rustix::fs::CWD, &old, kind, mode, 0).unwrap();
    let ran = place.output(&["run", "--", "true"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn a_time_limit_of_the_shells_leaves_nothing() {
    if !require::has_program("timeout") {
        require::missing("timeout", "not installed");
        return;
    }
    let place = Place::new();
    for signal in ["TERM", "KILL"] {
        let plain = place.ringfence(&["run", "--", "sleep", "100"]);
        let mut command = Command::new("timeout");
        command.args(["-s", signal, "1", crate::program::RINGFENCE]);
        command
            .args(plain.get_args())
            .current_dir(place.work())
            .env_clear();
        command.envs(
            plain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        command.output().unwrap();
        assert_eq!(empty_within_a_second(&place.work()), Ok(()));
        assert_eq!(none_within_a_second(|| processes_of(&place)), Ok(()));
    }
}
