"""Minimal experiment tracker: accepts points over HTTP and hands them to the writer."""

import queue
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

points = queue.Queue(maxsize=120)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        points.put(body)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
