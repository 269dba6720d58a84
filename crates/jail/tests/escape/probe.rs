//! What is tried from inside the fence by system calls. This program runs itself there.
//!
//! A probe exits with 0 if it got what it wanted.

#[path = "datagram.rs"]
mod datagram;
#[path = "socket.rs"]
mod socket;

use std::ffi::CString;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};

/// Locks the workspace, everything in it and the registry of marks, as far as they can be opened, and
/// stays.
fn lock_everything() -> io::Result<()> {
    let workspace = variable("WORKSPACE");
    let mut locked = Vec::new();
    let registry = format!("{workspace}/../marks");
    for folder in [workspace, registry.clone()] {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let inside = entries.map(|entry| entry.path());
        for path in inside.chain([folder.clone().into()]) {
            let Ok(file) = fs::File::open(&path) else {
                continue;
            };
            if path.starts_with(&registry) {
                println!("the registry can be opened");
            }
            // SAFETY: flock takes numbers.
            unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) };
            locked.push(file);
        }
    }
    println!("locked");
    loop {
        std::thread::park();
    }
}

/// Runs a probe by its name.
pub fn run(arguments: &[String]) -> i32 {
    let name = arguments.first().map_or("", String::as_str);
    let Some((_, probe)) = PROBES
        .iter()
        .chain(datagram::PROBES)
        .chain(socket::PROBES)
        .find(|(known, _)| *known == name)
    else {
        panic!("no probe is called {name}");
    };
    match probe() {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{name}: {error}");
            1
        }
    }
}

type Probe = fn() -> io::Result<()>;

const PROBES: &[(&str, Probe)] = &[
    ("o_path_outside", || {
        reopen(&format!("{}/file", variable("OUTSIDE")))
    }),
    ("o_path_inside", || {
        fs::write("own", "old")?;
        reopen("own")
    }),
    ("open_by_handle", open_by_handle),
    ("open_by_path", || fs::File::open("/etc/passwd").map(|_| ())),
    ("write_foreign_memory", write_foreign_memory),
    ("read_own_memory", || {
        fs::read_to_string("/proc/self/maps").map(|_| ())
    }),
    ("read_high_descriptors", read_high_descriptors),
    ("connect_machine_sockets", connect_machine_sockets),
    ("sockets_of_ones_own", sockets_of_ones_own),
    ("change_mounts", change_mounts),
    ("io_uring", io_uring),
    ("read_a_file", || fs::read("/etc/passwd").map(|_| ())),
    ("ptrace", ptrace),
    ("fork_and_wait", || fork_and_wait(|| 0)),
    ("process_vm", process_vm),
    ("foreign_tables", foreign_tables),
    ("native_table", || {
        call(libc::SYS_getppid, [0; 5]).map(|_| ())
    }),
    ("second_listener", || seccomp(8)),
    ("second_filter", || seccomp(0)),
    ("clone3_user_namespace", clone3_user_namespace),
    ("threads_and_forks", || {
        std::thread::spawn(|| 1)
            .join()
            .map_err(|_| io::Error::other("thread"))?;
        fork_and_wait(|| 0)
    }),
    ("type_into_terminal", type_into_terminal),
    ("terminal_works", terminal_works),
    ("reach_out", reach_out),
    ("loopback_of_ones_own", loopback_of_ones_own),
    ("connect_abstract", || {
        abstract_stream(&variable("TEST_ABSTRACT"))
    }),
    ("abstract_of_ones_own", || {
        use std::os::linux::net::SocketAddrExt;
        // Where the network is the machine's, so are the names.
        let name = format!("own-{}", variable("HARNESS_PID"));
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name)?;
        let _listener = UnixListener::bind_addr(&address)?;
        abstract_stream(&name)
    }),
    ("kernel_interfaces", kernel_interfaces),
    ("fork_until_refused", fork_until_refused),
    ("lock_everything", lock_everything),
    ("serve_once", serve_once),
    ("call_once", call_once),
    ("ask_the_proxy", || ask_the_proxy(&variable("http_proxy"))),
    ("ask_anothers_proxy", ask_anothers_proxy),
    ("other_descriptors", other_descriptors),
    ("descriptors_of_init", descriptors_of_init),
];

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

