//! A network for tests: a namespace of its own with servers in it, and the program run inside.

#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use ringfence_testkit::{identity, require};

use crate::program::{Place, RINGFENCE, Ran};

/// Servers with addresses that exist nowhere else. Ends with this value.
pub struct World {
    servers: Child,
    pub place: Place,
}

impl World {
    /// Makes one, or says what is missing for it.
    pub fn new() -> Option<Self> {
        if !identity::is_root() {
            require::missing("root", "a network namespace with servers in it");
            return None;
        }
        for program in [
            "ip", "unshare", "nsenter", "python3", "openssl", "git", "curl",
        ] {
            if !require::has_program(program) {
                require::missing(
                    program,
                    "servers in a network namespace, and clients of them",
                );
                return None;
            }
        }
        let place = Place::new();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/world/world.py");
        let mut servers = Command::new("unshare")
            .args(["--net", "--mount", "python3", script])
            .arg(place.outside())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(servers.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "ready\n", "the servers did not start");
        Some(Self { servers, place })
    }

    /// The program with arguments, in the workspace and in this network.
    pub fn ringfence(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command
            .arg(format!("--target={}", self.servers.id()))
            .args(["--net", "--mount"])
            .arg(format!("--wd={}", self.place.work().display()))
            .arg(RINGFENCE)
            .args(arguments)
            .env_clear()
            .env("HOME", self.place.home())
            .env("PATH", std::env::var_os("PATH").unwrap())
            .stdin(Stdio::null());
        command
    }

    pub fn output(&self, arguments: &[&str]) -> Ran {
        Ran::of(&self.ringfence(arguments).output().unwrap())
    }

    /// Runs a text for bash with hosts allowed, and nobody asked.
    pub fn bash(&self, hosts: &[&str], text: &str) -> Ran {
        let mut arguments = vec!["run", "--approval", "never", "--network", "allow-list"];
        for host in hosts {
            arguments.extend(["--allow-host", host]);
        }
        // From a file: it is the network that is tried, not what the policy thinks of a text.
        std::fs::write(self.place.work().join("deed.sh"), text).unwrap();
        arguments.extend(["--", "bash", "deed.sh"]);
        self.output(&arguments)
    }

    /// What reached the servers, a line each.
    pub fn seen(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.place.outside().join("seen")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Forgets what was seen so far.
    pub fn forget(&self) {
        let _ = std::fs::remove_file(self.place.outside().join("seen"));
    }

    /// The certificate of the authority that the servers' own is signed by.
    pub fn authority(&self) -> PathBuf {
        self.place.outside().join("ca.pem")
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // The servers read their input to its end; killing them ends the namespaces as well.
        let _ = self.servers.kill();
        let _ = self.servers.wait();
    }
}
