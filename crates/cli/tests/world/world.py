"""The outside world of the network tests: servers with addresses that exist in a network namespace of
the test's own and nowhere else. Started inside that namespace; writes what reached it to `seen`."""

import base64, hashlib, http.server, io, json, os, socket, socketserver, ssl, struct, subprocess
import sys, tarfile, threading, zipfile

sys.dont_write_bytecode = True
import odd, registries

ROOT, PUBLIC, OTHER, PRIVATE, METADATA = (sys.argv[1], "203.0.113.10", "203.0.113.66", "10.9.9.9",
                                          "169.254.169.254")
NAMES = ["allowed.test", "git.test", "pypi.test", "npm.test", "crates.test", "api.test", "sub.wild.test"]
SITE = os.path.join(ROOT, "site")
seen_lock = threading.Lock()


def seen(line):
    with seen_lock, open(os.path.join(ROOT, "seen"), "a") as log:
        log.write(line + "\n")


def run(*words, **how):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)


def write(path, content):
    path = os.path.join(SITE, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def make_network():
    run("ip", "link", "set", "lo", "up")
    for address in [PUBLIC, OTHER, PRIVATE, METADATA]:
        run("ip", "address", "add", address + "/32", "dev", "lo")
    hosts = "127.0.0.1 localhost\n" + PUBLIC + " " + " ".join(NAMES) + " other.test wild.test\n"
    hosts += PRIVATE + " private.test\n" + METADATA + " metadata.test\n127.0.0.1 loop.test\n"
    for name, text in [("hosts", hosts), ("resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"),
                       ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n")]:
        with open(os.path.join(ROOT, name), "w") as file:
            file.write(text)
        run("mount", "--bind", os.path.join(ROOT, name), "/etc/" + name)


def make_certificates():
    at = lambda name: os.path.join(ROOT, name)
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-keyout", at("ca.key"), "-out", at("ca.pem"), "-subj", "/CN=the test's own authority",
        "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-keyout", at("server.key"), "-out", at("server.csr"), "-subj", "/CN=allowed.test")
    with open(at("names"), "w") as file:
        file.write("subjectAltName=" + ",".join("DNS:" + name for name in NAMES + registries.NAMES + ["other.test"]) + "\n")
        file.write("basicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n")
    run("openssl", "x509", "-req", "-in", at("server.csr"), "-CA", at("ca.pem"), "-CAkey", at("ca.key"),
        "-CAcreateserial", "-days", "2", "-out", at("server.pem"), "-extfile", at("names"))


def make_site():
    write("page", "the page\n")
    write("large", b"x" * (4 << 20))
    # A repository, for git.
    work = os.path.join(ROOT, "repository")
    git = lambda *words: run("git", "-c", "user.name=t", "-c", "user.email=t@t", *words, cwd=work)
    os.makedirs(work)
    git("init", "-q", "-b", "main")
    with open(os.path.join(work, "file"), "w") as file:
        file.write("from the repository\n")
    git("add", "file")
    git("commit", "-q", "-m", "one")
    bare = os.path.join(SITE, "repository.git")
    run("git", "clone", "-q", "--bare", work, bare)
    run("git", "update-server-info", cwd=bare)
    # A package, for pip.
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny_thing.py", "WORD = 'from the wheel'\n")
        archive.writestr("tiny_thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.0\n")
        archive.writestr("tiny_thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny_thing-1.0.dist-info/RECORD", "")
    name = "tiny_thing-1.0-py3-none-any.whl"
    write("packages/" + name, wheel.getvalue())
    write("simple/tiny-thing/index.html", '<a href="/packages/%s">%s</a>' % (name, name))
    # One for npm.
    package = tar({"package/package.json": '{"name":"tiny-thing","version":"1.0.0","main":"index.js"}',
                   "package/index.js": "module.exports = 'from the tarball'\n"})
    write("tiny-thing-1.0.0.tgz", package)
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(package).digest()).decode()
    version = {"name": "tiny-thing", "version": "1.0.0", "dist": {
        "tarball": "https://npm.test/tiny-thing-1.0.0.tgz", "integrity": integrity}}
    write("tiny-thing", json.dumps({"name": "tiny-thing", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}))
    # One for cargo.
    crate = tar({"tiny-thing-1.0.0/Cargo.toml": '[package]\nname = "tiny-thing"\nversion = "1.0.0"\nedition = "2021"\n',
                 "tiny-thing-1.0.0/src/lib.rs": "// from the crate\n"})
    write("crates/tiny-thing/1.0.0/download", crate)
    write("index/config.json", '{"dl":"https://crates.test/crates"}')
    write("index/ti/ny/tiny-thing", json.dumps({"name": "tiny-thing", "vers": "1.0.0", "deps": [],
        "cksum": hashlib.sha256(crate).hexdigest(), "features": {}, "yanked": False}) + "\n")


