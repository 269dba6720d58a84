"""Servers that answer in odd ways, one for each path: endless, cut off, in pieces, leading elsewhere."""

import gzip, socketserver, urllib.parse

ENDLESS = b"x" * (1 << 16)


def answering(seen):
    """A handler that writes what it was asked for to `seen`."""

    class Odd(socketserver.StreamRequestHandler):
        def handle(self):
            # A handshake is no request, and need not have the end of a line in it.
            if self.rfile.peek(1)[:1] == b"\x16":
                return
            line = self.rfile.readline().decode("latin-1").strip()
            if line.count(" ") != 2:
                return
            self.method, self.path, _ = line.split(" ")
            self.headers = []
            while (header := self.rfile.readline().decode("latin-1").rstrip("\r\n")):
                self.headers.append(header)
            values = dict((name.lower(), value) for name, value in (header.split(": ", 1) for header in self.headers))
            body = self.rfile.read(int(values.get("content-length", 0)))
            seen("odd %s %s %s%s %s" % (self.server.server_address[0], self.method, values["host"], self.path,
                 " ".join("%s=%s" % (name, values.get(name, "-")) for name in ("authorization", "cookie", "x-api-key", "content-type"))))
            self.body = body
            url = urllib.parse.urlsplit(self.path)
            self.query = dict(urllib.parse.parse_qsl(url.query))
            try:
                getattr(self, "answer_" + url.path.strip("/"))()
            except OSError as error:
                seen("gone %s %s" % (self.path, error.__class__.__name__))

        def say(self, *parts):
            for part in parts:
                self.wfile.write(part if isinstance(part, bytes) else part.encode("latin-1"))
                self.wfile.flush()

        def ok(self, headers, *parts):
            self.say("HTTP/1.1 200 OK\r\n" + "".join(header + "\r\n" for header in headers) + "\r\n", *parts)

        def until_gone(self):
            self.rfile.read(1)
            seen("gone " + self.path)

        def answer_huge(self):
            self.ok(["Content-Length: %d" % (1 << 30)])
            sent = 0
            try:
                while sent < 1 << 30:
                    self.wfile.write(ENDLESS)
                    sent += len(ENDLESS)
            finally:
                seen("huge sent %s" % ("all" if sent >= 1 << 30 else "some"))

        def answer_endless(self):
            self.ok(["Transfer-Encoding: chunked"])
            while True:
                self.say("10000\r\n", ENDLESS, "\r\n")

        def answer_drip(self):
            self.ok(["Content-Type: text/plain"], "drip")
            self.connection.settimeout(0.02)
            while True:
                try:
                    if not self.connection.recv(1):
                        break
                except TimeoutError:
                    self.connection.sendall(b".")
            seen("gone " + self.path)

        def answer_silent(self):
            self.until_gone()

        def answer_redirect(self):
            self.say("HTTP/1.1 %s Elsewhere\r\nLocation: %s\r\n" % (self.query.get("status", "302"), self.query["to"]))
            if "endless" in self.query:
                self.say("\r\n", "and more")
                self.until_gone()
            self.say("Content-Length: 0\r\n\r\n")

        def answer_loop(self):
            self.say("HTTP/1.1 302 Again\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n")

        def answer_count(self):
            left = int(self.query["left"])
            if left:
                self.say("HTTP/1.1 302 On\r\nLocation: ?left=%d\r\nContent-Length: 0\r\n\r\n" % (left - 1))
            self.ok(["Content-Length: 7"], "arrived")

        def answer_echo(self):
            text = "\n".join(["%s %s" % (self.method, self.path)] + self.headers) + "\n\n" + self.body.decode()
            secret = next((header.split(": ", 1)[1] for header in self.headers if header.lower().startswith("authorization")), "-")
            self.ok(["Content-Length: %d" % len(text.encode()), "X-Echo: " + secret], text.encode())

        def answer_leak(self):
            secret = next(header.split(": ", 1)[1] for header in self.headers if header.lower().startswith("authorization"))
            place = "http://other.test:8080/echo?token=" + urllib.parse.quote(secret.split()[-1])
            self.say("HTTP/1.1 302 Leaks\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % place)

        def answer_headers(self):
            self.ok(["X-%d: y" % number for number in range(10000)] + ["Content-Length: 0"])

        def answer_head(self):
            self.ok(["X-Long: " + "y" * (1 << 20), "Content-Length: 0"])

        def answer_nohead(self):
            self.say("HTTP/1.1 200 OK\r\nX: ")
            while True:
                self.say(b"y" * 4096)

        def answer_http10(self):
            self.say("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end")

        def answer_trailers(self):
            self.ok(["Transfer-Encoding: chunked", "Trailer: X-After"],
                    "3;name=value\r\nabc\r\n", "2\r\nde\r\n0\r\nX-After: 1\r\n\r\n")

        def answer_interim(self):
            self.say("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
            self.ok(["Content-Length: 4"], "then")

        def answer_switch(self):
            self.say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: upgrade\r\n\r\nother")

        def answer_none(self):
            self.say("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nstray")

        def answer_sized(self):
            self.ok(["Content-Length: 1000"], b"" if self.method == "HEAD" else b"y" * 1000)

        def answer_garbage(self):
            self.say("hello\r\n\r\n")

        def answer_cut(self):
            self.ok(["Content-Length: 100"], "ten bytes.")

        def answer_closed(self):
            pass

        def answer_badchunk(self):
            self.ok(["Transfer-Encoding: chunked"], "zz\r\nabc\r\n0\r\n\r\n")

        def answer_lengths(self):
            self.ok(["Content-Length: 3", "Content-Length: 4"], "abcd")

        def answer_bomb(self):
            body = gzip.compress(b"\0" * (10 << 20))
            self.ok(["Content-Encoding: gzip", "Content-Length: %d" % len(body)], body)

        def answer_cookies(self):
            self.ok(["Set-Cookie: a=1", "Set-Cookie: b=2", "X-Two: 1", "X-Two: 2", "Content-Length: 0"])

        def answer_binary(self):
            self.ok(["Content-Length: 3"], b"\xff\xfe\xfd")

        def answer_umlaut(self):
            self.ok(["Content-Length: 4"], "a\u00e4b".encode())

        def answer_missing(self):
            self.say("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone")

    return Odd
