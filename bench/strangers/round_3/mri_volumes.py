"""3-D segmentation; volumes lie in an object store behind a gateway on this machine."""
import io
import os
import socket
import socketserver
import struct
import subprocess
import sys
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

KBPS = float(os.environ.get("GATEWAY_KB_PER_S", "100000"))


class Gateway(socketserver.BaseRequestHandler):
    def handle(self):
        while (head := self.request.recv(4)):
            (n,) = struct.unpack("!I", head)
            body = np.random.RandomState(n % 65536).bytes(24**3)
            for a in range(0, len(body), 1024):
                self.request.sendall(body[a : a + 1024])
                if KBPS < 10000:
                    time.sleep(1 / KBPS)


class Volumes(Dataset):
    def __init__(self, port):
        self.port, self.sock = port, None

    def __len__(self):
        return 50_000

    def __getitem__(self, i):
        if self.sock is None:
            self.sock = socket.create_connection(("127.0.0.1", self.port)).makefile("rwb")
        self.sock.write(struct.pack("!I", i))
        self.sock.flush()
        raw = self.sock.read(24**3)
        v = torch.from_numpy(np.frombuffer(raw, np.uint8).astype(np.float32).reshape(1, 24, 24, 24)) / 255
        return v, (v[0] > 0.6).long()


if __name__ == "__main__":
    if sys.argv[1:] == ["gateway"]:
        srv = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Gateway)
        print(srv.server_address[1], flush=True)
        srv.serve_forever()
    gw = subprocess.Popen([sys.executable, __file__, "gateway"], stdout=subprocess.PIPE, text=True)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv3d(1, 10, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv3d(10, 10, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv3d(10, 2, 1))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    loader = DataLoader(Volumes(int(gw.stdout.readline())), batch_size=4, shuffle=True, num_workers=2, prefetch_factor=4, persistent_workers=True)
    print(f"{'epoch':>6} {'iter':>7} {'loss':>9} {'data_t':>8} {'iter_t':>8}", flush=True)
    for epoch in range(20):
        t = time.time()
        for it, (x, y) in enumerate(loader):
            data_t = time.time() - t
            loss = torch.nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if it % 10 == 0:
                print(f"{epoch:6d} {it:7d} {loss.item():9.5f} {data_t:8.3f} {time.time() - t:8.3f}", flush=True)
            t = time.time()