fn call(number: i64, arguments: [i64; 5]) -> io::Result<i64> {
    let [first, second, third, fourth, fifth] = arguments;
    // SAFETY: the probes pass numbers, null, or pointers to memory that outlives the call.
    let result = unsafe { libc::syscall(number, first, second, third, fourth, fifth) };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Succeeds if any of several ways does.
fn any(ways: impl IntoIterator<Item = (String, io::Result<i64>)>) -> io::Result<()> {
    let mut refused = Vec::new();
    for (name, result) in ways {
        match result {
            Ok(_) => {
                println!("{name} worked");
                return Ok(());
            }
            Err(error) => refused.push(format!("{name}: {error}")),
        }
    }
    Err(io::Error::other(refused.join("; ")))
}

fn reopen(path: &str) -> io::Result<()> {
    let name = CString::new(path).unwrap();
    // SAFETY: the name is a C string.
    let descriptor = unsafe { libc::open(name.as_ptr(), libc::O_PATH) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    fs::write(format!("/proc/self/fd/{descriptor}"), "changed")
}

fn open_by_handle() -> io::Result<()> {
    let mut handle = [0u8; 136];
    handle[..4].copy_from_slice(&128u32.to_ne_bytes());
    let mut mount = 0i32;
    let pointer = handle.as_mut_ptr() as i64;
    let name = c"/etc/passwd".as_ptr() as i64;
    let at = i64::from(libc::AT_FDCWD);
    let _ = call(
        libc::SYS_name_to_handle_at,
        [at, name, pointer, std::ptr::from_mut(&mut mount) as i64, 0],
    );
    let root = fs::File::open("/")?;
    call(
        libc::SYS_open_by_handle_at,
        [i64::from(root.as_raw_fd()), pointer, 0, 0, 0],
    )
    .map(|_| ())
}

fn write_foreign_memory() -> io::Result<()> {
    let mut ways = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name
            .parse::<u32>()
            .is_ok_and(|pid| pid != std::process::id())
        {
            let path = format!("/proc/{name}/mem");
            let opened = fs::OpenOptions::new().read(true).write(true).open(&path);
            ways.push((path, opened.map(|_| 0)));
            let path = format!("/proc/{name}/mem (read)");
            ways.push((path, fs::File::open(format!("/proc/{name}/mem")).map(|_| 0)));
        }
    }
    any(ways)
}

#[allow(clippy::unnecessary_wraps, reason = "a probe like the others")]
fn read_high_descriptors() -> io::Result<()> {
    for number in 3..1024 {
        if let Ok(text) = fs::read_to_string(format!("/proc/self/fd/{number}")) {
            println!("{number}: {text}");
        }
    }
    Ok(())
}

fn connect_machine_sockets() -> io::Result<()> {
    let mut paths: Vec<String> = vec![
        "/run/docker.sock".into(),
        "/var/run/docker.sock".into(),
        "/run/dbus/system_bus_socket".into(),
        "/run/systemd/private".into(),
        format!("/run/ringfence-{}.sock", variable("HARNESS_PID")),
        format!("{}/daemon.sock", variable("OUTSIDE")),
    ];
    let seen = fs::read_dir("/run")?
        .flatten()
        // How programs tell that they are in a container.
        .filter(|entry| entry.file_name() != ".containerenv")
        .count();
    if seen > 0 {
        println!("/run holds {seen} entries");
        return Ok(());
    }
    paths.extend(
        fs::read_dir("/run/user")
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path().join("bus").display().to_string()),
    );
    any(paths.into_iter().map(|path| {
        let connected = UnixStream::connect(&path).map(|_| 0);
        (path, connected)
    }))
}

fn sockets_of_ones_own() -> io::Result<()> {
    // Where `/tmp` is the machine's, others make theirs there too.
    let in_tmp = format!("/tmp/own-{}.sock", variable("HARNESS_PID"));
    for path in ["./own.sock", &in_tmp] {
        let _ = fs::remove_file(path);
        let listener = UnixListener::bind(path)?;
        let client = UnixStream::connect(path);
        fs::remove_file(path)?;
        let mut client = client?;
        let (mut server, _) = listener.accept()?;
        client.write_all(b"hello")?;
        server.read_exact(&mut [0; 5])?;
    }
    Ok(())
}

