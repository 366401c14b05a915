#!/usr/bin/env python3
"""Serves a folder over http and https on 127.0.0.1, and misbehaves where the URL asks for it: hostile_server.py [--remove] DIR WORK_DIR.

A path /~BEHAVIOUR~SUFFIX/REST stands for /REST, and what ends in SUFFIX is answered as BEHAVIOUR says (NAME or NAME=VALUE, see Answer). The
first line printed is a JSON object of what listens where: "http", "other" (another origin of the same), "https" (its authority's certificate
is the file "ca"), "proxy" (GET and CONNECT) and "refusing_proxy" (403 to every CONNECT). Each request is a line of the file "log", one JSON
object that is written when the answer ended: where, method, path, headers, and how many bytes the system took of the answer.

It stops when standard input is closed, so that it never outlives the test that started it; with --remove it then removes both folders.
"""

import gzip
import json
import os
import select
import shutil
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import threading
import time
import urllib.parse

PIECE = b"\0" * 65536


def make_certificates(folder):
    """A certificate authority, and a certificate for 127.0.0.1 (and not for localhost) that it signed."""
    path = lambda name: os.path.join(folder, name)
    run = lambda *words: subprocess.run(["openssl", *words], check=True, capture_output=True, stdin=subprocess.DEVNULL)
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    run("req", "-x509", *curve, "-days", "30", "-subj", "/CN=test authority", "-keyout", path("ca.key"), "-out", path("ca.pem"))
    run("req", *curve, "-subj", "/CN=127.0.0.1", "-keyout", path("server.key"), "-out", path("server.csr"))
    with open(path("extensions"), "w") as file:
        file.write("subjectAltName=IP:127.0.0.1\n")
    run("x509", "-req", "-days", "30", "-in", path("server.csr"), "-CA", path("ca.pem"), "-CAkey", path("ca.key"), "-CAcreateserial",
        "-extfile", path("extensions"), "-out", path("server.pem"))
    return path("ca.pem"), path("server.pem"), path("server.key")


class Log:
    def __init__(self, path):
        self.path, self.lock, self.counts = path, threading.Lock(), {}
        open(path, "w").close()

    def write(self, **entry):
        with self.lock, open(self.path, "a") as file:
            file.write(json.dumps(entry) + "\n")


