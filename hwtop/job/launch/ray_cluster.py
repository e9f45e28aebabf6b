"""What the processes of a job say together about Ray: who are its ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from hwtop.job.launch.launcher import program_name
from hwtop.job.launch.ray import has_process_group, is_ray_controller, is_ray_train_worker, is_ray_work
from hwtop.job.launch.trainer import trains
from hwtop.model.process import ProcessInfo


class RayCluster:
    """Answers are worked out when they are first asked for: most jobs have no Ray."""

    def __init__(self, processes: Sequence[ProcessInfo], has_number: Callable[[ProcessInfo], bool]) -> None:
        """`has_number`: whether a process, or a program that it started, has the number of a rank."""
        self._processes = processes
        self._has_number = has_number

    @cached_property
    def has_raylet(self) -> bool:
        """The cluster, or this node of it, belongs to the job."""
        return any(program_name(process) == "raylet" for process in self._processes)

    @cached_property
    def has_train_workers(self) -> bool:
        """Ranks of Ray Train."""
        return any(map(is_ray_train_worker, self._processes))

    @cached_property
    def has_only_helpers(self) -> bool:
        """Whether the actors and tasks of a driver are no ranks: then it trains itself, and they sample, evaluate or serve for it. Before
        there are any that is open."""
        work = [process for process in self._processes if is_ray_work(process)]
        is_training = self.has_train_workers or any(
            has_process_group(each) or trains(each) or is_ray_controller(each) or self._has_number(each)
            for each in work
        )
        return bool(work) and not is_training
