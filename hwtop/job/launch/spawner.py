"""What the stack of a process tells of its part in multiprocessing, where /proc shows no difference.

torch.multiprocessing.spawn, Lightning's `ddp_spawn` and accelerate's `notebook_launcher` start ranks that look like loader
workers until they train. Their parent does nothing but wait for them (torch/multiprocessing/spawn.py, `ProcessContext.join`). So does that of processes which a
script starts itself: those train where a sample of one was in the backward pass or the optimizer, or where steps come while it waits.
"""

from __future__ import annotations

from collections.abc import Iterator

from hwtop.job.stacks.frames import training_thread
from hwtop.model.stack import StackDump

_WAITS = ("join", "start_processes", "spawn")
_PROCESS = "multiprocessing/process.py"


def is_spawner(dump: StackDump) -> bool:
    """Whether its main thread waits for processes that torch.multiprocessing started."""
    return any(name in _WAITS and file.endswith("torch/multiprocessing/spawn.py") for name, file in _calls(dump))


def is_joining(dump: StackDump) -> bool:
    """Whether its main thread waits for the end of processes that it started: they train, or prepare what it will train on."""
    return any(name == "join" and file.endswith(_PROCESS) for name, file in _calls(dump))


def _calls(dump: StackDump) -> Iterator[tuple[str, str]]:
    """Function and file of its main thread, leaf first."""
    thread = training_thread(dump)
    for frame in thread.frames if thread is not None else ():
        name = frame.name.rpartition(".")[2]
        if name == "_bootstrap" and frame.filename.endswith(_PROCESS):
            return  # a forked child: what is below are its parent's frames
        yield name, frame.filename
