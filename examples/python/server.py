"""Answers for users over HTTP with the standard library: one thread for each connection."""

import argparse
import json
import re
import signal
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from users import find

USER = re.compile(r"/users/(\d+)")


class Handler(BaseHTTPRequestHandler):
    """Answers one connection, request after request."""

    protocol_version = "HTTP/1.1"
    # One segment for each response, sent at once.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self):
        if self.path == "/health":
            return self.reply(HTTPStatus.OK, {"status": "ok"})
        asked = USER.fullmatch(self.path)
        found = asked and find(int(asked[1]))
        if not found:
            return self.reply(HTTPStatus.NOT_FOUND, {"error": "no such user"})
        return self.reply(HTTPStatus.OK, found)

    def reply(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    """Takes as many waiting connections as a burst of clients opens."""

    request_queue_size = 1024


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--host", default="127.0.0.1")
    arguments.add_argument("--port", type=int, default=8000)
    given = arguments.parse_args()
    server = Server((given.host, given.port), Handler)

    def stop(*_):
        threading.Thread(target=server.shutdown).start()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    server.serve_forever(poll_interval=0.1)


if __name__ == "__main__":
    main()
