"""Weather archive for tests: one answer of nine is 503, as with the real one."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

count = 0


class Archive(BaseHTTPRequestHandler):
    def do_GET(self):
        global count
        count += 1
        if count % 9 == 0:
            self.send_error(503, "try again")
            return
        rows = np.random.default_rng(count).normal(15, 6, (256, 12)).round(2).tolist()
        body = json.dumps(rows).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Archive).serve_forever()