fn change_mounts() -> io::Result<()> {
    let tmp = c"/tmp".as_ptr() as i64;
    let root = c"/".as_ptr() as i64;
    let tmpfs = c"tmpfs".as_ptr() as i64;
    let remount = libc::MS_REMOUNT | libc::MS_BIND;
    any([
        ("umount".into(), call(libc::SYS_umount2, [tmp, 0, 0, 0, 0])),
        (
            "lazy umount".into(),
            call(libc::SYS_umount2, [tmp, 2, 0, 0, 0]),
        ),
        (
            "mount".into(),
            call(libc::SYS_mount, [tmpfs, tmp, tmpfs, 0, 0]),
        ),
        (
            "remount".into(),
            call(libc::SYS_mount, [0, root, 0, remount.cast_signed(), 0]),
        ),
        (
            "open_tree".into(),
            call(libc::SYS_open_tree, [-100, root, 1, 0, 0]),
        ),
        ("fsopen".into(), call(libc::SYS_fsopen, [tmpfs, 0, 0, 0, 0])),
        (
            "pivot_root".into(),
            call(libc::SYS_pivot_root, [tmp, tmp, 0, 0, 0]),
        ),
        ("chroot".into(), call(libc::SYS_chroot, [tmp, 0, 0, 0, 0])),
        (
            "setns".into(),
            fs::File::open("/proc/1/ns/mnt")
                .and_then(|ns| call(libc::SYS_setns, [i64::from(ns.as_raw_fd()), 0, 0, 0, 0])),
        ),
    ])
}

fn io_uring() -> io::Result<()> {
    let mut parameters = [0u64; 15];
    call(
        libc::SYS_io_uring_setup,
        [4, parameters.as_mut_ptr() as i64, 0, 0, 0],
    )
    .map(|_| ())
}

fn fork_and_wait(child: impl FnOnce() -> i32) -> io::Result<()> {
    // SAFETY: the child only runs the closure and exits.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: _exit does not return.
        0 => unsafe { libc::_exit(child()) },
        pid => {
            let mut status = 0;
            // SAFETY: `status` outlives the call.
            unsafe { libc::waitpid(pid, &raw mut status, 0) };
            if status == 0 {
                Ok(())
            } else {
                Err(io::Error::other(format!("status {status}")))
            }
        }
    }
}

fn ptrace() -> io::Result<()> {
    any([
        ("traceme".into(), call(libc::SYS_ptrace, [0, 0, 0, 0, 0])),
        (
            "attach to init".into(),
            call(libc::SYS_ptrace, [16, 1, 0, 0, 0]),
        ),
        (
            "seize init".into(),
            call(libc::SYS_ptrace, [0x4206, 1, 0, 0, 0]),
        ),
    ])
}

fn process_vm() -> io::Result<()> {
    let mut byte = 0u8;
    let local = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    let vector = std::ptr::from_ref(&local) as i64;
    let own = i64::from(std::process::id());
    any([
        (
            "readv".into(),
            call(libc::SYS_process_vm_readv, [own, vector, 1, vector, 1]),
        ),
        (
            "writev".into(),
            call(libc::SYS_process_vm_writev, [own, vector, 1, vector, 1]),
        ),
    ])
}

/// Each try is made in a child, since it may cost its life.
fn foreign_tables() -> io::Result<()> {
    let x32 = fork_and_wait(|| i32::from(call(0x4000_0000 | libc::SYS_getppid, [0; 5]).is_err()));
    #[cfg(target_arch = "x86_64")]
    let int80 = fork_and_wait(|| {
        let result: i64;
        // SAFETY: getppid of the 32-bit table; no memory is used.
        unsafe { std::arch::asm!("int 0x80", inlateout("rax") 64i64 => result) };
        i32::from(result < 0)
    });
    #[cfg(not(target_arch = "x86_64"))]
    let int80 = Err(io::Error::other("no such table here"));
    any([
        ("x32".into(), x32.map(|()| 0)),
        ("32-bit".into(), int80.map(|()| 0)),
    ])
}

/// Installs a filter that allows everything, with flags.
fn seccomp(flags: i64) -> io::Result<()> {
    let mut allow = libc::sock_filter {
        code: 6,
        jt: 0,
        jf: 0,
        k: libc::SECCOMP_RET_ALLOW,
    };
    let program = libc::sock_fprog {
        len: 1,
        filter: &raw mut allow,
    };
    call(
        libc::SYS_seccomp,
        [1, flags, std::ptr::from_ref(&program) as i64, 0, 0],
    )
    .map(|_| ())
}

fn clone3_user_namespace() -> io::Result<()> {
    let mut arguments = [0u64; 11];
    arguments[0] = libc::CLONE_NEWUSER.cast_unsigned().into();
    arguments[4] = libc::SIGCHLD.cast_unsigned().into();
    match call(
        libc::SYS_clone3,
        [arguments.as_mut_ptr() as i64, 88, 0, 0, 0],
    )? {
        // SAFETY: the child exits at once.
        0 => unsafe { libc::_exit(0) },
        _ => Ok(()),
    }
}

