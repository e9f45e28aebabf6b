"""python federated.py: a coordinator and two hospitals that exchange weights over sockets."""
import multiprocessing as mp
import pickle
import socket
import struct

import numpy as np
import torch
from torch import nn

PORT = 41100


def send(s, obj):
    b = pickle.dumps(obj)
    s.sendall(struct.pack("!Q", len(b)) + b)


def recv(s):
    def exact(n):
        out = b""
        while len(out) < n:
            d = s.recv(min(1 << 16, n - len(out)))
            if not d:
                raise EOFError
            out += d
        return out

    return pickle.loads(exact(struct.unpack("!Q", exact(8))[0]))


def model():
    return nn.Sequential(nn.Linear(80, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 5))


def patients(n, site, seed):
    g = np.random.default_rng(seed)
    centre = np.random.default_rng(77).normal(size=(5, 80))
    mix = [[0.4, 0.3, 0.2, 0.05, 0.05], [0.05, 0.15, 0.2, 0.3, 0.3]][site] if site is not None else [0.2] * 5
    y = g.choice(5, n, p=mix)
    x = 0.22 * centre[y] + g.normal(size=(n, 80))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def hospital(site):
    torch.set_num_threads(1)
    s = socket.create_connection(("127.0.0.1", PORT))
    send(s, site)
    x, y = patients(6000, site, site)
    net = model()
    while True:
        net.load_state_dict(recv(s))
        opt = torch.optim.SGD(net.parameters(), lr=0.001)
        loss_sum = 0.0
        for k in torch.randperm(len(x))[:3840].split(32):
            loss = nn.functional.cross_entropy(net(x[k]), y[k])
            opt.zero_grad()
            loss.backward()
            opt.step()
            loss_sum += loss.item()
        send(s, (net.state_dict(), loss_sum / 120))


def main():
    torch.set_num_threads(1)
    srv = socket.create_server(("127.0.0.1", PORT))
    for site in range(2):
        mp.Process(target=hospital, args=(site,), daemon=True).start()
    peers = {}
    while len(peers) < 2:
        c, _ = srv.accept()
        peers[recv(c)] = c
    net = model()
    vx, vy = patients(4000, None, 9)
    for rnd in range(1, 2500):
        for c in peers.values():
            send(c, net.state_dict())
        got = {s: recv(c) for s, c in sorted(peers.items())}
        net.load_state_dict({k: sum(w[k] for w, _ in got.values()) / len(got) for k in net.state_dict()})
        line = "  ".join(f"site{s}={l:.4f}" for s, (_, l) in got.items())
        if rnd % 5 == 0:
            with torch.no_grad():
                out = net(vx)
            line += f"  | val loss={nn.functional.cross_entropy(out, vy):.4f} acc={(out.argmax(1) == vy).float().mean():.3f}"
        print(f"Round {rnd:>4}: {line}", flush=True)


if __name__ == "__main__":
    main()
