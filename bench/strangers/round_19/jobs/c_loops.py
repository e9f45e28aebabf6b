"""Induction loop counts: gateway -> reader process -> training. c_loops.py PORT"""
import json
import multiprocessing as mp
import socket
import socketserver
import struct
import sys
import time

import numpy as np

LOOPS = 64


class Gateway(socketserver.StreamRequestHandler):
    """Replays recorded counts. Fair use: 1600 requests, then the slow lane."""

    def handle(self):
        served = 0
        rng = np.random.default_rng(0)
        while True:
            head = self.rfile.read(4)
            if len(head) < 4:
                return
            (hour,) = struct.unpack("!i", head)
            served += 1
            time.sleep(0.018 if served <= 1600 else 0.45)
            rate = 20 + 10 * np.sin(hour / 24 * 6.28)
            self.wfile.write(rng.poisson(rate, (8, LOOPS)).astype("u2").tobytes())


def gateway(port):
    socketserver.TCPServer.allow_reuse_address = True
    with socketserver.TCPServer(("127.0.0.1", port), Gateway) as server:
        server.serve_forever()


def reader(port, pipe):
    for _ in range(50):
        try:
            sock = socket.create_connection(("127.0.0.1", port))
            break
        except OSError:
            time.sleep(0.1)
    size, hour = 8 * LOOPS * 2, 0
    while True:
        rows = []
        for _ in range(4):
            sock.sendall(struct.pack("!i", hour))
            buf = b""
            while len(buf) < size:
                buf += sock.recv(size - len(buf))
            rows.append(np.frombuffer(buf, "u2").reshape(8, LOOPS))
            hour += 1
        pipe.send(np.concatenate(rows).astype("f4"))


def main(port):
    ctx = mp.get_context("fork")
    mine, theirs = ctx.Pipe(duplex=False)
    for target, args in ((gateway, (port,)), (reader, (port, theirs))):
        ctx.Process(target=target, args=args, daemon=True).start()
    import torch
    from torch import nn

    net = nn.Sequential(nn.Linear(LOOPS, 128), nn.ReLU(), nn.Linear(128, LOOPS))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    last = time.time()
    for step in range(1, 1_000_000):
        counts = torch.from_numpy(mine.recv())
        x = (counts - 20) / 10
        loss = nn.functional.mse_loss(net(x[:, torch.randperm(LOOPS)] * 0 + x), x.roll(1, 1))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 2 == 0:
            now = time.time()
            print(json.dumps({"ts": round(now, 2), "step": step, "mse": round(loss.item(), 4), "dt": round((now - last) / 2, 3)}), flush=True)
            last = now


if __name__ == "__main__":
    main(int(sys.argv[1]))
