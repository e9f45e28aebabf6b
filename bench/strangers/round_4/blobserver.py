"""Tiny object store for the office: GET /blob/<n> gives 64 kB of numbers. Files 'busy' and 'flaky' next to it change its mood."""
import os
import random
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DATA = os.urandom(65536)


class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if os.path.exists("flaky") and random.random() < 0.01:
            self.send_response(503)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        # the nightly backup shares the line
        time.sleep(0.6 if os.path.exists("busy") else 0.002)
        self.send_response(200)
        self.send_header("Content-Length", str(len(DATA)))
        self.end_headers()
        self.wfile.write(DATA)

    def log_message(self, *a):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
