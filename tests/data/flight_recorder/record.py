"""Made the dumps in this folder: `torchrun --nproc-per-node N record.py KIND FOLDER`, with torch 2.13 over gloo.

Each rank hangs (or, "healthy", sleeps), and a thread of it writes the pickle and the JSON of its Flight Recorder. Paths of the
machine are replaced.
"""

import json
import os
import pickle
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _dump_fr_trace, _dump_fr_trace_json

signal.alarm(120)
KIND, FOLDER = sys.argv[1:]
RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
HANGS = threading.Event()


def plain(value):
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(entry) for entry in value)
    if isinstance(value, str) and value.endswith(".py"):
        own = value == os.path.abspath(__file__)
        return "/home/ana/train.py" if own else "/home/ana/venv/lib/python3.11" + value.partition("/lib/python3.11")[2]
    return value


def dump():
    HANGS.wait()
    time.sleep(6)
    path = f"{FOLDER}/{KIND}_{RANK}"
    with open(path, "wb") as file:
        pickle.dump(plain(pickle.loads(_dump_fr_trace())), file, protocol=2)
    text = _dump_fr_trace_json()
    with open(f"{path}.json", "w") as file:
        json.dump(json.loads(text), file)
    open(f"{path}.done", "w").close()
    while not all(os.path.exists(f"{FOLDER}/{KIND}_{rank}.done") for rank in range(WORLD)):
        time.sleep(0.1)
    time.sleep(1)
    os._exit(0)


def train_step():
    dist.all_reduce(torch.ones(1024))


def save_checkpoint():
    dist.broadcast(torch.ones(8), src=0)


def everything():
    parts = [torch.zeros(2) for _ in range(WORLD)]
    is_first = RANK == 0
    dist.barrier()
    dist.all_gather(parts, torch.ones(2))
    dist.all_to_all_single(torch.zeros(WORLD * 2), torch.ones(WORLD * 2))
    dist.gather(torch.ones(2), parts if is_first else None)
    dist.broadcast(torch.ones(1), 0)
    dist.reduce(torch.ones(1), 0)
    dist.scatter(torch.zeros(2), [torch.ones(2)] * WORLD if is_first else None, 0)
    dist.all_gather_object([None] * WORLD, {"rank": RANK, "text": "y" * RANK})


def main():
    dist.init_process_group("gloo")
    pair = dist.new_group([0, 1])
    for _ in range(5):
        train_step()
    if RANK < 2:
        dist.all_reduce(torch.ones(4), group=pair)
    HANGS.set()
    if KIND.startswith("mismatch") and RANK == WORLD - 1:
        save_checkpoint()
    elif KIND == "healthy":
        everything()
    elif RANK < WORLD - 1 or KIND.startswith("mismatch"):
        train_step()
    time.sleep(100)


threading.Thread(target=dump, daemon=True).start()
main()
