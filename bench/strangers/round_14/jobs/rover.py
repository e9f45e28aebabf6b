"""Policy gradient for a rover; the terrain simulator is a server of its own."""
import json
import multiprocessing as mp
import random
import socket
import socketserver
import struct
import sys
import time

import numpy as np
import torch

PORT = 31005


def read_exact(sock, n):
    data = b""
    while len(data) < n:
        part = sock.recv(n - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def read_msg(sock):
    return json.loads(read_exact(sock, struct.unpack(">I", read_exact(sock, 4))[0]))


def send_msg(sock, obj):
    body = json.dumps(obj).encode()
    sock.sendall(struct.pack(">I", len(body)) + body)


def send_terrain(sock, heights):
    obj = {"cmd": "terrain", "heights": heights}
    sock.sendall(struct.pack(">I", len(json.dumps(obj))) + json.dumps(obj, separators=(",", ":")).encode())


class Sim(socketserver.BaseRequestHandler):
    def handle(self):
        heights = [0.0] * 64
        pos, vel, t = 0.0, 0.0, 0
        while True:
            try:
                m = read_msg(self.request)
            except (EOFError, ConnectionError):
                return
            if m["cmd"] == "terrain":
                heights = m["heights"]
                send_msg(self.request, {"ok": True})
                continue
            if m["cmd"] == "reset":
                pos, vel, t = random.uniform(-1, 1), 0.0, 0
            else:
                t += 1
                slope = heights[int(pos * 8) % 64]
                vel = 0.9 * vel + (0.15 if m["a"] else -0.15) - 0.02 * slope
                pos += vel
            done = abs(pos) > 4 or t >= 120
            send_msg(self.request, {"obs": [pos, vel, t / 120, heights[int(pos * 8) % 64]], "r": 1 - abs(pos) / 4, "done": done})


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def serve():
    Server(("127.0.0.1", PORT), Sim).serve_forever()


def actor(pipe):
    sock = socket.create_connection(("127.0.0.1", PORT))
    while True:
        what, arg = pipe.recv()
        if what == "terrain":
            send_terrain(sock, arg)
        else:
            send_msg(sock, {"cmd": "reset"} if what == "reset" else {"cmd": "step", "a": arg})
        pipe.send(read_msg(sock))


def main():
    mp.Process(target=serve, daemon=True).start()
    time.sleep(1.5)
    pipes = []
    for _ in range(3):
        a, b = mp.Pipe()
        mp.Process(target=actor, args=(b,), daemon=True).start()
        pipes.append(a)
    net = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Linear(64, 2))
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    level = 0
    for update in range(1, 100000):
        for p in pipes:
            p.send(("reset", None))
        obs = [p.recv()["obs"] for p in pipes]
        alive, logps, rews = [True] * 3, [[], [], []], [[], [], []]
        while any(alive):
            dist = torch.distributions.Categorical(logits=net(torch.tensor(obs)))
            act = dist.sample()
            lp = dist.log_prob(act)
            ask = [i for i in range(3) if alive[i]]
            for i in ask:
                pipes[i].send(("step", int(act[i])))
            for i in ask:
                m = pipes[i].recv()
                obs[i] = m["obs"]
                logps[i].append(lp[i])
                rews[i].append(m["r"])
                alive[i] = not m["done"]
        loss = 0
        for l, r in zip(logps, rews):
            ret = torch.tensor(np.cumsum(r[::-1])[::-1].copy(), dtype=torch.float32)
            loss = loss - (torch.stack(l) * (ret - ret.mean()) / (ret.std() + 1e-6)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"update {update} level {level} ep_len {np.mean([len(r) for r in rews]):.1f} return {np.mean([sum(r) for r in rews]):.2f}")
        if update % 120 == 0:
            level += 1
            for p in pipes:
                p.send(("terrain", [round(random.gauss(0, level), 3) for _ in range(64)]))
            for p in pipes:
                p.recv()


if __name__ == "__main__":
    sys.exit(main())
