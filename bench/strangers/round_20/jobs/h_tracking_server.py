"""Small metrics store for the desk: POST /log with JSON. A client may send RATE points a second, others wait their turn."""
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RATE = 4.0
lock, turn = threading.Lock(), [time.monotonic()]
store = open("points.jsonl", "a")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        point = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with lock:
            at = max(turn[0], time.monotonic())
            turn[0] = at + 1 / RATE
            store.write(json.dumps(point) + "\n")
            store.flush()
        time.sleep(max(0.0, at - time.monotonic()))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *a):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
