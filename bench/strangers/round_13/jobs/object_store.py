"""Tiny local stand-in for the object store: GET /tile/<n> gives 12 kB of pixels."""
import random
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer



class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        n = int(self.path.rsplit("/", 1)[1])
        if n == 4711:
            # moved to the cold tier: answer when it is back
            time.sleep(3600)
        body = random.Random(n).randbytes(3 * 64 * 64)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