def tar(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


class Pages(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *arguments):
        super().__init__(*arguments, directory=SITE)

    def parse_request(self):
        fine = super().parse_request()
        if fine:
            where = self.server.server_address[0]
            secure = "https" if isinstance(self.connection, ssl.SSLSocket) else "http"
            token = self.headers.get("Authorization", "-")
            seen("%s %s %s %s host=%s token=%s" % (secure, where, self.command, self.path, self.headers.get("Host"), token))
        return fine

    def end_headers(self):
        # pip keeps only what it is told that it may.
        if self.path.startswith("/packages/fenced"):
            self.send_header("Cache-Control", "max-age=600")
        super().end_headers()

    def do_POST(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while (size := int(self.rfile.readline(), 16)) > 0:
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = b"got %d bytes\n" % len(body)
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        seen("tcp %s:%d" % self.server.server_address)
        while data := self.request.recv(65536):
            self.request.sendall(data)


class Relay(socketserver.StreamRequestHandler):
    """What happens to be a proxy on an allowed host."""

    def handle(self):
        line = self.rfile.readline().decode("latin-1").strip()
        seen("relay " + line)
        self.wfile.write(b"HTTP/1.1 200 relayed\r\nContent-Length: 0\r\n\r\n")


def serve(address, port, handler, secure=None):
    server = Server((address, port), handler)
    if secure:
        server.socket = secure.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def serve_names():
    """A name server. `rebind.test` has another address every time it is asked for."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 53))
    asked = {"rebind.test": 0}

    def answer():
        while True:
            query, client = sock.recvfrom(512)
            labels, at = [], 12
            while query[at]:
                labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1"))
                at += 1 + query[at]
            name, kind = ".".join(labels).lower(), struct.unpack(">H", query[at + 1:at + 3])[0]
            seen("dns %s %d" % (name, kind))
            addresses = []
            if kind == 1 and name == "rebind.test":
                asked[name] += 1
                addresses = [PUBLIC if asked[name] % 2 else PRIVATE]
            elif kind == 1 and name in registries.NAMES:
                addresses = [PUBLIC]
            elif kind == 1 and name == "two.test":
                addresses = [PRIVATE, PUBLIC]
            elif kind == 28 and name == "mapped.test":
                addresses = ["::ffff:" + METADATA]
            flags = 0x8180 if addresses or name in registries.NAMES + ["rebind.test", "two.test", "mapped.test"] else 0x8183
            reply = query[:2] + struct.pack(">HHHHH", flags, 1, len(addresses), 0, 0) + query[12:at + 5]
            for address in addresses:
                family = socket.AF_INET6 if ":" in address else socket.AF_INET
                packed = socket.inet_pton(family, address)
                reply += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(packed)) + packed
            sock.sendto(reply, client)

    threading.Thread(target=answer, daemon=True).start()


def listen_for_datagrams():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((OTHER, 53))

    def hear():
        while True:
            sock.recvfrom(512)
            seen("udp direct")

    threading.Thread(target=hear, daemon=True).start()


make_network()
make_certificates()
make_site()
registries.make(write, tar)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(os.path.join(ROOT, "server.pem"), os.path.join(ROOT, "server.key"))
for address in [PUBLIC, OTHER, PRIVATE, METADATA, "127.0.0.1"]:
    serve(address, 80, Pages)
serve(PUBLIC, 443, Pages, context)
serve(PUBLIC, 7000, Echo)
serve(PUBLIC, 3128, Relay)
serve(PUBLIC, 8080, odd.answering(seen))
serve(OTHER, 8080, odd.answering(seen))
serve(PUBLIC, 8443, odd.answering(seen), context)
serve_names()
listen_for_datagrams()
print("ready", flush=True)
sys.stdin.read()
