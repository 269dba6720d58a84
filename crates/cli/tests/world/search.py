"""Searches what can be looked at for a secret, and says where it was found, a word a line.

    search.py inside PATTERN URL   asks for URL through the proxy, then searches every process and
                                   file that can be seen, and lives until its input ends
    search.py outside PATTERN PID...   searches these processes

The pattern is a regular expression that does not contain the secret: nothing here holds it.
"""

import os
import re
import stat
import sys
import urllib.request

WINDOW = 1 << 24
looked = {"environ": 0, "cmdline": 0, "memory": 0, "file": 0}


def holds(data):
    return pattern.search(data) is not None


def readable(path):
    """The content of an ordinary file, window by window; a window overlaps the one before."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return
        at = 0
        while data := os.pread(descriptor, WINDOW, at):
            yield data
            at += max(1, len(data) - 256) if len(data) == WINDOW else len(data)
    finally:
        os.close(descriptor)


def in_file(path, what):
    try:
        found = any(holds(data) for data in readable(path))
        looked[what] += 1
        return found
    except OSError:
        return False


def in_memory(pid):
    try:
        maps = open("/proc/%s/maps" % pid).read()
        if holds(maps.encode()):
            return True
        memory = os.open("/proc/%s/mem" % pid, os.O_RDONLY)
    except OSError:
        return False
    found = False
    for line in maps.splitlines():
        begin, end = (int(part, 16) for part in line.split()[0].split("-"))
        while begin < end:
            try:
                data = os.pread(memory, min(WINDOW, end - begin), begin)
            except (OSError, OverflowError):
                break
            if not data:
                break
            looked["memory"] += 1
            found = found or holds(data)
            begin += len(data) if begin + len(data) == end else max(1, len(data) - 256)
    os.close(memory)
    return found


def search(pids, folders):
    found = set()
    for pid in pids:
        for what in ["environ", "cmdline"]:
            if in_file("/proc/%s/%s" % (pid, what), what):
                found.add(what)
        if in_memory(pid):
            found.add("memory")
        try:
            descriptors = os.listdir("/proc/%s/fd" % pid)
        except OSError:
            descriptors = []
        for number in descriptors:
            if in_file("/proc/%s/fd/%s" % (pid, number), "file"):
                found.add("descriptor")
    for top in folders:
        for folder, _, files in os.walk(top):
            for name in files:
                if in_file(os.path.join(folder, name), "file"):
                    found.add("file")
    return found


mode, pattern = sys.argv[1], re.compile(sys.argv[2].encode())
if mode == "inside":
    page = urllib.request.urlopen(sys.argv[3]).read()
    print("page", page.decode().strip())
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
    folders = [os.getcwd(), os.environ["HOME"], "/tmp", "/run", "/dev/shm"]
else:
    pids, folders = sys.argv[3:], []
for what in sorted(search(pids, folders)):
    print("found", what)
print("looked", *("%s=%d" % pair for pair in sorted(looked.items())))
print("done", flush=True)
if mode == "inside":
    sys.stdin.read()
