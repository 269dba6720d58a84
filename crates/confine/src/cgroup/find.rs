//! Finding the folders in which this process may make groups.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD};
use thiserror::Error;

use super::Controller;

/// Which interface a hierarchy has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
}

/// A folder in which groups with these controllers can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hierarchy {
    pub(super) version: Version,
    pub(super) controllers: Vec<Controller>,
    pub(super) folder: PathBuf,
}

/// Why no groups can be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no control group for {} can be made: {reason}", names(controllers))]
pub struct NotDelegated {
    /// What was asked for.
    pub controllers: Vec<Controller>,
    /// Why not.
    pub reason: String,
}

fn names(controllers: &[Controller]) -> String {
    let names: Vec<_> = controllers
        .iter()
        .map(|controller| controller.name())
        .collect();
    names.join(" and ")
}

/// The folders for these controllers: every one of them, or an error.
pub(super) fn delegated(controllers: &[Controller]) -> Result<Vec<Hierarchy>, NotDelegated> {
    let refused = |reason: String| NotDelegated {
        controllers: controllers.to_vec(),
        reason,
    };
    let read = |path: &str| {
        std::fs::read_to_string(path).map_err(|error| refused(format!("{path}: {error}")))
    };
    let mounts = mounts(&read("/proc/self/mountinfo")?);
    let memberships = memberships(&read("/proc/self/cgroup")?);
    search(controllers, &mounts, &memberships).map_err(refused)
}

fn search(
    controllers: &[Controller],
    mounts: &[Mount],
    memberships: &[Membership],
) -> Result<Vec<Hierarchy>, String> {
    let mut found: Vec<Hierarchy> = Vec::new();
    let mut unified = Vec::new();
    for controller in controllers {
        match of_version_1(*controller, mounts, memberships)? {
            // Several controllers may be mounted together.
            Some(folder) => match found.iter_mut().find(|known| known.folder == folder) {
                Some(known) => known.controllers.push(*controller),
                None => found.push(Hierarchy {
                    version: Version::One,
                    controllers: vec![*controller],
                    folder,
                }),
            },
            None => unified.push(*controller),
        }
    }
    if !unified.is_empty() {
        found.push(Hierarchy {
            version: Version::Two,
            folder: of_version_2(&unified, mounts, memberships)?,
            controllers: unified,
        });
    }
    Ok(found)
}

/// Our own folder in the controller's hierarchy, if it has one of version 1.
fn of_version_1(
    controller: Controller,
    mounts: &[Mount],
    memberships: &[Membership],
) -> Result<Option<PathBuf>, String> {
    let name = controller.name();
    let Some((mount, member)) = mounts
        .iter()
        .find(|mount| mount.version == Version::One && mount.has(name))
        .zip(memberships.iter().find(|member| member.has(name)))
    else {
        return Ok(None);
    };
    let folder = mount.folder_of(&member.path).ok_or(NOT_MOUNTED)?;
    may_make_groups_in(&folder)?;
    Ok(Some(folder))
}

/// A folder with processes in it cannot pass controllers on, and we are in ours: the nearest one
/// above that passes all of them on is where ours can have a sibling.
fn of_version_2(
    controllers: &[Controller],
    mounts: &[Mount],
    memberships: &[Membership],
) -> Result<PathBuf, String> {
    let (mount, member) = mounts
        .iter()
        .find(|mount| mount.version == Version::Two)
        .zip(memberships.iter().find(|member| member.is_unified()))
        .ok_or("no control groups are mounted")?;
    let own = mount.folder_of(&member.path).ok_or(NOT_MOUNTED)?;
    let folder = own
        .ancestors()
        .take_while(|folder| folder.starts_with(&mount.at))
        .find(|folder| {
            controllers
                .iter()
                .all(|each| each.is_everywhere() || passes_on(folder, each.name()))
        })
        .ok_or_else(|| {
            let names = names(controllers);
            format!("no folder above {} passes on {names}", own.display())
        })?;
    may_make_groups_in(folder)?;
    Ok(folder.to_path_buf())
}

const NOT_MOUNTED: &str = "the group that we are in is not mounted";

fn passes_on(folder: &Path, controller: &str) -> bool {
    std::fs::read_to_string(folder.join("cgroup.subtree_control"))
        .is_ok_and(|list| list.split_whitespace().any(|word| word == controller))
}

/// Making a folder and moving a process from here to there take the right to write both.
fn may_make_groups_in(folder: &Path) -> Result<(), String> {
    for path in [folder.to_path_buf(), folder.join("cgroup.procs")] {
        rustix::fs::accessat(CWD, &path, Access::WRITE_OK, AtFlags::EACCESS)
            .map_err(|error| format!("{}: {}", path.display(), io::Error::from(error)))?;
    }
    Ok(())
}

