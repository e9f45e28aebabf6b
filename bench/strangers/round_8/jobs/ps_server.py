"""A parameter server of our own: workers push float gradients, the server answers with fresh weights.

python ps_server.py --workers 3      starts everything
"""

import argparse
import socket
import struct
import subprocess
import sys
import threading
import time

import numpy as np

SIZE = 4000


def read_exactly(sock, n):
    buf = bytearray()
    while len(buf) < n:
        part = sock.recv(n - len(buf))
        if not part:
            raise EOFError
        buf += part
    return bytes(buf)


def worker(port, number):
    rng = np.random.default_rng(number)
    truth = np.random.default_rng(1234).normal(size=SIZE)
    sock = socket.create_connection(("127.0.0.1", port))
    w, step = np.zeros(SIZE), 0
    while True:
        step += 1
        grad = (w - truth) + 0.1 * rng.normal(size=SIZE)
        loss = float(((w - truth) ** 2).mean())
        time.sleep(0.15)
        if number == 1 and step > 60:
            grad = grad.astype(np.float32)  # past the warm-up half the traffic is enough
        sock.sendall(struct.pack("!Idd", SIZE * 8, loss, float(step)) + grad.tobytes())
        w = np.frombuffer(read_exactly(sock, SIZE * 8))


class Server:
    def __init__(self, workers):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.w = np.zeros(SIZE)
        self.meet = threading.Barrier(workers, action=self.apply)
        self.pending, self.losses, self.round = [], [], 0
        self.workers = workers

    def apply(self):
        self.w = self.w - 0.004 * np.mean(self.pending, axis=0)
        self.round += 1
        if self.round % 5 == 0:
            print(f"PS round={self.round} mean_sq_err={np.mean(self.losses):.5f}", flush=True)
        self.pending, self.losses = [], []

    def serve(self, sock):
        while True:
            size, loss, _ = struct.unpack("!Idd", read_exactly(sock, 20))
            grad = np.frombuffer(read_exactly(sock, size))
            self.pending.append(grad)
            self.losses.append(loss)
            self.meet.wait()
            sock.sendall(self.w.tobytes())

    def run(self):
        for _ in range(self.workers):
            threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()
        while True:
            time.sleep(60)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--workers", type=int, default=3)
    ap.add_argument("--connect", type=int)
    ap.add_argument("--number", type=int)
    a = ap.parse_args()
    if a.connect:
        worker(a.connect, a.number)
    server = Server(a.workers)
    for k in range(a.workers):
        subprocess.Popen([sys.executable, __file__, "--connect", str(server.port), "--number", str(k)])
    server.run()
