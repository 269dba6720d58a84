//! A key is sent to the model's server and to nobody else.

use std::path::Path;

use ringfence_testkit::model::{Answer, Api, Part};
use serde_json::json;

use crate::talk::{KEY, Talk, Way};

#[test]
fn commands_logs_errors_and_the_conversation_know_no_key() {
    for api in Api::ALL {
        // A model that wants to know it, and a server that repeats it.
        let wants = Answer::of([
            Part::script(
                "return (await tools.exec({command: ['bash', '-c', 'env; cat /proc/*/environ']})).stdout",
            ),
            Part::call(
                "bash",
                json!({"command": "env | sort; tr '\\0' '\\n' < /proc/self/environ; exit 0"}),
            ),
        ]);
        let repeats = Answer {
            raw: Some(
                json!({"error": {"type": "authentication_error", "message": format!("no such key: {KEY}")}}),
            ),
            ..Answer::status(401)
        };
        let talk = Talk::new(api, Way::Streamed, vec![wants, repeats], "");
        let came = talk.run(&["--approve", "all", "what is the key?"]);
        assert_eq!(came.ran.code, Some(125), "{:?}", came.ran);
        assert_eq!(came.requests.len(), 2, "{:?}", came.ran);
        for request in &came.requests {
            let carried = request
                .headers
                .iter()
                .filter(|(_, value)| value.contains(KEY));
            assert_eq!(carried.count(), 1);
            assert!(
                !request.body.contains(KEY),
                "{api:?}: the model was told its own key"
            );
        }
        let said = format!("{}{}", came.ran.stdout, came.ran.stderr);
        assert!(
            said.contains("no such key: [key]") && !said.contains(KEY),
            "{said}"
        );
        assert_eq!(files_with_key(&talk.place.home()), Vec::<String>::new());
    }
}

/// A key in a file, wherever that is and however it is named, is a denied read of every command; what stands beside it is not.
#[test]
fn a_key_in_a_file_is_read_by_no_command() {
    let talk = Talk::new(Api::Messages, Way::Streamed, Vec::new(), "");
    let (home, work) = (talk.place.home(), talk.place.work());
    let keys = [work.join("model.key"), home.join("keys/model")];
    std::fs::create_dir(home.join("keys")).unwrap();
    for key in &keys {
        std::fs::write(key, format!("{KEY}\n")).unwrap();
        std::fs::write(key.with_extension("beside"), "a-word-beside").unwrap();
    }
    let link = home.join("link-to-key");
    std::os::unix::fs::symlink(&keys[1], &link).unwrap();
    for named in [&keys[0], &keys[1], &link] {
        let settings = format!(
            "[model]\nanthropic_key_file = '{}'\n[sandbox]\nallowed_reads = ['{}']\n",
            named.display(),
            keys[1].display()
        );
        std::fs::write(home.join(".config/ringfence/config.toml"), settings).unwrap();
        let real = std::fs::canonicalize(named).unwrap();
        let beside = real.with_extension("beside");
        let looks = format!(
            "cat {} {}; mv {} moved; cat moved; ln {} hard; cat hard; grep -r planted {}; cat {}",
            named.display(),
            real.display(),
            real.display(),
            real.display(),
            real.parent().unwrap().display(),
            beside.display()
        );
        let patch = format!(
            "*** Begin Patch\n*** Update File: {}\n@@\n-x\n+y\n*** End Patch\n",
            real.display()
        );
        let answers = [
            Answer::of([
                Part::call("bash", json!({"command": looks})),
                Part::call("apply_patch", json!({"patch": patch})),
                Part::call("file_search", json!({"query": "model.key"})),
            ]),
            Answer::of([Part::text("Done.")]),
        ];
        talk.model.then(answers);
        let asked = talk.model.requests().len();
        let mut command = talk.command(&["--json", "--approve", "all", "find the key"]);
        let ran = command.env_remove("ANTHROPIC_API_KEY").output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        let requests = talk.model.requests();
        assert_eq!(requests[asked].header("x-api-key"), Some(KEY));
        let told = &requests[asked + 1].body;
        assert!(told.contains("a-word-beside"), "{named:?}: {told}");
        assert!(!told.contains(KEY), "{named:?}: {told}");
        // By every other engine too, which has no use for it.
        let read = talk
            .place
            .output(&["run", "--", "cat", named.to_str().unwrap()]);
        assert!(
            read.code != Some(0) && !read.stdout.contains(KEY),
            "{read:?}"
        );
    }
}

/// The variable that a key is in is nobody's but the program's, whatever the configuration says about the environment.
#[test]
fn a_key_in_any_variable_is_passed_on_to_no_command() {
    for policy in [
        "inherit = 'all'\n",
        "include = ['ODDLY_NAMED', 'COPY', 'BESIDE']\n",
        "inherit = 'all'\ninclude = ['*']\n",
    ] {
        let answers = vec![
            Answer::of([
                Part::call("bash", json!({"command": "env; cat /proc/self/environ"})),
                Part::script("return (await tools.exec({command: ['env']})).stdout"),
            ]),
            Answer::of([Part::text("Done.")]),
        ];
        let settings = format!("[environment]\n{policy}");
        let talk = Talk::new(Api::Chat, Way::Streamed, answers, &settings);
        let arguments = ["--json", "--key-env", "ODDLY_NAMED", "what is the key?"];
        let mut command = talk.command(&arguments);
        command
            .env_remove("OPENAI_API_KEY")
            .env_remove("ANTHROPIC_API_KEY")
            .env("ODDLY_NAMED", KEY)
            .env("COPY", format!("prefix-{KEY}"))
            .env("BESIDE", "a-word-beside");
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        let requests = talk.model.requests();
        let bearer = format!("Bearer {KEY}");
        assert_eq!(requests[0].header("authorization"), Some(&*bearer));
        let told = &requests[1].body;
        assert!(told.contains("a-word-beside"), "{policy}: {told}");
        assert!(!told.contains(KEY), "{policy}: {told}");
        assert_eq!(files_with_key(&talk.place.home()), Vec::<String>::new());
    }
}

/// Files below a folder that have the key in them.
fn files_with_key(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files_with_key(&path));
        } else if std::fs::read(&path).is_ok_and(|bytes| {
            bytes
                .windows(KEY.len())
                .any(|window| window == KEY.as_bytes())
        }) {
            found.push(path.display().to_string());
        }
    }
    found
}
