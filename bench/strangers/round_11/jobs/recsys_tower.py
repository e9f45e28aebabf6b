import os
import sqlite3
import subprocess
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

DB = "features.db"
COMPACT = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=30)
db.isolation_level = None
db.execute("BEGIN IMMEDIATE")
db.execute("DELETE FROM exposure WHERE seen < 0")
input("keep? [y/N] ") if sys.stdin else None
db.execute("COMMIT")
"""


def connect():
    db = sqlite3.connect(DB, timeout=7200)
    db.execute("PRAGMA journal_mode=WAL")
    return db


def setup():
    db = connect()
    db.execute("CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, a REAL, b REAL, c REAL)")
    db.execute("CREATE TABLE IF NOT EXISTS exposure (id INTEGER PRIMARY KEY, seen INTEGER)")
    g = torch.Generator().manual_seed(1)
    rows = torch.randn(20000, 3, generator=g).tolist()
    db.executemany("INSERT OR IGNORE INTO users VALUES (?,?,?,?)", [(i, *r) for i, r in enumerate(rows)])
    db.commit()
    db.close()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0:
        setup()
    dist.barrier()
    db = connect()
    torch.manual_seed(10 + rank)
    tower = DDP(nn.Sequential(nn.Linear(3, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 1)))
    opt = torch.optim.Adam(tower.parameters(), 1e-3)
    t0 = time.time()
    seen = {}
    for n in range(100000):
        first = int(torch.randint(0, 19000, (1,)))
        rows = db.execute("SELECT id,a,b,c FROM users WHERE id>=? AND id<?", (first, first + 512)).fetchall()
        x = torch.tensor([r[1:] for r in rows])
        y = (x[:, :1] * x[:, 1:2] + torch.sin(3 * x[:, 2:]) + 0.3 * torch.randn(len(x), 1) > 0).float()
        loss = nn.functional.binary_cross_entropy_with_logits(tower(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen.update((r[0], n) for r in rows)
        if rank == 0 and n % 50 == 49:
            db.executemany("INSERT OR REPLACE INTO exposure VALUES (?,?)", list(seen.items()))
            db.commit()
            seen.clear()
        if rank == 0 and n % 10 == 0:
            print(f"{time.time() - t0:8.1f}s n={n} logloss={loss.item():.4f}", flush=True)
        if rank == 0 and n == 320:
            r, w = os.pipe()
            os.set_inheritable(w, False)
            globals()["_compactor"] = subprocess.Popen([sys.executable, "-c", COMPACT, DB], stdin=r), w
            print("compacting exposure table in the background", flush=True)
            time.sleep(0.5)
    dist.destroy_process_group()


main()