class Answer:
    """One answer; each method named after a behaviour sends it and returns whether the connection can go on."""

    def __init__(self, connection, server, path, headers):
        self.connection, self.server, self.headers = connection, server, headers
        self.sent = 0
        self.full_path = path
        self.path = urllib.parse.unquote(path.partition("?")[0])
        self.behaviour, self.suffix, self.value = None, "", None
        if self.path.startswith("/~"):
            marked, _, rest = self.path[2:].partition("/")
            name, _, self.suffix = marked.partition("~")
            if rest.endswith(self.suffix):
                self.behaviour, _, self.value = name.partition("=")
            self.path = "/" + rest

    def send(self, data):
        self.connection.sendall(data)
        self.sent += len(data)

    def head(self, status, *headers, length=None):
        lines = [f"HTTP/1.1 {status} Status", *headers] + ([f"Content-Length: {length}"] if length is not None else [])
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n")

    def file(self):
        path = os.path.realpath(os.path.join(self.server.directory, self.path.lstrip("/")))
        if not path.startswith(os.path.realpath(self.server.directory) + os.sep) or not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return file.read()

    def run(self):
        if self.behaviour:
            # What is not there is answered for all the same.
            return getattr(self, self.behaviour)(self.file() or PIECE[:1000])
        return self.plain()

    def plain(self, _=None):
        path = os.path.realpath(os.path.join(self.server.directory, self.path.lstrip("/")))
        if not path.startswith(os.path.realpath(self.server.directory) + os.sep) or not os.path.isfile(path):
            self.head(404, length=9)
            self.send(b"Not found")
            return True
        size = os.path.getsize(path)
        start, end = self.part(size)
        if start >= size > 0:
            self.head(416, f"Content-Range: bytes */{size}", length=0)
            return True
        if self.headers.get("range"):
            self.head(206, f"Content-Range: bytes {start}-{end - 1}/{size}", length=end - start)
        else:
            self.head(200, length=size)
        self.body(path, start, end)
        return True

    def part(self, size):
        """What is asked for: the first byte, and the one behind the last."""
        asked = self.headers.get("range", "").removeprefix("bytes=")
        if not asked:
            return 0, size
        first, _, last = asked.partition("-")
        return int(first), min(size, int(last) + 1)

    def body(self, path, start, end):
        # In pieces: the file may be huge, and sparse.
        with open(path, "rb") as file:
            file.seek(start)
            while start < end and (piece := file.read(min(1 << 20, end - start))):
                self.send(piece)
                start += len(piece)

    # Parts

    def ignores_range(self, data):
        """A server that knows no parts."""
        self.head(200, length=len(data))
        self.send(data)
        return True

    def other_range(self, data):
        """206, from another byte on."""
        start, end = self.part(len(data))
        shift = 1 if start == 0 else -1
        self.head(206, f"Content-Range: bytes {start + shift}-{end - 1 + shift}/{len(data)}", length=end - start)
        self.send(data[start + shift:end + shift])
        return True

    def other_total(self, data):
        """206, of a file of another length."""
        start, end = self.part(len(data))
        self.head(206, f"Content-Range: bytes {start}-{end - 1}/{len(data) + 1}", length=end - start)
        self.send(data[start:end])
        return True

    def no_content_range(self, data):
        start, end = self.part(len(data))
        self.head(206, length=end - start)
        self.send(data[start:end])
        return True

    def multipart(self, data):
        start, end = self.part(len(data))
        body = b"--x\r\nContent-Range: bytes %d-%d/%d\r\n\r\n" % (start, end - 1, len(data)) + data[start:end] + b"\r\n--x--\r\n"
        self.head(206, "Content-Type: multipart/byteranges; boundary=x", length=len(body))
        self.send(body)
        return True

    def bad_at(self, data):
        """One byte of the file is another; parts work."""
        index = int(self.value) % len(data)
        data = data[:index] + bytes([data[index] ^ 1]) + data[index + 1:]
        start, end = self.part(len(data))
        if self.headers.get("range"):
            self.head(206, f"Content-Range: bytes {start}-{end - 1}/{len(data)}", length=end - start)
        else:
            self.head(200, length=len(data))
        self.send(data[start:end])
        return True

    # What passes

    def count(self):
        """How often this very URL has been asked for before."""
        with self.server.log.lock:
            counts = self.server.log.counts
            counts[self.full_path] = counts.get(self.full_path, 0) + 1
            return counts[self.full_path] - 1

    def fails_first(self, _):
        """VALUE times status 500, then the file."""
        if self.count() < int(self.value):
            self.head(500, length=0)
            return True
        return self.plain()

    def busy_first(self, _):
        """VALUE times status 429 with Retry-After, then the file."""
        if self.count() < int(self.value):
            self.head(429, "Retry-After: 1", length=0)
            return True
        return self.plain()

    def busy_for_hours(self, _):
        self.head(503, "Retry-After: 7200", length=0)
        return True

    def resets_first(self, data):
        """VALUE times a reset in the middle, then the rest."""
        if self.count() < int(self.value):
            start, end = self.part(len(data))
            if self.headers.get("range"):
                self.head(206, f"Content-Range: bytes {start}-{end - 1}/{len(data)}", length=end - start)
            else:
                self.head(200, length=len(data))
            self.send(data[start:start + (end - start) // 2])
            time.sleep(0.1)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        return self.plain()

    def signed(self, _):
        """Redirects to a signed URL, each of which is good for VALUE requests."""
        query = urllib.parse.parse_qs(self.full_path.partition("?")[2])
        if "signature" not in query:
            return self.moved(f"/~signed={self.value}~{self.suffix}{urllib.parse.quote(self.path)}?signature=SECRET{self.count()}")
        if self.count() >= int(self.value):
            self.head(403, length=0)
            return True
        return self.plain()

    def gated(self, _):
        """As the Hub answers for a repository whose terms were not accepted."""
        if self.headers.get("authorization") == "Bearer hf_goodtoken":
            return self.plain()
        self.head(403 if self.headers.get("authorization") else 401, "X-Error-Code: GatedRepo", length=0)
        return True

    def refused(self, _):
        """As the Hub answers: VALUE is a status, and what it says of it as a code, or behind a ! in words."""
        status, _, reason = self.value.partition(":")
        header = f"X-Error-Message: {reason[1:]}" if reason[:1] == "!" else f"X-Error-Code: {reason}"
        self.head(int(status), *([header] if reason else []), length=0)
        return True

    def moved_and_refused(self, _):
        """Redirects within this origin, to where a token is wanted."""
        return self.moved(f"/~gated~{self.suffix}{urllib.parse.quote(self.path)}")

    def cuts_every_second(self, data):
        """Breaks off every second of the answers for a file, whatever part of it is asked for."""
        with self.server.log.lock:
            counts = self.server.log.counts
            counts[self.path] = counts.get(self.path, 0) + 1
            if counts[self.path] % 2 == 0:
                return self.plain()
        start, end = self.part(len(data))
        if self.headers.get("range"):
            self.head(206, f"Content-Range: bytes {start}-{end - 1}/{len(data)}", length=end - start)
        else:
            self.head(200, length=len(data))
        self.send(data[start:start + (end - start) // 3])

    def slowly(self, data):
        """So many bytes a second."""
        start, end = self.part(len(data))
        if self.headers.get("range"):
            self.head(206, f"Content-Range: bytes {start}-{end - 1}/{len(data)}", length=end - start)
        else:
            self.head(200, length=len(data))
        step = max(1, int(self.value) // 20)
        while start < end:
            self.send(data[start:min(end, start + step)])
            start += step
            if self.wait(0.05):
                return
        return True

    # Slow and without end

    def hang(self, _):
        self.wait(120)

    def drip(self, data):
        self.head(200, length=len(data))
        for index in range(len(data)):
            self.send(data[index:index + 1])
            if self.wait(0.2):
                return

    def drip_headers(self, _):
        self.send(b"HTTP/1.1 200 OK\r\n")
        while not self.wait(0.2):
            self.send(b"X: y\r\n")

    def endless(self, _):
        self.head(200)
        while True:
            self.send(PIECE)

    def endless_chunked(self, _):
        self.head(200, "Transfer-Encoding: chunked")
        while True:
            self.send(b"%x\r\n%b\r\n" % (len(PIECE), PIECE))

    def endless_headers(self, _):
        self.send(b"HTTP/1.1 200 OK\r\n")
        while True:
            self.send(b"X-Header: " + b"y" * 1000 + b"\r\n")

    def endless_status(self, _):
        """404 and the like, with a body without end."""
        self.head(int(self.value))
        while True:
            self.send(PIECE)

    def wait(self, seconds):
        """Returns whether the client went away meanwhile."""
        return bool(select.select([self.connection], [], [], seconds)[0])

    # Lengths that are not

    def announces(self, data):
        """Says that so many bytes come, and sends zeros as long as somebody takes them."""
        self.head(200, length=int(self.value))
        self.send(data)
        while True:
            self.send(PIECE)

    def closes_early(self, data):
        self.head(200, length=len(data))
        self.send(data[:len(data) // 2])

    def says_less(self, data):
        """A length of half the file, and the whole file."""
        self.head(200, length=len(data) // 2)
        self.send(data)

    def half_without_length(self, data):
        self.head(200)
        self.send(data[:len(data) // 2])

    def two_lengths(self, data):
        self.head(200, f"Content-Length: {len(data)}", length=len(data) + 1)
        self.send(data + b"\n")

    def negative_length(self, data):
        self.head(200, length=-1)
        self.send(data)

    def reset(self, data):
        self.head(200, length=len(data))
        self.send(data[:len(data) // 2])
        time.sleep(0.1)
        # With no time to linger, closing sends RST.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def close(self, _):
        """Nothing at all."""

    def empty(self, _):
        self.head(200, length=0)
        return True

    # Other content

    def html(self, _):
        page = b"<!DOCTYPE html><title>Maintenance</title>"
        self.head(200, "Content-Type: text/html", length=len(page))
        self.send(page)
        return True

    def flipped(self, data):
        self.head(200, length=len(data))
        self.send(bytes([data[0] ^ 1]) + data[1:])
        return True

    def longer(self, data):
        self.head(200, length=len(data) + 1)
        self.send(data + b"\n")
        return True

    def gzip(self, data):
        packed = gzip.compress(data)
        self.head(200, "Content-Encoding: gzip", length=len(packed))
        self.send(packed)
        return True

    def encoding(self, data):
        """Plain bytes, said to be encoded."""
        self.head(200, f"Content-Encoding: {self.value}", length=len(data))
        self.send(data)
        return True

    def transfer_gzip(self, data):
        packed = gzip.compress(data)
        self.head(200, "Transfer-Encoding: gzip, chunked")
        self.send(b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed))

    def http09(self, data):
        self.send(data)

    def status(self, data):
        """The very file, with another status."""
        self.head(int(self.value), length=len(data))
        self.send(data)
        return True

    # Unusual, and right

    def no_length(self, data):
        self.head(200)
        self.send(data)

    def chunked(self, data):
        self.head(200, "Transfer-Encoding: chunked", "Trailer: X-Trailer")
        for start in range(0, len(data), 100):
            piece = data[start:start + 100]
            self.send(b"%x\r\n%b\r\n" % (len(piece), piece))
        self.send(b"0\r\nX-Trailer: HTTP/1.1 404\r\n\r\n")
        return True

    def interim(self, _):
        self.send(b"HTTP/1.1 103 Early Hints\r\nContent-Encoding: gzip\r\nLocation: /nowhere\r\n\r\n")
        return self.plain()

    # Elsewhere

    def moved(self, location):
        self.head(302, f"Location: {location}", length=0)
        return True

    def redirect(self, _):
        """So many redirects, and then the file."""
        if self.value == "0":
            return self.plain()
        return self.moved(f"/~redirect={int(self.value) - 1}~{self.suffix}{urllib.parse.quote(self.path)}")

    def relative(self, _):
        return self.moved("../" * self.path.count("/") + urllib.parse.quote(self.path.lstrip("/")))

    def loop(self, _):
        return self.moved(self.full_path)

    def to(self, _):
        """To another of the places that listen."""
        scheme = "https" if self.value == "https" else "http"
        return self.moved(f"{scheme}://127.0.0.1:{self.server.ports[self.value]}{urllib.parse.quote(self.path)}")

    def to_file(self, _):
        return self.moved("file:///etc/passwd")

    def to_named(self, _):
        """To a URL with a name, a password and a query."""
        return self.moved(f"http://user:HIDDEN@127.0.0.1:{self.server.ports['other']}{urllib.parse.quote(self.path)}?token=HIDDEN")

    def to_refusal(self, _):
        return self.moved(f"http://user:HIDDEN@127.0.0.1:{self.server.ports['other']}/~status=500~/x?token=HIDDEN#HIDDEN")

    def authenticated(self, _):
        """Basic authentication of alice, whose password is geheim."""
        if self.headers.get("authorization") == "Basic YWxpY2U6Z2VoZWlt":
            return self.plain()
        self.head(401, "WWW-Authenticate: Basic", length=0)
        return True


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        connection = self.request
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        if self.server.tls:
            connection.settimeout(10)
            connection = self.server.tls.wrap_socket(connection, server_side=True)
            connection.settimeout(None)
        try:
            while self.one(connection):
                pass
        except OSError:
            pass  # A client that hangs up early is what most of these answers are about.
        finally:
            connection.close()

    def one(self, connection):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(4096)
            if not piece or len(data) > 65536:
                return False
            data += piece
        lines = data.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
        method, path, _ = lines[0].split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        answer = self.answer(connection, method, path, headers)
        entry = {"at": self.server.name, "method": method, "path": path, "headers": headers}
        try:
            return answer.run() and headers.get("connection") != "close"
        finally:
            self.server.log.write(**entry, sent=answer.sent)

    def answer(self, connection, method, path, headers):
        return Answer(connection, self.server, path, headers)


class Relay(Answer):
    """A proxy: takes whole URLs, and CONNECT."""

    def __init__(self, connection, server, method, url, headers):
        super().__init__(connection, server, "/", headers)
        self.method, self.url = method, url

    def run(self):
        if self.method == "CONNECT":
            if self.server.refuses:
                self.head(403, length=0)
                return
            host, _, port = self.url.rpartition(":")
            with socket.create_connection((host, int(port))) as upstream:
                self.head(200)
                self.relay(upstream)
            return
        parts = urllib.parse.urlsplit(self.url)
        with socket.create_connection((parts.hostname, parts.port or 80)) as upstream:
            upstream.sendall(f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n".encode())
            self.relay(upstream)

    def relay(self, upstream):
        ends = {self.connection: upstream, upstream: self.connection}
        while True:
            for end in select.select(list(ends), [], [], 60)[0]:
                piece = end.recv(65536)
                if not piece:
                    return
                ends[end].sendall(piece)


class ProxyHandler(Handler):
    def answer(self, connection, method, path, headers):
        return Relay(connection, self.server, method, path, headers)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, name, directory, log, handler=Handler, tls=None, refuses=False):
        super().__init__(("127.0.0.1", 0), handler)
        self.name, self.directory, self.log, self.tls, self.refuses = name, directory, log, tls, refuses

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def main():
    removes, folders = sys.argv[1:2] == ["--remove"], [word for word in sys.argv[1:] if word != "--remove"]
    if len(folders) != 2 or not all(map(os.path.isdir, folders)):
        sys.exit("usage: hostile_server.py [--remove] DIR WORK_DIR")
    directory, work = folders
    authority, certificate, key = make_certificates(work)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    # For clients that would take what must not be taken any more.
    old_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    old_tls.load_cert_chain(certificate, key)
    old_tls.set_ciphers("ALL:@SECLEVEL=0")
    old_tls.minimum_version, old_tls.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    log = Log(os.path.join(work, "log"))
    servers = [
        Server("http", directory, log), Server("other", directory, log), Server("https", directory, log, tls=tls),
        Server("old_https", directory, log, tls=old_tls), Server("proxy", directory, log, ProxyHandler),
        Server("refusing_proxy", directory, log, ProxyHandler, refuses=True),
    ]
    ports = {server.name: server.server_address[1] for server in servers}
    for server in servers:
        server.ports = ports
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps(ports | {"ca": authority, "log": log.path}), flush=True)
    while sys.stdin.buffer.read(65536):
        pass
    if removes:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
