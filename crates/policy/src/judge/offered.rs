//! What may be offered inside the fence. A command chooses what it is refused, and a person who is asked often says yes: so
//! what would give away more than it says is not offered at all. Whoever wants it sets it, or names it by a flag.

use std::path::{Component, Path};

use super::Premises;
use crate::action::RunCommand;
use crate::host::{AddressClass, Host, Protocol};
use crate::narrow_grant::NarrowGrant;
use crate::permissions::{Network, SandboxMode};
use crate::rule::{Access, Decision, HostPattern, Hosts};

/// Folders that the machine, or everybody on it, runs programs from: nothing in them is offered.
const OF_THE_SYSTEM: &[&str] = &[
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/proc",
    "/run", "/sbin", "/snap", "/sys", "/usr",
];
/// Folders of every machine that are offered in parts and not as a whole.
const TOO_WIDE: &[&str] = &[
    "/",
    "/home",
    "/media",
    "/mnt",
    "/opt",
    "/root",
    "/srv",
    "/tmp",
    "/usr/local",
    "/var",
];
/// Those whose parts are as wide: somebody's home, a whole disk, the data of all services.
const OF_WIDE_PARTS: &[&str] = &["/home", "/media", "/mnt", "/usr/local", "/var"];

/// The most that one question grants.
const MOST: usize = 4;

/// Those of these grants that may be offered for a command.
pub fn offered(
    grants: &[NarrowGrant],
    command: &RunCommand,
    premises: &Premises<'_>,
) -> Vec<NarrowGrant> {
    let mut offered: Vec<NarrowGrant> = Vec::new();
    for grant in grants {
        if !offered.contains(grant) && may_be_offered(grant, command, premises) {
            offered.push(grant.clone());
        }
    }
    offered.truncate(MOST);
    offered
}

fn may_be_offered(grant: &NarrowGrant, command: &RunCommand, premises: &Premises<'_>) -> bool {
    match grant {
        NarrowGrant::Writable { path } => may_write(path, command, premises),
        NarrowGrant::Readable { path } => {
            is_plain(path)
                && premises.sandbox.denied_read_around(path).is_some()
                && !is_denied(path, Access::Read, command, premises)
        }
        NarrowGrant::Socket { path } => {
            is_plain(path) && !is_denied(path, Access::Any, command, premises)
        }
        NarrowGrant::Host { host } => may_reach(host, command, premises),
        NarrowGrant::Unprotected { path } => {
            let sandbox = premises.sandbox;
            let mut known = sandbox.protected_paths.iter().chain(&sandbox.watched_paths);
            known.any(|known| known == path) && !is_denied(path, Access::Write, command, premises)
        }
        // What is denied of hosts, and the ban on addresses of the machine's own networks, would be void.
        NarrowGrant::Network => {
            premises.sandbox.network == Network::Off && !premises.rules.denies_any_host()
        }
    }
}

/// Whether a path is absolute, and what it says.
fn is_plain(path: &Path) -> bool {
    let mut parts = path.components();
    let from_the_top = parts.next() == Some(Component::RootDir);
    let text = path.to_string_lossy();
    from_the_top
        && parts.all(|part| matches!(part, Component::Normal(_)))
        && path.to_str().is_some()
        && !text.chars().any(char::is_control)
}

fn may_write(path: &Path, command: &RunCommand, premises: &Premises<'_>) -> bool {
    let ground = premises.ground;
    let holds = |inner: &Path| inner.starts_with(path);
    let is_the_workspace =
        path == ground.workspace && premises.sandbox.mode == SandboxMode::ReadOnly;
    let in_the_system = |folder: &&str| path.starts_with(folder) && !path.starts_with("/usr/local");
    // What is run from there is run outside the fence too, whether the command would find it or only the user.
    let holds_programs = || {
        let folders = command.environment.get("PATH");
        let folders = folders.into_iter().flat_map(|folders| folders.split(':'));
        let mut folders = folders.filter(|folder| !folder.is_empty()).map(Path::new);
        folders.any(holds) || ground.programs.iter().any(|folder| holds(folder))
    };
    let sandbox = premises.sandbox;
    let kept = sandbox.protected_paths.iter().chain(&sandbox.watched_paths);
    let mut kept = kept.filter(|kept| kept.is_absolute());
    is_plain(path)
        && !is_too_wide(path)
        && !OF_THE_SYSTEM.iter().any(in_the_system)
        && (!holds(&ground.workspace) || is_the_workspace)
        && !ground.home.as_deref().is_some_and(holds)
        && !holds_programs()
        && !kept.any(|kept| path.starts_with(kept))
        && sandbox.denied_read_around(path).is_none()
        && !is_denied(path, Access::Write, command, premises)
}

fn is_too_wide(path: &Path) -> bool {
    let is_one = |path: &Path, of: &[&str]| of.iter().any(|wide| path == Path::new(wide));
    let in_one = path
        .parent()
        .is_some_and(|above| is_one(above, OF_WIDE_PARTS));
    is_one(path, TOO_WIDE) || in_one
}

fn is_denied(path: &Path, access: Access, command: &RunCommand, premises: &Premises<'_>) -> bool {
    let denies = |access| {
        let rule = premises
            .rules
            .decide_path(path, access, premises.ground, &command.tool);
        rule.is_some_and(|rule| rule.decision == Decision::Deny)
    };
    denies(access) || denies(Access::Any)
}

fn may_reach(pattern: &HostPattern, command: &RunCommand, premises: &Premises<'_>) -> bool {
    let Hosts::One(host) = &pattern.host else {
        return false;
    };
    let ordinary = match host {
        Host::Name(_) => true,
        Host::Address(_) => host.class().is_none_or(AddressClass::is_ordinary),
    };
    let port = pattern.ports.first().copied().unwrap_or(443);
    let denied = [Protocol::Https, Protocol::Http, Protocol::Tcp]
        .into_iter()
        .any(|protocol| {
            let rule = premises
                .rules
                .decide_host(host, port, protocol, &command.tool);
            rule.is_some_and(|rule| rule.decision == Decision::Deny)
        });
    ordinary && !denied && premises.sandbox.network != Network::Full
}