fn type_into_terminal() -> io::Result<()> {
    let byte = b"x".as_ptr() as i64;
    any([
        (
            "TIOCSTI".into(),
            call(libc::SYS_ioctl, [0, 0x5412, byte, 0, 0]),
        ),
        (
            "with high bits".into(),
            call(libc::SYS_ioctl, [0, 0x1_0000_5412, byte, 0, 0]),
        ),
        (
            "TIOCLINUX".into(),
            call(libc::SYS_ioctl, [0, 0x541c, byte, 0, 0]),
        ),
    ])
}

fn terminal_works() -> io::Result<()> {
    let mut size = [0u16; 4];
    call(
        libc::SYS_ioctl,
        [
            0,
            libc::TIOCGWINSZ.cast_signed(),
            size.as_mut_ptr() as i64,
            0,
            0,
        ],
    )?;
    assert_eq!((size[0], size[1]), (24, 80));
    fs::OpenOptions::new()
        .write(true)
        .open("/dev/tty")?
        .write_all(b"TERMINAL\n")
}

fn reach_out() -> io::Result<()> {
    let port: u16 = variable("TEST_PORT").parse().unwrap();
    let family = |name: &str, family: i32, kind: i32| {
        let number = [i64::from(family), i64::from(kind), 0, 0, 0];
        (name.to_owned(), call(libc::SYS_socket, number))
    };
    any([
        (
            "TCP".into(),
            TcpStream::connect(("127.0.0.1", port)).map(|_| 0),
        ),
        (
            "UDP beyond the loopback".into(),
            UdpSocket::bind("0.0.0.0:0")
                .and_then(|socket| socket.connect(("192.0.2.1", 53)))
                .map(|()| 0),
        ),
        family("vsock", 40, libc::SOCK_STREAM),
        family("packet", libc::AF_PACKET, libc::SOCK_RAW),
        family("raw", libc::AF_INET, libc::SOCK_RAW),
        family("bluetooth", libc::AF_BLUETOOTH, libc::SOCK_RAW),
        family("alg", libc::AF_ALG, libc::SOCK_SEQPACKET),
        family("can", libc::AF_CAN, libc::SOCK_RAW),
        family("rds", 21, libc::SOCK_SEQPACKET),
        family("tipc", 30, libc::SOCK_STREAM),
        family("xdp", 44, libc::SOCK_RAW),
    ])
}

fn loopback_of_ones_own() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (mut server, _) = listener.accept()?;
    client.write_all(b"hello")?;
    server.read_exact(&mut [0; 5])?;
    let udp = UdpSocket::bind("127.0.0.1:0")?;
    udp.send_to(b"hello", udp.local_addr()?).map(|_| ())
}

fn abstract_stream(name: &str) -> io::Result<()> {
    use std::os::linux::net::SocketAddrExt;
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
    UnixStream::connect_addr(&address).map(|_| ())
}

fn kernel_interfaces() -> io::Result<()> {
    let attributes = [0u64; 16];
    let pointer = attributes.as_ptr() as i64;
    any([
        ("bpf".into(), call(libc::SYS_bpf, [0, pointer, 128, 0, 0])),
        (
            "perf_event_open".into(),
            call(libc::SYS_perf_event_open, [pointer, 0, -1, -1, 0]),
        ),
        (
            "userfaultfd".into(),
            call(libc::SYS_userfaultfd, [1, 0, 0, 0, 0]),
        ),
        ("keyctl".into(), call(libc::SYS_keyctl, [0, -3, 1, 0, 0])),
        (
            "fanotify".into(),
            call(libc::SYS_fanotify_init, [0, 0, 0, 0, 0]),
        ),
        ("kcmp".into(), call(libc::SYS_kcmp, [1, 1, 0, 0, 0])),
        ("syslog".into(), call(libc::SYS_syslog, [10, 0, 0, 0, 0])),
    ])
}

/// Forks until the kernel says no. Succeeds, which is the escape, if it never does.
fn fork_until_refused() -> io::Result<()> {
    const MANY: usize = 1000;
    for _ in 0..MANY {
        // SAFETY: the child only sleeps.
        match unsafe { libc::fork() } {
            -1 => {
                let error = io::Error::last_os_error();
                // The children hold our output open: end them with us.
                // SAFETY: every process of this run is ours.
                unsafe { libc::kill(-1, libc::SIGKILL) };
                return Err(error);
            }
            0 => loop {
                // SAFETY: pause takes nothing; the child is killed with the run.
                unsafe { libc::pause() };
            },
            _ => {}
        }
    }
    Ok(())
}

