//! Probes of unix sockets with a path: those of the machine's, and those of one's own.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Probe, any, call, variable};

pub(super) const PROBES: &[(&str, Probe)] = &[
    ("listen_until_told", || {
        let _listener = UnixListener::bind(variable("TEST_SOCKET"))?;
        println!("listening");
        io::stdin().read_to_end(&mut Vec::new()).map(|_| ())
    }),
    ("connect_daemon", || {
        UnixStream::connect(machine("daemon.sock")).map(|_| ())
    }),
    ("connect_allowed", || {
        UnixStream::connect(machine("allowed.sock")).map(|_| ())
    }),
    ("connect_when_it_is_there", || {
        fs::write("go", "x")?;
        fs::read("made")?;
        UnixStream::connect(machine("late.sock")).map(|_| ())
    }),
    ("connect_what_was_there", connect_what_was_there),
    ("connect_either", || {
        any(
            [machine("daemon.sock"), "daemon.sock".to_owned()].map(|path| {
                let connected = UnixStream::connect(&path).map(|_| 0);
                (path, connected)
            }),
        )
    }),
    ("listen_in_tmp", || {
        let path = format!("/tmp/ringfence-escape-{}", variable("HARNESS_PID"));
        let listener = UnixListener::bind(&path)?;
        let connected = UnixStream::connect(&path);
        fs::remove_file(&path)?;
        drop(listener);
        connected.map(|_| ())
    }),
    ("connect_in_tmp", || {
        UnixStream::connect(variable("TEST_SOCKET")).map(|_| ())
    }),
    ("change_the_address", || {
        change_the_address(&machine("daemon.sock"))
    }),
    ("change_ones_own_address", || {
        let other = UnixListener::bind("other.sock")?;
        other.set_nonblocking(true)?;
        change_the_address("other.sock")?;
        // Both were come to: the address did change in between.
        other.accept().map(|_| ())
    }),
    ("connect_a_swapped_link", connect_a_swapped_link),
    ("connect_through_proc", || {
        through_proc(&variable("OUTSIDE"))
    }),
    ("ones_own_through_proc", || {
        let _listener = UnixListener::bind("daemon.sock")?;
        each(through_proc_ways(&variable("WORKSPACE"))?)
    }),
    ("connect_as_an_orphan", || {
        let path = machine("daemon.sock");
        as_an_orphan(move || UnixStream::connect(path).is_ok())
    }),
    ("ones_own_as_an_orphan", || {
        let _listener = UnixListener::bind("orphan.sock")?;
        as_an_orphan(|| UnixStream::connect("orphan.sock").is_ok())
    }),
    ("connect_while_many_wait", connect_while_many_wait),
    ("connect_many_at_once", connect_many_at_once),
    ("connect_packets", || {
        seqpacket(&machine("packets.sock"), connect).map(|_| ())
    }),
    ("packets_of_ones_own", || {
        let _listener = seqpacket("packets.sock", bind_and_listen)?;
        seqpacket("packets.sock", connect).map(|_| ())
    }),
    ("serve_sockets", serve_sockets),
    ("call_sockets", || {
        each(served().map(|path| {
            let connected = UnixStream::connect(&path).map(|_| 0);
            (path, connected)
        }))
    }),
    ("pairs_of_ones_own", pairs_of_ones_own),
];

fn machine(name: &str) -> String {
    format!("{}/{name}", variable("OUTSIDE"))
}

/// Succeeds if every way does.
fn each(ways: impl IntoIterator<Item = (String, io::Result<i64>)>) -> io::Result<()> {
    for (name, result) in ways {
        result.map_err(|error| io::Error::other(format!("{name}: {error}")))?;
    }
    Ok(())
}

/// The machine's socket in the workspace, by its name, by another, and in place of one's own.
fn connect_what_was_there() -> io::Result<()> {
    let reach = |path: &str| (path.to_owned(), UnixStream::connect(path).map(|_| 0));
    let direct = reach("daemon.sock");
    let _ = fs::hard_link("daemon.sock", "linked.sock");
    let linked = reach("linked.sock");
    let _own = UnixListener::bind("own.sock")?;
    fs::rename("own.sock", "aside.sock")?;
    fs::rename("daemon.sock", "own.sock")?;
    let exchanged = reach("own.sock");
    fs::rename("own.sock", "daemon.sock")?;
    any([direct, linked, exchanged])
}

