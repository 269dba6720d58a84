"""Registries of package managers, as static files below the names that presets know: one package each, which says
where it comes from. Only in the test's own namespace do these names lead here."""

import base64, hashlib, io, json, zipfile

NAMES = ["registry.npmjs.org", "pypi.org", "files.pythonhosted.org", "index.crates.io", "static.crates.io",
         "proxy.golang.org", "sum.golang.org", "registry.corp.test"]


def make(write, tar):
    npm(write, tar)
    pip(write)
    cargo(write, tar)
    go(write)


def npm(write, tar):
    package = tar({"package/package.json": '{"name":"fenced-thing","version":"1.0.0","main":"index.js"}',
                   "package/index.js": "module.exports = 'npm found it'\n"})
    write("tarballs/fenced-thing-1.0.0.tgz", package)
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(package).digest()).decode()
    tarball = "https://registry.npmjs.org/tarballs/fenced-thing-1.0.0.tgz"
    version = {"name": "fenced-thing", "version": "1.0.0", "dist": {"tarball": tarball, "integrity": integrity}}
    packument = {"name": "fenced-thing", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
    write("fenced-thing", json.dumps(packument))


def pip(write):
    wheel = io.BytesIO()
    info = "fenced_thing-1.0.dist-info/"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("fenced_thing.py", "WORD = 'pip found it'\n")
        archive.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: fenced-thing\nVersion: 1.0\n")
        archive.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(info + "RECORD", "")
    name = "fenced_thing-1.0-py3-none-any.whl"
    write("packages/" + name, wheel.getvalue())
    link = "https://files.pythonhosted.org/packages/" + name
    write("simple/fenced-thing/index.html", '<a href="%s#sha256=%s">%s</a>' %
          (link, hashlib.sha256(wheel.getvalue()).hexdigest(), name))


def cargo(write, tar):
    crate = tar({"fenced-thing-1.0.0/Cargo.toml": '[package]\nname = "fenced-thing"\nversion = "1.0.0"\nedition = "2021"\n',
                 "fenced-thing-1.0.0/src/lib.rs": 'pub const WORD: &str = "cargo found it";\n'})
    write("crates/fenced-thing/1.0.0/download", crate)
    write("crates/fenced-thing/fenced-thing-1.0.0.crate", crate)
    write("config.json", '{"dl":"https://static.crates.io/crates","api":"https://crates.io"}')
    write("fe/nc/fenced-thing", json.dumps({"name": "fenced-thing", "vers": "1.0.0", "deps": [],
        "cksum": hashlib.sha256(crate).hexdigest(), "features": {}, "yanked": False}) + "\n")


def go(write):
    module, version = "example.test/fenced", "v1.0.0"
    manifest = "module example.test/fenced\n\ngo 1.19\n"
    source = 'package fenced\n\nconst Word = "go found it"\n'
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in [("go.mod", manifest), ("fenced.go", source)]:
            archive.writestr("%s@%s/%s" % (module, version, name), text)
    at = module + "/@v/"
    write(at + "list", version + "\n")
    write(at + version + ".info", json.dumps({"Version": version, "Time": "2026-01-01T00:00:00Z"}))
    write(at + version + ".mod", manifest)
    write(at + version + ".zip", packed.getvalue())
