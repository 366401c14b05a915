#!/usr/bin/env python3
"""Serves a folder over HTTP on 127.0.0.1: serve.py DIR. The first line printed is the port; it stops when standard input is closed.

So it never outlives the test that started it, however that test ends. With --log each request line goes to standard error.
"""

import argparse
import functools
import http.server
import os
import sys
import threading


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    logging = False

    def log_message(self, format, *arguments):
        if self.logging:
            super().log_message(format, *arguments)

    def list_directory(self, path):
        self.send_error(404, "Not Found")


class Server(http.server.ThreadingHTTPServer):
    # A client that hangs up early, as one does at the first wrong byte, is no failure of the server.
    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory")
    parser.add_argument("--log", action="store_true", help="each request line on standard error")
    options = parser.parse_args()
    if not os.path.isdir(options.directory):
        sys.exit(f"serve: not a folder: {options.directory}")
    Handler.logging = options.log

    server = Server(("127.0.0.1", 0), functools.partial(Handler, directory=options.directory))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    while sys.stdin.buffer.read(65536):
        pass
    server.shutdown()


if __name__ == "__main__":
    main()
