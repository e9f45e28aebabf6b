"""Matrix factorisation over shards of ratings; workers average their item factors through a shared folder.

    python mf_launch.py --workers 3
"""
import argparse
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

USERS, ITEMS, K = 4000, 1500, 32
RATING = np.dtype([("u", "<i4"), ("i", "<i4"), ("r", "<f4")])


def make_shard(path, n, seed):
    rng = np.random.default_rng(seed)
    fu = np.random.default_rng(1).normal(size=(USERS, 4))
    fi = np.random.default_rng(2).normal(size=(ITEMS, 4))
    a = np.zeros(n, RATING)
    a["u"], a["i"] = rng.integers(0, USERS, n), rng.integers(0, ITEMS, n)
    a["r"] = 3 + (fu[a["u"]] * fi[a["i"]]).sum(1) * 0.4 + rng.normal(size=n) * 0.3
    with open(path, "wb") as f:
        f.write(a.tobytes())


def worker(root, rank, world):
    log = open(root / f"worker{rank}.log", "a", buffering=1)
    ratings = np.memmap(root / f"shard{rank}.bin", dtype=RATING, mode="r")
    rng = np.random.default_rng(rank)
    P, Q = rng.normal(size=(USERS, K)) * 0.1, np.random.default_rng(0).normal(size=(ITEMS, K)) * 0.1
    log.write(f"worker {rank}: {len(ratings)} ratings\n")
    t0 = time.time()
    for rnd in range(100000):
        se = n = 0
        for _ in range(60):
            lo = rng.integers(0, len(ratings) - 2048)
            b = ratings[lo : lo + 2048]
            u, i = b["u"], b["i"]
            pu, qi = P[u], Q[i]
            e = b["r"] - 3 - (pu * qi).sum(1)
            se, n = se + float((e**2).sum()), n + len(e)
            np.add.at(P, u, 0.02 * (e[:, None] * qi - 0.02 * pu))
            np.add.at(Q, i, 0.02 * (e[:, None] * pu - 0.02 * qi))
        tmp = root / f".q{rank}.tmp.npy"
        np.save(tmp, Q)
        tmp.rename(root / f"q_{rnd:06d}_{rank}.npy")
        parts = []
        for other in range(world):
            path = root / f"q_{rnd:06d}_{other}.npy"
            while not path.exists():
                time.sleep(0.05)
            parts.append(np.load(path))
        Q = np.mean(parts, axis=0)
        old = root / f"q_{rnd - 2:06d}_{rank}.npy"
        if old.exists():
            old.unlink()
        log.write(f"round {rnd} rmse {np.sqrt(se / n):.4f} elapsed {time.time() - t0:.1f}\n")


def nightly(root, after):
    """Corrections of shard 2 arrive late; they replace the rough export."""
    time.sleep(after)
    make_shard(root / "shard2.bin", 60_000, 99)
    print("shard2: corrected export in place", flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--workers", type=int, default=3)
    ap.add_argument("--root", type=Path, default=Path("mf"))
    ap.add_argument("--corrections", type=float, default=12)
    a = ap.parse_args()
    if "RANK" in os.environ:
        return worker(a.root, int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    a.root.mkdir(exist_ok=True)
    for r in range(a.workers):
        make_shard(a.root / f"shard{r}.bin", 400_000, 10 + r)
    procs = []
    for r in range(a.workers):
        env = {**os.environ, "RANK": str(r), "WORLD_SIZE": str(a.workers)}
        procs.append(subprocess.Popen([sys.executable, __file__, "--root", str(a.root)], env=env))
    print("workers:", *(p.pid for p in procs), flush=True)
    threading.Thread(target=nightly, args=(a.root, a.corrections), daemon=True).start()
    for r, p in enumerate(procs):
        if p.wait() != 0:
            print(f"worker {r} ended with {p.returncode}", flush=True)


if __name__ == "__main__":
    main()
