"""What the stack of a process tells of its part in multiprocessing, where /proc shows no difference.

torch.multiprocessing.spawn, Lightning's `ddp_spawn` and accelerate's `notebook_launcher` start ranks that look like loader
workers until they train. Their parent does nothing but wait for them (torch/multiprocessing/spawn.py, `ProcessContext.join`).
"""

from __future__ import annotations

from hwtop.job.stacks.frames import training_thread
from hwtop.model.stack import StackDump

_WAITS = ("join", "start_processes", "spawn")


def is_spawner(dump: StackDump) -> bool:
    """Whether its main thread waits for processes that torch.multiprocessing started."""
    thread = training_thread(dump)
    for frame in thread.frames if thread is not None else ():
        name = frame.name.rpartition(".")[2]
        if name == "_bootstrap" and frame.filename.endswith("multiprocessing/process.py"):
            return False  # a forked child: what is below are its parent's frames
        if name in _WAITS and frame.filename.endswith("torch/multiprocessing/spawn.py"):
            return True
    return False
