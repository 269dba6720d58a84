//! `ringfence call file_search`, from the outside.

#![allow(clippy::unwrap_used)]

mod program;

use std::fs;

use program::Place;
use serde_json::{Value, json};

fn paths(found: &Value) -> Vec<&str> {
    let found = found.as_array().unwrap_or_else(|| panic!("{found}"));
    found
        .iter()
        .map(|found| found["path"].as_str().unwrap())
        .collect()
}

#[test]
fn files_are_found_by_name_and_by_pattern() {
    let place = Place::new();
    for name in [
        "src/app.test.ts",
        "src/app.ts",
        "lib/b.test.ts",
        "dist/app.test.ts",
    ] {
        let path = place.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    fs::write(place.work().join(".gitignore"), "dist\n").unwrap();
    let search = |arguments: Value| place.call("file_search", &arguments, &[]);
    let found = search(json!({"pattern": "*.test.ts", "limit": 10}));
    assert_eq!(paths(&found), ["lib/b.test.ts", "src/app.test.ts"]);
    let found = search(json!({"pattern": "*.ts", "excludePatterns": ["*.test.ts"]}));
    assert_eq!(paths(&found), ["src/app.ts"]);
    let found = search(json!({"pattern": "srcapp", "limit": 1}));
    assert_eq!(
        found,
        json!([{"path": "src/app.ts", "score": found[0]["score"], "indices": [0, 1, 2, 4, 5, 6]}])
    );
    assert!(found[0]["score"].as_u64().unwrap() > 0);
    let error = search(json!({"pattern": " "}));
    assert_eq!(error["error"]["code"], "bad_arguments", "{error}");
}

#[test]
fn what_may_not_be_read_is_not_listed() {
    let place = Place::new();
    for name in [
        ".ssh/id_key",
        ".ssh-not/id_key",
        "work/secret/id_key",
        "work/id_key",
    ] {
        let path = place.home().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let rules = place.home().join(".config/ringfence");
    fs::create_dir_all(&rules).unwrap();
    let rule = format!(
        "[[rule]]\npath = \"{}\"\ndecision = \"deny\"\n",
        place.work().join("secret").display()
    );
    fs::write(rules.join("rules.toml"), rule).unwrap();
    let home = place.home().display().to_string();
    let found = place.call(
        "file_search",
        &json!({"pattern": "id_key"}),
        &["--cwd", &home],
    );
    assert_eq!(paths(&found), ["work/id_key", ".ssh-not/id_key"]);
}
