"""Stand-in for the object store: serves random tiles, at the distance of another region."""

import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np


class Tiles(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(0.045)
        tile = int(self.path.split("/")[-1].removesuffix(".raw"))
        body = bytes(np.random.randint(0, 100 + 25 * (tile % 6), 3 * 64 * 64, dtype=np.uint8))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Tiles).serve_forever()
