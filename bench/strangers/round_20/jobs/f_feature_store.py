"""Stand-in for the team's feature store: paged rows over HTTP, from one replica."""
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

ROUND_TRIP = 0.09
PAGE = 64
rng = np.random.default_rng(3)
w = rng.normal(size=48).astype("f4")
replica = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/health":
            return self.reply(b"ok")
        with replica:
            time.sleep(ROUND_TRIP)
        page = int(self.path.rsplit("/", 1)[1])
        r = np.random.default_rng(page)
        x = r.normal(size=(PAGE, 48)).astype("f4")
        y = (x @ w / 3 + 0.5 * r.normal(size=PAGE) > 0).astype("f4")
        self.reply(np.hstack([x, y[:, None]]).astype("f4").tobytes())

    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
