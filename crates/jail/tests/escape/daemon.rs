//! A daemon of the machine's that listens on unix sockets and takes note of whoever comes.

use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

static LISTENERS: Mutex<Vec<UnixListener>> = Mutex::new(Vec::new());
static CHILDREN: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// Listens at a path, for as long as this process lives.
pub fn listen(path: impl AsRef<Path>) {
    let listener = UnixListener::bind(path).expect("bind");
    listener.set_nonblocking(true).expect("nonblocking");
    // It would notice.
    let address = listener.local_addr().expect("address");
    let path = address.as_pathname().expect("path").to_path_buf();
    drop(std::os::unix::net::UnixStream::connect(path).expect("connect"));
    listener.accept().expect("accept");
    let mut listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
    listeners.push(listener);
}

/// Has a process in another network listen at a path, where one can be made.
pub fn listen_in_another_network(path: &Path) {
    let this = std::env::current_exe().expect("this program");
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--net"]);
    command.arg(this).args(["__probe", "listen_until_told"]);
    let spawned = command
        .env("TEST_SOCKET", path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = spawned.expect("unshare");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("stdout");
    BufReader::new(stdout).read_line(&mut line).expect("read");
    if line == "listening\n" {
        // It ends with its standard input.
        let mut children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
        children.push(child);
    } else {
        child.wait().expect("wait");
        listen(path);
    }
}

/// Whether anybody has come.
pub fn was_reached() -> bool {
    let listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
    listeners.iter().any(|listener| listener.accept().is_ok())
}
