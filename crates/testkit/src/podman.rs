//! Podman for tests: settings, storage and an image of its own, made from the machine's programs.
//! No registry is asked, and nothing of the user's own Podman is touched.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ringfence_confine::account::Account;

/// The image's name.
pub const IMAGE: &str = "localhost/ringfence-test:1";

/// Programs that the image has besides those of busybox.
const PROGRAMS: &[&str] = &[
    "bash", "git", "id", "ln", "mv", "cp", "rm", "mkdir", "mknod", "truncate", "touch", "dd",
    "tar", "find", "unshare", "nsenter", "chroot", "chmod", "chown", "cat", "ls", "seq", "sleep",
    "nohup", "setsid", "test", "env", "grep",
];

/// A Podman set up for somebody.
#[derive(Debug)]
pub struct Podman {
    folder: PathBuf,
    user: Option<Account>,
}

impl Podman {
    /// Sets one up, for this user or for another; says why if that cannot be done.
    pub fn set_up(user: Option<&Account>) -> Result<Self, String> {
        let podman = Self::without_image(user)?;
        podman.import()?;
        Ok(podman)
    }

    /// The same without the image.
    #[allow(clippy::expect_used, reason = "a test without a folder cannot go on")]
    pub fn without_image(user: Option<&Account>) -> Result<Self, String> {
        for program in ["podman", "runc", "busybox"] {
            if !crate::require::has_program(program) {
                return Err(format!("{program} is not installed"));
            }
        }
        let folder = tempfile::Builder::new()
            .prefix("ringfence-podman-")
            .tempdir_in("/var/tmp")
            .expect("folder")
            .keep();
        let podman = Self {
            folder,
            user: user.cloned(),
        };
        for name in ["store", "run", "runtime"] {
            fs::create_dir(podman.folder.join(name)).expect("folder");
        }
        podman.write_settings();
        let private = fs::Permissions::from_mode(0o700);
        fs::set_permissions(podman.folder.join("runtime"), private).expect("mode");
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&podman.folder, open).expect("mode");
        if let Some(user) = &podman.user {
            for name in ["", "store", "run", "runtime"] {
                let path = podman.folder.join(name);
                std::os::unix::fs::chown(path, Some(user.uid), Some(user.gid)).expect("chown");
            }
        }
        Ok(podman)
    }

    /// `crun` does not know every arrangement of cgroups; `runc` and `cgroupfs` do.
    #[allow(clippy::expect_used, reason = "a test without settings cannot go on")]
    fn write_settings(&self) {
        let settings = "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=4096:4096\"]\n\
            [engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n";
        fs::write(self.folder.join("containers.conf"), settings).expect("settings");
        let (store, run) = (self.store(), self.folder.join("run"));
        let (store, run) = (store.display(), run.display());
        let storage = format!(
            "[storage]\ndriver = \"overlay\"\ngraphroot = \"{store}\"\nrunroot = \"{run}\"\n\
             rootless_storage_path = \"{store}\"\n"
        );
        fs::write(self.folder.join("storage.conf"), storage).expect("storage");
    }

    /// Where its images and containers are kept.
    pub fn store(&self) -> PathBuf {
        self.folder.join("store")
    }

    /// The variables that make Podman use these settings.
    pub fn environment(&self) -> Vec<(String, String)> {
        let path = |name: &str| self.folder.join(name).display().to_string();
        let mut list = vec![
            ("CONTAINERS_CONF".to_owned(), path("containers.conf")),
            ("CONTAINERS_STORAGE_CONF".to_owned(), path("storage.conf")),
            ("XDG_RUNTIME_DIR".to_owned(), path("runtime")),
        ];
        if let Some(user) = &self.user {
            list.push(("HOME".to_owned(), user.home.display().to_string()));
        }
        list
    }

    /// Runs Podman; its output, or what it said.
    pub fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self
            .command("podman")
            .args(arguments)
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.envs(self.environment()).current_dir("/");
        if let Some(user) = &self.user {
            command.uid(user.uid).gid(user.gid);
        }
        command
    }

    fn import(&self) -> Result<(), String> {
        let root = tempfile::tempdir_in("/var/tmp").map_err(|error| error.to_string())?;
        furnish(root.path()).map_err(|error| format!("the image's files: {error}"))?;
        let mut tar = Command::new("tar")
            .args(["--owner=0", "--group=0", "-c", "-C"])
            .arg(root.path())
            .arg(".")
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let archive = tar.stdout.take().map_or_else(Stdio::null, Stdio::from);
        let output = self
            .command("podman")
            .args(["import", "-", IMAGE])
            .stdin(archive)
            .output()
            .map_err(|error| error.to_string())?;
        let _ = tar.wait();
        if output.status.success() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        let _ = self.run(&["rm", "--all", "--force"]);
        if self.user.is_some() || !crate::identity::is_root() {
            // Files of other ids in the user's namespace.
            let store = self.store();
            let _ = self.run(&["unshare", "rm", "-rf", &store.display().to_string()]);
            // For an ordinary user a process of Podman's keeps the namespaces, and would for ever.
            let pause = self.folder.join("runtime/libpod/tmp/pause.pid");
            if let Ok(pid) = fs::read_to_string(pause) {
                let _ = self.command("kill").arg(pid.trim()).status();
            }
        } else {
            let overlay = self.store().join("overlay");
            let _ = Command::new("umount")
                .arg(overlay)
                .stderr(Stdio::null())
                .status();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Busybox with its links, and some of the machine's programs with their libraries.
fn furnish(root: &Path) -> std::io::Result<()> {
    for folder in ["bin", "usr/bin", "tmp", "run", "etc", "var/tmp", "root"] {
        fs::create_dir_all(root.join(folder))?;
    }
    for folder in ["tmp", "var/tmp"] {
        fs::set_permissions(root.join(folder), fs::Permissions::from_mode(0o1777))?;
    }
    fs::write(root.join("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n")?;
    let busybox = find("busybox").ok_or(std::io::ErrorKind::NotFound)?;
    fs::copy(&busybox, root.join("bin/busybox"))?;
    let list = Command::new(&busybox).arg("--list").output()?.stdout;
    for name in String::from_utf8_lossy(&list).lines() {
        if name != "busybox" {
            symlink("busybox", root.join("bin").join(name))?;
        }
    }
    for program in PROGRAMS.iter().filter_map(|name| find(name)) {
        bring(&program, &root.join("usr/bin"), root)?;
    }
    bring_scripts_of_git(root)
}

/// What of git is written in shell, where git looks for it: `git submodule` is.
fn bring_scripts_of_git(root: &Path) -> std::io::Result<()> {
    // The one that the image has.
    let git = find("git").and_then(|git| Command::new(git).arg("--exec-path").output().ok());
    let Some(said) = git else {
        return Ok(());
    };
    let folder = PathBuf::from(String::from_utf8_lossy(&said.stdout).trim());
    let Ok(inside) = folder.strip_prefix("/") else {
        return Ok(());
    };
    let inside = root.join(inside);
    fs::create_dir_all(&inside)?;
    for name in ["git-submodule", "git-sh-setup", "git-sh-i18n"] {
        if folder.join(name).is_file() {
            fs::copy(folder.join(name), inside.join(name))?;
        }
    }
    Ok(())
}

fn find(name: &str) -> Option<PathBuf> {
    // As in the `PATH` of the tests: the git outside and the one in the image are the same.
    ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"]
        .iter()
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.is_file())
}

/// Copies a program and what its loader would load.
fn bring(program: &Path, to: &Path, root: &Path) -> std::io::Result<()> {
    let name = program.file_name().unwrap_or_default();
    fs::copy(program, to.join(name))?;
    let listed = Command::new(program)
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .output()?
        .stdout;
    for word in String::from_utf8_lossy(&listed).split_whitespace() {
        if word.starts_with('/') && Path::new(word).is_file() {
            let inside = root.join(word.trim_start_matches('/'));
            fs::create_dir_all(inside.parent().unwrap_or(root))?;
            fs::copy(word, inside)?;
        }
    }
    Ok(())
}
