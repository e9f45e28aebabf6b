"""What one round of comparing stacks costs with many ranks: phases, groups, merged tree, sentence, vote.

    python bench/stack_grouping.py        512 ranks; two shapes: a hang (few different stacks) and full training (all different)

Each round gets fresh dumps, as py-spy would give them: nothing but what functions are is remembered from round to round.
"""

from __future__ import annotations

import random
import statistics
import time

from hwtop.job.stacks.classified import classified
from hwtop.job.stacks.groups import group, parting, sentence
from hwtop.job.stacks.outlier_vote import outliers
from hwtop.job.stacks.trie import trie
from hwtop.model.stack import StackFrame, ThreadStack

RANKS = 512
ROUNDS = 15
SITE = "/opt/venv/lib/python3.12/site-packages/"


def frame(name: str, file: str, line: int) -> StackFrame:
    is_library = "/" in file
    return StackFrame(name=name, filename=(SITE if is_library else "/home/ana/") + file, short_filename=file, line=line)


ROOT = [("<module>", "train.py", 300), ("main", "train.py", 280), ("Trainer.fit", "trainer.py", 88)]
FORWARD = [
    ("Module._call_impl", "torch/nn/modules/module.py", 1800),
    ("Layer.forward", "model.py", 40),
] * 8
REDUCE = [
    ("wrapper", "torch/distributed/c10d_logger.py", 83),
    ("all_reduce", "torch/distributed/distributed_c10d.py", 2800),
]
DATA = [
    ("_BaseDataLoaderIter.__next__", "torch/utils/data/dataloader.py", 700),
    ("_MultiProcessingDataLoaderIter._next_data", "torch/utils/data/dataloader.py", 1400),
    ("_MultiProcessingDataLoaderIter._try_get_data", "torch/utils/data/dataloader.py", 1243),
]


def hung(rank: int) -> list[tuple[str, str, int]]:
    return [*ROOT, *(DATA if rank % 64 == 7 else [*FORWARD, *REDUCE])]


def training(_rank: int) -> list[tuple[str, str, int]]:
    depth = random.randrange(1, len(FORWARD))
    return [*ROOT, *((name, file, line + random.randrange(60)) for name, file, line in FORWARD[:depth])]


def dump(places: list[tuple[str, str, int]]) -> ThreadStack:
    frames = tuple(frame(*place) for place in reversed(places))
    return ThreadStack(name="MainThread", os_thread_id=1, is_active=False, owns_gil=False, frames=frames)


def main() -> None:
    random.seed(7)
    for name, shape in (("hung", hung), ("training", training)):
        took_ms = []
        for _ in range(ROUNDS):
            stacks = {rank: dump(shape(rank)) for rank in range(RANKS)}
            begin = time.thread_time()
            groups = group({rank: classified(thread.frames) for rank, thread in stacks.items()})
            trie(groups), sentence(groups), parting(groups), outliers(groups)
            took_ms.append(1000 * (time.thread_time() - begin))
        print(
            f"{name:9} {RANKS} ranks, {len(groups):3} groups: median {statistics.median(took_ms):5.1f} ms, "
            f"worst {max(took_ms):5.1f} ms of CPU a round"
        )


if __name__ == "__main__":
    main()