/// A mounted hierarchy.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    version: Version,
    /// The folder of the hierarchy that is mounted.
    root: PathBuf,
    at: PathBuf,
    options: Vec<String>,
}

impl Mount {
    fn has(&self, controller: &str) -> bool {
        self.options.iter().any(|option| option == controller)
    }

    /// Where a folder of the hierarchy is, if it is below what is mounted.
    fn folder_of(&self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.root).ok()?;
        Some(if below.as_os_str().is_empty() {
            self.at.clone()
        } else {
            self.at.join(below)
        })
    }
}

fn mounts(mountinfo: &str) -> Vec<Mount> {
    mountinfo.lines().filter_map(mount).collect()
}

/// `36 35 98:0 /root /at rw,… shared:1 - cgroup source rw,memory`
fn mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut after = after.split(' ');
    let version = match after.next()? {
        "cgroup" => Version::One,
        "cgroup2" => Version::Two,
        _ => return None,
    };
    let options = after.nth(1).unwrap_or_default();
    let mut before = before.split(' ').skip(3);
    Some(Mount {
        version,
        root: PathBuf::from(before.next()?),
        at: PathBuf::from(before.next()?),
        options: options.split(',').map(str::to_owned).collect(),
    })
}

/// Where this process is in a hierarchy.
#[derive(Debug, PartialEq, Eq)]
struct Membership {
    controllers: Vec<String>,
    path: PathBuf,
}

impl Membership {
    fn has(&self, controller: &str) -> bool {
        self.controllers.iter().any(|name| name == controller)
    }

    fn is_unified(&self) -> bool {
        self.controllers.is_empty()
    }
}

/// `4:memory:/path`, and `0::/path` for version 2.
fn memberships(text: &str) -> Vec<Membership> {
    text.lines()
        .filter_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            Some(Membership {
                controllers: controllers
                    .split(',')
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned)
                    .collect(),
                path: PathBuf::from(path),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "\
30 23 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
31 23 0:27 /docker/abc /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
32 23 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
33 23 0:29 / /home rw - ext4 /dev/vda rw";
    const MEMBER: &str = "4:memory:/jobs/one\n8:pids:/docker/abc/inner\n0::/";

    #[test]
    fn folders_are_found_from_the_kernels_tables() {
        let mounts = mounts(OLD);
        assert_eq!(mounts.len(), 3);
        let memberships = memberships(MEMBER);
        for (controller, expected) in [
            ("memory", "/sys/fs/cgroup/memory/jobs/one"),
            ("pids", "/sys/fs/cgroup/pids/inner"),
        ] {
            let mount = mounts.iter().find(|mount| mount.has(controller)).unwrap();
            let member = memberships.iter().find(|m| m.has(controller)).unwrap();
            assert_eq!(mount.folder_of(&member.path), Some(expected.into()));
        }
        let unified = memberships.iter().find(|m| m.is_unified()).unwrap();
        assert_eq!(unified.path, Path::new("/"));
        assert_eq!(mounts[1].folder_of(Path::new("/elsewhere")), None);
    }

    #[test]
    fn version_2_makes_siblings_below_the_nearest_folder_that_passes_controllers_on() {
        let root = tempfile::tempdir().unwrap();
        let at = root.path();
        let slice = at.join("user.slice/app.slice");
        let scope = slice.join("terminal.scope");
        std::fs::create_dir_all(&scope).unwrap();
        for (folder, passed) in [
            (at, "cpu memory pids"),
            (&slice, "memory pids"),
            (&scope, ""),
        ] {
            std::fs::write(folder.join("cgroup.subtree_control"), passed).unwrap();
            std::fs::write(folder.join("cgroup.procs"), "").unwrap();
        }
        let mounts = [Mount {
            version: Version::Two,
            root: "/".into(),
            at: at.to_path_buf(),
            options: vec![],
        }];
        let member = |path: &str| {
            [Membership {
                controllers: vec![],
                path: path.into(),
            }]
        };
        let both = [Controller::Memory, Controller::Pids];
        let own = member("/user.slice/app.slice/terminal.scope");
        let found = search(&both, &mounts, &own).unwrap();
        assert_eq!(
            (found.len(), &found[0].folder, found[0].version),
            (1, &slice, Version::Two)
        );
        // One folder must pass on both: a process is in one group only.
        std::fs::write(slice.join("cgroup.subtree_control"), "memory").unwrap();
        assert_eq!(search(&both, &mounts, &own).unwrap()[0].folder, at);
        std::fs::write(at.join("cgroup.subtree_control"), "").unwrap();
        let none = search(&both, &mounts, &own).unwrap_err();
        assert!(none.contains("passes on memory and pids"), "{none}");
    }
}
