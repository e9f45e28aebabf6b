"""What shows that a process trains, or starts the program that does, where no launcher and no variable tells it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from hwtop.job.launch.launcher import helper_kind, is_python, is_same_program, is_side_program, launcher_kind
from hwtop.job.launch.root import is_multiprocessing_child
from hwtop.model.process import ProcessInfo

_TRAINING_THREADS = ("pt_autograd", "pt_nccl", "pt_gloo", "gloo_tcp_loop", "pt_data_pin", "cuda-EvtHandlr", "cuda0000")
"""Threads that a process has when it trains: backward, collectives, pinning, CUDA. Names given by torch, gloo and CUDA."""
_LARGER = 4.0
"""Times the memory of the program that started it: a framework takes ten times what a bare interpreter does. Engineering default."""


def trains(process: ProcessInfo) -> bool:
    """Whether it has threads that only a training has."""
    return any(thread.comm.startswith(_TRAINING_THREADS) for thread in process.threads)


def trainers_among(programs: Sequence[ProcessInfo], process: ProcessInfo) -> frozenset[int]:
    """The program that a Python program without a rank has started, once or several times, where it has loaded nothing that trains
    itself: a sweep's agent, a script that calls the training, a launcher of one's own that says in words of its own which rank is which.
    """
    if not is_python(process) or trains(process):
        return frozenset()
    below = [each for each in programs if is_python(each) and helper_kind(each) is None]
    if not below or any(is_multiprocessing_child(each, process) or launcher_kind(each) for each in below):
        return frozenset()
    are_alike = all(is_same_program(each, below[0]) and not is_same_program(each, process) for each in below)
    are_larger = all((each.rss_bytes or 0) > _LARGER * (process.rss_bytes or inf) for each in below)
    is_training = len(below) == 1 or are_alike
    if not is_training or not are_larger or any(map(is_side_program, below)):
        return frozenset()
    return frozenset(each.pid for each in below)
