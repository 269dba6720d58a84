//! `ringfence check` says what the guide says it says.

#![allow(clippy::unwrap_used)]

mod program;

use program::Place;
use serde_json::Value;

/// The rows of the page's table: command, verdict, class, why.
fn rows() -> Vec<[String; 4]> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/command-classes.md");
    let text = std::fs::read_to_string(page)
        .unwrap()
        .replace("\\|", "\u{1}");
    text.lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| {
            let cells: Vec<String> = line
                .trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().replace('\u{1}', "|"))
                .collect();
            <[String; 4]>::try_from(cells).ok()
        })
        .collect()
}

#[test]
fn the_program_prints_what_the_guide_shows() {
    let place = Place::new();
    let rows = rows();
    assert!(rows.len() >= 20, "{} rows", rows.len());
    for [command, verdict, class, why] in rows {
        let command = command.trim_matches('`');
        let ran = place.output(&["check", "--approval", "on-request", "--json", command]);
        let said: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(
            (&said["verdict"], &said["class"]),
            (&verdict.into(), &class.into()),
            "{command}"
        );
        let why = why.replace("/home/u", &place.home().display().to_string());
        let reasons = said["reasons"].to_string();
        assert!(
            reasons.contains(&why.replace('"', "\\\"")),
            "{command}: {why}: {reasons}"
        );
        let shown = place.output(&["check", "--approval", "on-request", command]);
        assert_eq!(shown.code, ran.code, "{command}");
        assert!(
            shown.stdout.starts_with(said["verdict"].as_str().unwrap()),
            "{command}"
        );
    }
}

/// What `check` says is what `run` and `call` then do, and it names the policy that it goes by.
#[test]
fn check_goes_by_the_policy_that_applies() {
    const UNKNOWN: &str = "frobnicate --all";
    let set = |place: &Place, text: &str| {
        let folder = place.home().join(".config/ringfence");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), text).unwrap();
    };
    for (config, flags, code, approval, from) in [
        ("", &[][..], 0, "on-failure", "default"),
        (
            "approval.policy = 'on-request'",
            &[],
            3,
            "on-request",
            "config.toml:1",
        ),
        (
            "approval.policy = 'on-request'",
            &["--approval", "never"],
            0,
            "never",
            "--approval",
        ),
        (
            "",
            &["--approval", "unless-trusted"],
            3,
            "unless-trusted",
            "--approval",
        ),
    ] {
        let place = Place::new();
        set(&place, config);
        let with = |verb: &[&'static str], rest: &[&'static str]| {
            let all: Vec<&str> = verb.iter().chain(flags).chain(rest).copied().collect();
            place.output(&all)
        };
        let text = with(&["check"], &[UNKNOWN]);
        assert_eq!(text.code, Some(code), "{config}: {text:?}");
        let line = text
            .stdout
            .lines()
            .find(|line| line.starts_with("policy: "));
        let line = line.unwrap_or_else(|| panic!("{text:?}"));
        assert!(line.contains(&format!("approval {approval} (")), "{line}");
        assert!(line.contains(from), "{line}");
        assert!(
            line.contains("sandbox workspace-write (default), network off"),
            "{line}"
        );
        let json = with(&["check", "--json"], &[UNKNOWN]);
        let said: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(said["policy"]["approval"], approval, "{said}");
        assert_eq!(said["policy"]["sandbox"], "workspace-write", "{said}");
        // Nobody can be asked here: what would be asked about is refused, by every front end.
        let refused = code == 3;
        let run = with(&["run"], &["--", "frobnicate", "--all"]);
        assert_eq!(run.code == Some(126), refused, "{config}: {run:?}");
        let call = with(&["call"], &["bash", r#"{"command":"frobnicate --all"}"#]);
        let denied = call.stdout.contains("approval_not_possible");
        assert_eq!(denied, refused, "{config}: {call:?}");
    }
}

/// What the user lets commands read is not suspicious any more, and can be read.
#[test]
fn the_judge_knows_what_may_be_read() {
    let place = Place::new();
    std::fs::write(place.home().join(".npmrc"), "token\n").unwrap();
    std::fs::create_dir_all(place.home().join(".ssh")).unwrap();
    std::fs::write(place.home().join(".ssh/config"), "Host h\n").unwrap();
    std::fs::write(place.home().join(".ssh/id_ed25519"), "key\n").unwrap();
    let folder = place.home().join(".config/ringfence");
    std::fs::create_dir_all(&folder).unwrap();
    let config = "sandbox.allowed_reads = ['~/.npmrc', '~/.ssh/config']\n";
    for (config, command, code, reads) in [
        ("", "cat ~/.npmrc", 3, false),
        (config, "cat ~/.npmrc", 0, true),
        (config, "cat ~/.npm*", 3, true),
        (config, "cat ~/.netrc", 3, false),
        // The folder stays denied but for the one file.
        (config, "cat ~/.ssh/config", 0, true),
        (config, "cat ~/.ssh/id_ed25519", 3, false),
        (config, "cat ~/.ssh/*", 3, false),
    ] {
        std::fs::write(folder.join("config.toml"), config).unwrap();
        let checked = place.output(&["check", command]);
        assert_eq!(checked.code, Some(code), "{command}: {checked:?}");
        // From a file: it is the fence that is tried, not what the judge thinks of a text.
        std::fs::write(place.work().join("deed.sh"), command).unwrap();
        let run = place.output(&["run", "--approval", "never", "--", "bash", "deed.sh"]);
        assert_eq!(run.code == Some(0), reads, "{command}: {run:?}");
    }
}

/// The built-in lists are shown, in words and as JSON, and are what the guide says.
#[test]
fn the_default_lists_are_shown() {
    let place = Place::new();
    let shown = place.output(&["config", "show", "--defaults"]);
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let page = std::fs::read_to_string(page).unwrap();
    let json = place.output(&["config", "show", "--defaults", "--json"]);
    let lists: Value = serde_json::from_str(&json.stdout).unwrap();
    // Paths have lines of their own, names of variables stand side by side.
    let has = |text: &str, entry: &str| {
        let stands = |line: &str| line == entry || line.split(' ').any(|word| word == entry);
        text.lines().any(stands)
    };
    let mut entries = 0;
    for list in lists.as_array().unwrap() {
        for path in list["paths"].as_array().unwrap() {
            let entry = path.as_str().unwrap();
            assert!(has(&shown.stdout, entry), "{entry}");
            assert!(has(&page, entry), "{entry}");
            entries += 1;
        }
    }
    assert!(entries > 50, "{entries}");
    for known in ["~/.ssh", "/etc/shadow", ".git/hooks", "~/.bashrc"] {
        assert!(shown.stdout.contains(&format!("\n{known}\n")), "{known}");
    }
}