/// Succeeds if there is an open descriptor besides the three.
fn other_descriptors() -> io::Result<()> {
    any((3..1024).map(|number| {
        let flags = call(libc::SYS_fcntl, [number, i64::from(libc::F_GETFD), 0, 0, 0]);
        (format!("descriptor {number}"), flags)
    }))
}

/// Takes a descriptor of the first process, by `/proc` and by asking for it. (Root may see their
/// numbers: that is no descriptor yet.)
fn descriptors_of_init() -> io::Result<()> {
    let pidfd = call(libc::SYS_pidfd_open, [1, 0, 0, 0, 0])?;
    let mut ways = Vec::new();
    for number in 0..64 {
        let path = format!("/proc/1/fd/{number}");
        ways.push((path.clone(), fs::File::open(&path).map(|_| 0)));
        let asked = call(libc::SYS_pidfd_getfd, [pidfd, number, 0, 0, 0]);
        ways.push((format!("pidfd_getfd {number}"), asked));
    }
    any(ways)
}

/// Waits for one caller on the loopback, whose port is in the workspace.
fn serve_once() -> io::Result<()> {
    fs::write("/tmp/shared", "kept\n")?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    fs::write("port", listener.local_addr()?.port().to_string())?;
    println!("serving");
    listener.accept()?.0.write_all(b"hello from another run\n")
}

fn call_once() -> io::Result<()> {
    let port: u16 = fs::read_to_string("port")?.parse().unwrap();
    let mut text = String::new();
    TcpStream::connect(("127.0.0.1", port))?.read_to_string(&mut text)?;
    print!("{text}");
    Ok(())
}

/// Asks a proxy for a host and prints what it says.
fn ask_the_proxy(proxy: &str) -> io::Result<()> {
    let address = proxy.trim_start_matches("http://").trim_end_matches('/');
    let request =
        b"GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\nConnection: close\r\n\r\n";
    let mut proxy = TcpStream::connect(address)?;
    proxy.write_all(request)?;
    let mut text = [0; 64];
    let count = proxy.read(&mut text)?;
    print!("{}", String::from_utf8_lossy(&text[..count]));
    Ok(())
}

/// Another run's proxy, by every way to connect.
fn ask_anothers_proxy() -> io::Result<()> {
    let proxy = fs::read_to_string("proxy")?;
    let proxy = proxy.trim();
    let port = proxy.rsplit(':').next().unwrap_or_default();
    let address = proxy.trim_start_matches("http://").rsplit_once(':');
    let host = address.map_or("", |(host, _)| host);
    let fast = || {
        let socket = tcp()?;
        let mut name = [0u8; 16];
        name[..2].copy_from_slice(&2u16.to_ne_bytes());
        name[2..4].copy_from_slice(&port.parse::<u16>().unwrap().to_be_bytes());
        name[4..8].copy_from_slice(&host.parse::<std::net::Ipv4Addr>().unwrap().octets());
        let number = i64::from(socket.as_raw_fd());
        let flags = i64::from(libc::MSG_FASTOPEN);
        // SAFETY: the pointers are to memory that outlives the call.
        let sent = unsafe {
            libc::syscall(
                libc::SYS_sendto,
                number,
                b"x".as_ptr(),
                1,
                flags,
                name.as_ptr(),
                16,
            )
        };
        if sent < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(sent)
        }
    };
    any([
        ("its name".into(), ask_the_proxy(proxy).map(|()| 0)),
        (
            "as IPv6".into(),
            ask_the_proxy(&format!("[::ffff:{host}]:{port}")).map(|()| 0),
        ),
        (
            "anything".into(),
            ask_the_proxy(&format!("0.0.0.0:{port}")).map(|()| 0),
        ),
        (
            "localhost".into(),
            ask_the_proxy(&format!("127.0.0.1:{port}")).map(|()| 0),
        ),
        ("fast open".into(), fast()),
    ])
}

fn tcp() -> io::Result<std::os::fd::OwnedFd> {
    use std::os::fd::FromRawFd;
    let family = [libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC].map(i64::from);
    let number = call(libc::SYS_socket, [family[0], family[1], 0, 0, 0])?;
    let number = i32::try_from(number).map_err(io::Error::other)?;
    // SAFETY: the call has just made it, and nobody else knows of it.
    Ok(unsafe { std::os::fd::OwnedFd::from_raw_fd(number) })
}
