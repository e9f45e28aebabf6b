import http.server
import json
import os
import sys
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open("runs.jsonl", "a") as f:
            f.write(json.dumps(json.loads(body)) + "\n")
        out = b'{"ok": true}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    def log_message(self, *args):
        pass


def leave_with(parent):
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


threading.Thread(target=leave_with, args=(os.getppid(),), daemon=True).start()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
