"""A hung trainer that runs torch's debug server: `served_trainer.py unix|tcp|locked|closed`.

"tcp" has a process group beside it, whose sockets listen too. "locked" keeps the interpreter lock for ever. "closed" lets
nobody without special rights look into it (PR_SET_DUMPABLE).
"""

import ctypes
import sys
import threading
import time

import torch.distributed as dist
from torch._C._distributed_c10d import _WorkerServer
from torch.distributed.elastic.control_plane import worker_main


def train_step():
    time.sleep(1000)


def loop(kind):
    threading.Thread(target=train_step, daemon=True).start()
    if kind == "locked":
        time.sleep(0.5)
        ctypes.PyDLL(None).sleep(1000)
    train_step()


kind = sys.argv[1]
if kind == "tcp":
    dist.init_process_group("gloo")
    server = _WorkerServer("::", 0)
    loop(kind)
else:
    if kind == "closed":
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    with worker_main():
        loop(kind)
