//! Our program with everything that it needs to run in any image: its loader and its libraries are
//! bound in beside it, so that the image's own do not matter.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::line::WardenProgram;
use crate::warden::WARDEN_ARGUMENT;

/// Where the bundle is, inside.
pub(super) const INSIDE: &str = "/.ringfence";

/// Files to bind in, and how to start the program with them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bundle {
    /// What to bind, from where, under which name in the bundle's folder.
    pub(super) files: Vec<(PathBuf, String)>,
    /// The program and its arguments, up to those of the warden.
    pub(super) command: Vec<String>,
}

impl Bundle {
    /// The bundle of a program.
    pub(super) fn of(program: &WardenProgram) -> io::Result<Self> {
        // The loader lists what it would load, and does not start the program. One without a
        // loader serves as a warden without a harness, which ends at once.
        let listed = Command::new(program.path())
            .arg(WARDEN_ARGUMENT)
            .env_clear()
            .env("LD_TRACE_LOADED_OBJECTS", "1")
            .current_dir("/")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()?;
        let path = std::fs::canonicalize(program.path())?;
        Ok(Self::from_listing(
            &path,
            &String::from_utf8_lossy(&listed.stdout),
        ))
    }

    fn from_listing(program: &Path, listing: &str) -> Self {
        let mut files = vec![(program.to_path_buf(), "program".to_owned())];
        let mut loader = None;
        for line in listing.lines() {
            let line = line.trim();
            let line = line.rsplit_once(" (").map_or(line, |(before, _)| before);
            match line.split_once(" => ") {
                Some((name, path)) if path.starts_with('/') => {
                    let name = name.rsplit('/').next().unwrap_or(name);
                    files.push((PathBuf::from(path), name.to_owned()));
                }
                None if line.starts_with('/') => loader = Some(PathBuf::from(line)),
                _ => {}
            }
        }
        let program = format!("{INSIDE}/program");
        let command = match loader {
            Some(loader) => {
                files.push((loader, "loader".to_owned()));
                let loader = format!("{INSIDE}/loader");
                vec![loader, "--library-path".into(), INSIDE.into(), program]
            }
            None => vec![program],
        };
        Self { files, command }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_the_loader_come_along() {
        let listing =
            "\tlinux-vdso.so.1 (0x1)\n\tlibc.so.6 => /lib/libc.so.6 (0x2)\n\t/lib64/ld.so (0x3)\n";
        let bundle = Bundle::from_listing(Path::new("/bin/ringfence"), listing);
        let files: Vec<String> = bundle
            .files
            .iter()
            .map(|(path, name)| format!("{name}={}", path.display()))
            .collect();
        assert_eq!(
            files,
            [
                "program=/bin/ringfence",
                "libc.so.6=/lib/libc.so.6",
                "loader=/lib64/ld.so"
            ]
        );
        assert_eq!(
            bundle.command.join(" "),
            "/.ringfence/loader --library-path /.ringfence /.ringfence/program"
        );
        let alone = Bundle::from_listing(Path::new("/bin/ringfence"), "");
        assert_eq!(alone.command, ["/.ringfence/program"]);
    }
}
