#!/usr/bin/env python3
"""Synchronous parameter server over sockets, one process per "node". No framework.

    python ps_master.py --workers 3            starts the server and, on this host, the workers
    python ps_master.py --role worker ...      (started by the master)
"""
import argparse, os, pickle, random, socket, struct, subprocess, sys, time
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np


def send(s, obj):
    b = pickle.dumps(obj, 5)
    s.sendall(struct.pack("!Q", len(b)) + b)


def recv(s):
    def exactly(n):
        buf = bytearray()
        while len(buf) < n:
            part = s.recv(min(n - len(buf), 1 << 16))
            if not part:
                raise ConnectionError("peer closed")
            buf += part
        return bytes(buf)
    return pickle.loads(exactly(struct.unpack("!Q", exactly(8))[0]))


def server(a):
    procs = []
    if a.late_bind:
        port = random.randrange(20000, 30000)
    else:
        port = 0
    lst = socket.socket()
    lst.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    lst.bind(("127.0.0.1", port))
    port = lst.getsockname()[1]
    for k in range(a.workers):
        env = dict(os.environ, RANK=str(k), WORLD_SIZE=str(a.workers))
        procs.append(subprocess.Popen([sys.executable, __file__, "--role", "worker", "--port", str(port), "--shard-rows", str(a.rows[k % len(a.rows)]),
                                       "--fail-connect", str(a.late_bind)], env=env))
    if a.late_bind:
        time.sleep(8)
    lst.listen(8)
    conns = [lst.accept()[0] for _ in range(a.workers)]
    print(f"[server] {a.workers} workers connected", flush=True)
    W = [np.random.default_rng(0).normal(0, 0.1, (128, 256)), np.random.default_rng(1).normal(0, 0.1, (256, 10))]
    t = time.time()
    for step in range(1, 1_000_000):
        for c in conns:
            send(c, W)
        answers = [recv(c) for c in conns]
        for i in range(2):
            W[i] -= 0.1 * np.mean([g[i] for g, _ in answers], axis=0)
        if step % 20 == 0:
            print(f"[server] step {step} loss {np.mean([l for _, l in answers]):.4f} {20 / (time.time() - t):.2f} steps/s", flush=True)
            t = time.time()


def worker(a):
    rank = int(os.environ["RANK"])
    open(f"worker{rank}.pid", "w").write(str(os.getpid()))
    for attempt in range(20):
        try:
            s = socket.create_connection(("127.0.0.1", a.port), timeout=5)
            break
        except OSError as e:
            print(f"[worker {rank}] ERROR cannot reach the server: {e}; retry {attempt + 1}/20", file=sys.stderr, flush=True)
            time.sleep(2)
    s.settimeout(None)
    rng = np.random.default_rng(rank)
    T = np.random.default_rng(9).normal(size=(128, 10))
    while True:
        W1, W2 = recv(s)
        X = rng.normal(size=(a.shard_rows, 128))
        y = (X @ T).argmax(1)
        H = np.maximum(X @ W1, 0)
        Z = H @ W2
        P = np.exp(Z - Z.max(1, keepdims=True)); P /= P.sum(1, keepdims=True)
        loss = -np.log(P[np.arange(len(y)), y] + 1e-12).mean()
        P[np.arange(len(y)), y] -= 1
        P /= len(y)
        send(s, ([X.T @ ((P @ W2.T) * (H > 0)), H.T @ P], loss))


ap = argparse.ArgumentParser()
ap.add_argument("--role", default="server")
ap.add_argument("--workers", type=int, default=3)
ap.add_argument("--port", type=int, default=0)
ap.add_argument("--rows", type=lambda s: [int(x) for x in s.split(",")], default=[600])
ap.add_argument("--shard-rows", type=int, default=600)
ap.add_argument("--late-bind", type=int, default=0)
ap.add_argument("--fail-connect", default="")
a = ap.parse_args()
try:
    server(a) if a.role == "server" else worker(a)
except (ConnectionError, KeyboardInterrupt) as e:
    sys.exit(f"[{a.role}] {e}")