/// The address of a unix socket, as bytes.
fn address(path: &str) -> [u8; 110] {
    let mut address = [0; 110];
    address[..2].copy_from_slice(&1u16.to_ne_bytes());
    address[2..2 + path.len()].copy_from_slice(path.as_bytes());
    address
}

/// One thread connects again and again, while another changes where to.
fn change_the_address(to: &str) -> io::Result<()> {
    let _ = fs::remove_file("flip.sock");
    let listener = UnixListener::bind("flip.sock")?;
    listener.set_nonblocking(true)?;
    let (own, other) = (address("flip.sock"), address(to));
    let mut shared = own;
    let place = shared.as_mut_ptr() as i64;
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for bytes in [&other, &own] {
                    // SAFETY: the memory outlives the scope; that it is read meanwhile, by the
                    // kernel and whoever answers for it, is what is tried.
                    unsafe {
                        std::ptr::copy(bytes.as_ptr(), place as *mut u8, bytes.len());
                    }
                }
            }
        });
        for _ in 0..3000 {
            if let Ok(socket) = open(libc::SOCK_STREAM) {
                let number = i64::from(socket.as_raw_fd());
                let _ = call(libc::SYS_connect, [number, place, 110, 0, 0]);
            }
            while listener.accept().is_ok() {}
        }
        done.store(true, Ordering::Relaxed);
    });
    Ok(())
}

/// One thread exchanges a link to one's own socket and one to the machine's, while another
/// connects through it.
fn connect_a_swapped_link() -> io::Result<()> {
    use std::os::unix::fs::symlink;
    let listener = UnixListener::bind("real.sock")?;
    listener.set_nonblocking(true)?;
    symlink("real.sock", "one")?;
    symlink(machine("daemon.sock"), "two")?;
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (one, two) = (c"one".as_ptr() as i64, c"two".as_ptr() as i64);
            let at = i64::from(libc::AT_FDCWD);
            while !done.load(Ordering::Relaxed) {
                let _ = call(libc::SYS_renameat2, [at, one, at, two, 2]);
            }
        });
        for _ in 0..3000 {
            let _ = UnixStream::connect("one");
            while listener.accept().is_ok() {}
        }
        done.store(true, Ordering::Relaxed);
    });
    Ok(())
}

fn through_proc(folder: &str) -> io::Result<()> {
    any(through_proc_ways(folder)?)
}

/// A socket in a folder, by the names that it has in `/proc`.
fn through_proc_ways(folder: &str) -> io::Result<Vec<(String, io::Result<i64>)>> {
    let opened = fs::File::open(folder)?;
    let number = opened.as_raw_fd();
    let back = std::env::current_dir()?;
    std::env::set_current_dir(folder)?;
    let names = [
        format!("/proc/self/root{folder}/daemon.sock"),
        "/proc/self/cwd/daemon.sock".to_owned(),
        "/proc/thread-self/cwd/daemon.sock".to_owned(),
        format!("/proc/self/fd/{number}/daemon.sock"),
        format!("/dev/fd/{number}/daemon.sock"),
        format!("/proc/{}/cwd/daemon.sock", std::process::id()),
        "daemon.sock".to_owned(),
    ];
    let ways = names.map(|name| {
        let connected = UnixStream::connect(&name).map(|_| 0);
        (name, connected)
    });
    std::env::set_current_dir(back)?;
    Ok(ways.into())
}

/// Connects in a process whose parent has ended; what came of it is read from a pipe.
fn as_an_orphan(connects: impl FnOnce() -> bool) -> io::Result<()> {
    let (mut reader, mut writer) = io::pipe()?;
    // SAFETY: the children only do what is written here, and exit.
    unsafe {
        match libc::fork() {
            0 => {
                let parent = libc::getpid();
                if libc::fork() == 0 {
                    // Until it is another one.
                    while libc::getppid() == parent {
                        libc::sched_yield();
                    }
                    let _ = writer.write_all(&[u8::from(connects())]);
                }
                libc::_exit(0)
            }
            child => libc::waitpid(child, std::ptr::null_mut(), 0),
        };
    }
    drop(writer);
    let mut answer = [0; 1];
    reader.read_exact(&mut answer)?;
    if answer == [1] {
        Ok(())
    } else {
        Err(io::Error::other("the orphan was refused"))
    }
}

