"""Feature store: key -> packed user vector, over a persistent connection."""
import socketserver
import struct
import sys

import numpy as np

TABLE = np.random.default_rng(1).normal(size=(50000, 64)).astype(np.float32)


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        while head := self.rfile.read(4):
            n, = struct.unpack("<I", head)
            key = self.rfile.read(n).decode()
            self.wfile.write(TABLE[int(key.split(":")[1])].tobytes())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
