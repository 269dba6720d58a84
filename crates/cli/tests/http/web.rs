//! A world, and a home whose configuration has `http` on.

use serde_json::{Value, json};

use crate::program::Ran;
use crate::world::World;

pub(crate) const SECRET: &str = "s3cret-value-that-nobody-reads";

/// A world, and a home whose configuration has `http` on.
pub(crate) struct Web(pub(crate) World);

impl Web {
    pub(crate) fn new() -> Option<Self> {
        let web = Self(World::new()?);
        web.configure("");
        Some(web)
    }

    /// Sets what is configured besides the hosts that are allowed.
    pub(crate) fn configure(&self, more: &str) {
        let folder = self.0.place.home().join(".config/ringfence");
        std::fs::create_dir_all(&folder).unwrap();
        let text = format!(
            "script.mode = \"enabled\"\nscript.expose.enable_http = true\napproval.policy = \"never\"\n\
             network.allow = [\"allowed.test\", \"allowed.test:8080\", \"allowed.test:8443\", \"rebind.test\", \
             \"private.test\", \"metadata.test\", \"loop.test\", \"mapped.test\", \"two.test\", \"missing.test\", \
             \"api.test\", \"api.test:8080\", \"api.test:8443\"]\nnetwork.deny = [\"tracker.test\"]\n{more}"
        );
        std::fs::write(folder.join("config.toml"), text).unwrap();
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = self.0.ringfence(arguments);
        command.env("SSL_CERT_FILE", self.0.authority());
        command.env("API_THING", SECRET);
        Ran::of(&command.output().unwrap())
    }

    /// Calls the tool with arguments that are too long for a command line.
    pub(crate) fn call_given(&self, arguments: &Value) -> Value {
        let file = self.0.place.outside().join("arguments");
        std::fs::write(&file, arguments.to_string()).unwrap();
        let mut command = self.0.ringfence(&["call", "http", "-"]);
        let input = std::fs::File::open(&file).unwrap();
        let ran = Ran::of(&command.stdin(input).output().unwrap());
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }

    /// Calls the tool.
    pub(crate) fn call(&self, arguments: &Value) -> Value {
        let ran = self.run(&["call", "http", &arguments.to_string()]);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }

    /// Asks one of the odd servers.
    pub(crate) fn odd(&self, path: &str) -> Value {
        self.call(&json!({"url": format!("http://allowed.test:8080/{path}"), "timeoutMs": 5000}))
    }

    /// What a script returned.
    pub(crate) fn script(&self, source: &str) -> Value {
        let file = self.0.place.work().join("script.ts");
        std::fs::write(&file, source).unwrap();
        let ran = self.run(&["script", "--json", "script.ts"]);
        let item: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        match item["output_json"].as_str() {
            Some(text) => serde_json::from_str(text).unwrap(),
            None => item,
        }
    }

    pub(crate) fn log(&self) -> Vec<Value> {
        let log = self.run(&["audit", "show", "--json"]);
        let lines = log.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    pub(crate) fn reached(&self, what: &str) -> bool {
        self.0.seen().iter().any(|line| line.contains(what))
    }
}

/// The code and the message of an error.
pub(crate) fn error(reply: &Value) -> (&str, &str) {
    let error = &reply["error"];
    let text = |field: &str| error[field].as_str().unwrap_or_else(|| panic!("{reply}"));
    (text("code"), text("message"))
}
