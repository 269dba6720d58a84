//! A header that the proxy adds: its secret reaches the host, and is in nothing that the fence
//! holds or that is kept. The same search finds a secret that is handed in on purpose.

#![allow(clippy::unwrap_used)]

mod program;
mod world;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use world::World;

const SECRET: &str = "s3cret-value-that-never-enters";
/// Matches the secret and does not contain it.
const PATTERN: &str = "s3cret-value[-]that-never-enter[s]";
const SCRIPT: &str = include_str!("world/search.py");

/// What a search said.
#[derive(Debug)]
struct Search {
    page: Option<String>,
    found: BTreeSet<String>,
    looked: String,
}

impl Search {
    fn read(lines: impl Iterator<Item = String>) -> Self {
        let mut search = Self {
            page: None,
            found: BTreeSet::new(),
            looked: String::new(),
        };
        for line in lines {
            match line.split_once(' ') {
                Some(("page", page)) => search.page = Some(page.to_owned()),
                Some(("found", place)) => drop(search.found.insert(place.to_owned())),
                Some(("looked", looked)) => looked.clone_into(&mut search.looked),
                _ if line == "done" => return search,
                _ => panic!("{line}"),
            }
        }
        panic!("the search did not end: {search:?}");
    }

    fn found(&self) -> Vec<&str> {
        self.found.iter().map(String::as_str).collect()
    }
}

/// The same search, in the fence and around it, while the command that made the request lives.
struct Both {
    inside: Search,
    /// The processes of the fence, its first one among them.
    fence: Search,
    /// The processes between ringfence and the fence.
    between: Search,
    /// Ringfence itself, which adds the header.
    ringfence: Search,
}

/// The processes below one, and whether each is in a PID namespace of its own.
fn below(top: u32) -> Vec<(u32, bool)> {
    let namespace = |pid: u32| fs::metadata(format!("/proc/{pid}/ns/pid")).map(|found| found.ino());
    let own = namespace(std::process::id()).unwrap();
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc").unwrap() {
        let name = entry.unwrap().file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(text) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
            continue;
        };
        let behind_name = text.rsplit_once(") ").unwrap().1;
        let parent: u32 = behind_name.split(' ').nth(1).unwrap().parse().unwrap();
        parents.push((pid, parent));
    }
    let mut known = vec![top];
    let mut at = 0;
    while at < known.len() {
        let of = known[at];
        known.extend(
            parents
                .iter()
                .filter(|pair| pair.1 == of)
                .map(|pair| pair.0),
        );
        at += 1;
    }
    known[1..]
        .iter()
        .filter_map(|pid| Some((*pid, namespace(*pid).ok()? != own)))
        .collect()
}

fn outside(pids: &[u32]) -> Search {
    let ran = Command::new("python3")
        .args(["-c", SCRIPT, "outside", PATTERN])
        .args(pids.iter().map(u32::to_string))
        .output()
        .unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    Search::read(text.lines().map(str::to_owned))
}

/// Runs the search in the fence, with more arguments that it ignores, and around it.
fn search(world: &World, url: &str, arguments: &[&str]) -> Both {
    fs::write(world.place.work().join("search.py"), SCRIPT).unwrap();
    let mut all = vec!["run", "--", "python3", "search.py", "inside", PATTERN, url];
    all.extend(arguments);
    let mut child = world
        .ringfence(&all)
        .env("API_THING", SECRET)
        .env("SSL_CERT_FILE", world.authority())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let inside = Search::read(lines.map(Result::unwrap));
    let (fence, between): (Vec<_>, Vec<_>) = below(child.id()).into_iter().partition(|one| one.1);
    let pids = |of: &[(u32, bool)]| of.iter().map(|one| one.0).collect::<Vec<_>>();
    // The first process of the namespace and the command, at least.
    assert!(fence.len() >= 2, "{fence:?}");
    assert!(!between.is_empty(), "the warden is a process of its own");
    let both = Both {
        inside,
        fence: outside(&pids(&fence)),
        between: outside(&pids(&between)),
        ringfence: outside(&[child.id()]),
    };
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    both
}

fn configure(world: &World, tls: bool, more: &str) {
    let config = world.place.home().join(".config/ringfence");
    fs::create_dir_all(&config).unwrap();
    let text = format!(
        "[sandbox]\nnetwork = \"allow-list\"\n[approval]\npolicy = \"never\"\n\
         [network]\nallow = [\"*.test\"]\nterminate_tls = {tls}\n\
         [network.inject]\n\"api.test\" = \"Authorization: Bearer ${{API_THING}}\"\n\
         [environment]\ninherit = \"all\"\n{more}"
    );
    fs::write(config.join("config.toml"), text).unwrap();
}

#[test]
fn an_added_header_is_in_no_process_and_no_file_of_the_fence() {
    let Some(world) = World::new() else { return };
    for (tls, url) in [
        (false, "http://api.test/page"),
        (true, "https://api.test/page"),
    ] {
        configure(&world, tls, "");
        world.forget();
        let both = search(&world, url, &[]);
        // The request was made, with the secret in it, by the process that was searched.
        assert_eq!(both.inside.page.as_deref(), Some("the page"), "{url}");
        let seen = world.seen();
        let with_it = seen.iter().filter(|line| line.contains(SECRET)).count();
        assert_eq!(with_it, 1, "{seen:?}");
        for (what, search) in [
            ("inside", &both.inside),
            ("the fence", &both.fence),
            ("between", &both.between),
        ] {
            assert_eq!(
                search.found(),
                Vec::<&str>::new(),
                "{url}: {what}: {search:?}"
            );
            assert!(!search.looked.contains("memory=0"), "{what}: {search:?}");
            assert!(!search.looked.contains("environ=0"), "{what}: {search:?}");
        }
        // Where it has to be, the same search finds it.
        assert_eq!(both.ringfence.found(), ["environ", "memory"], "{url}");
    }
    // Nor is it in anything that is kept: the audit log, the outputs, the trust.
    let kept = Command::new("grep")
        .args(["-rl", SECRET])
        .arg(world.place.home())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&kept.stdout), "");
    let log = world.output(&["audit", "show", "--json"]).stdout;
    assert!(log.contains("api.test") && !log.contains(SECRET), "{log}");
}

/// The twin: what is handed to a command is found where it then is, from both sides.
#[test]
fn a_secret_that_is_handed_in_is_found_by_the_same_search() {
    let Some(world) = World::new() else { return };
    let url = "http://api.test/page";
    let set = format!("[environment.set]\nHANDED = \"{SECRET}\"\n");
    for (what, more, arguments, expected) in [
        ("a variable", set.as_str(), &[][..], "environ"),
        ("an argument", "", &[SECRET][..], "cmdline"),
    ] {
        configure(&world, false, more);
        let both = search(&world, url, arguments);
        for search in [&both.inside, &both.fence] {
            assert!(search.found.contains(expected), "{what}: {search:?}");
            assert!(search.found.contains("memory"), "{what}: {search:?}");
        }
    }
    for (what, path) in [
        ("a file of the workspace", world.place.work().join("kept")),
        ("a file below it", world.place.work().join("a/kept")),
    ] {
        configure(&world, false, "");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("before {SECRET} behind")).unwrap();
        let both = search(&world, url, &[]);
        assert!(
            both.inside.found.contains("file"),
            "{what}: {:?}",
            both.inside
        );
        fs::remove_file(&path).unwrap();
    }
}