fn open(kind: i32) -> io::Result<OwnedFd> {
    let kind = i64::from(kind | libc::SOCK_CLOEXEC);
    let number = call(libc::SYS_socket, [i64::from(libc::AF_UNIX), kind, 0, 0, 0])?;
    let number = i32::try_from(number).map_err(io::Error::other)?;
    // SAFETY: the call has just made it, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Fills a queue of one's own that nobody serves, and then some: whoever answers for connections
/// must go on.
fn connect_while_many_wait() -> io::Result<()> {
    let socket = open(libc::SOCK_STREAM)?;
    bind_and_listen(&socket, "full.sock")?;
    for _ in 0..100 {
        std::thread::spawn(|| UnixStream::connect("full.sock"));
    }
    let _other = UnixListener::bind("other.sock")?;
    for _ in 0..20 {
        UnixStream::connect("other.sock")?;
    }
    println!("still served");
    UnixStream::connect(machine("daemon.sock")).map(|_| ())
}

/// More clients than a server has room for wait until it comes to them.
fn connect_many_at_once() -> io::Result<()> {
    let socket = open(libc::SOCK_STREAM)?;
    bind_and_listen(&socket, "busy.sock")?;
    let clients: Vec<_> = (0..40)
        .map(|_| {
            std::thread::spawn(|| {
                let mut text = String::new();
                UnixStream::connect("busy.sock")?.read_to_string(&mut text)?;
                Ok::<_, io::Error>(text)
            })
        })
        .collect();
    // Somebody who does not wait is told so at once, while the queue is full.
    let impatient = open(libc::SOCK_STREAM | libc::SOCK_NONBLOCK)?;
    let told = connect(&impatient, "busy.sock");
    let listener = UnixListener::from(socket);
    let come = clients.len() + usize::from(told.is_ok());
    for _ in 0..come {
        let _ = listener.accept()?.0.write_all(b"hello");
    }
    for client in clients {
        let text = client.join().map_err(|_| io::Error::other("client"))??;
        assert_eq!(text, "hello");
    }
    match told {
        Err(error) if error.raw_os_error() != Some(libc::EAGAIN) => Err(error),
        _ => Ok(()),
    }
}

fn connect(socket: &OwnedFd, path: &str) -> io::Result<()> {
    let address = address(path);
    let arguments = [i64::from(socket.as_raw_fd()), address.as_ptr() as i64, 110];
    let [number, pointer, length] = arguments;
    call(libc::SYS_connect, [number, pointer, length, 0, 0]).map(|_| ())
}

fn bind_and_listen(socket: &OwnedFd, path: &str) -> io::Result<()> {
    let address = address(path);
    let number = i64::from(socket.as_raw_fd());
    call(libc::SYS_bind, [number, address.as_ptr() as i64, 110, 0, 0])?;
    call(libc::SYS_listen, [number, 0, 0, 0, 0]).map(|_| ())
}

fn seqpacket(path: &str, then: fn(&OwnedFd, &str) -> io::Result<()>) -> io::Result<OwnedFd> {
    let socket = open(libc::SOCK_SEQPACKET)?;
    then(&socket, path)?;
    Ok(socket)
}

fn served() -> [String; 2] {
    let in_tmp = format!("/tmp/served-{}.sock", variable("HARNESS_PID"));
    ["./served.sock".to_owned(), in_tmp]
}

/// Listens in the workspace and in `/tmp`, for another run to connect.
fn serve_sockets() -> io::Result<()> {
    let listeners = served().map(UnixListener::bind);
    println!("serving");
    for listener in listeners {
        listener?.accept()?;
    }
    served().into_iter().try_for_each(fs::remove_file)
}

fn pairs_of_ones_own() -> io::Result<()> {
    let (mut one, mut two) = UnixStream::pair()?;
    one.write_all(b"hello")?;
    two.read_exact(&mut [0; 5])
}
