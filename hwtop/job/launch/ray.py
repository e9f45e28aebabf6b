"""Processes of Ray: told by the titles that Ray gives them ("ray::Class.method", `ray._raylet`, setproctitle).

A Ray worker's place in the training is not in the environment it was started with: Ray Train sets RANK and the like later.
"""

from __future__ import annotations

from hwtop.job.launch.environment import NO_JOB
from hwtop.lazy_regex import lazy_regex
from hwtop.model.process import ProcessInfo

_TITLE = lazy_regex(r"ray::(\S+)")
_TRAIN_WORKER = lazy_regex(r"_?RayTrainWor")
"""Class RayTrainWorker of ray.train, or a private method of it; a comm is cut after 15 characters."""
_CONTROLLER = lazy_regex(r"TrainContr|TorchTrainer|TrainTrainable")
"""Class TrainController of ray.train.v2, and the Tune trainables that drove the workers before it."""
_SERVICE = lazy_regex(r"/ray/(?:dashboard|_private|autoscaler)/|(?:^|/)(?:raylet|gcs_server)$")
_OWN_TITLES = ("IDLE", "SPILL", "RESTORE", "DashboardAgent", "RuntimeEnvAgent", "_")
"""ray/_private/ray_constants.py, and the actors of its libraries, whose names begin with an underscore."""
_PROGRAM_WORDS = 4
"""Interpreter, its options, and the script."""
_COLLECTIVE_THREADS = ("pt_nccl", "pt_gloo", "gloo_tcp_loop")


def is_ray_service(process: ProcessInfo) -> bool:
    """Whether it is one of Ray's own: it is busy a little at all times, whatever the job does."""
    if is_ray_process(process):
        return not is_ray_work(process)
    return any(map(_SERVICE.search, (process.cmdline or ())[:_PROGRAM_WORDS]))


def is_ray_process(process: ProcessInfo) -> bool:
    """Whether Ray started it for an actor or task."""
    return _title(process) is not None


def is_ray_train_worker(process: ProcessInfo) -> bool:
    """Whether it is a rank of Ray Train."""
    return bool(_TRAIN_WORKER.match(_title(process) or ""))


def is_ray_controller(process: ProcessInfo) -> bool:
    """Whether it is what starts and watches the ranks of Ray Train."""
    return bool(_CONTROLLER.match(_title(process) or ""))


def is_ray_work(process: ProcessInfo) -> bool:
    """Whether it is an actor or a task of the program, not one of Ray's own or a worker that waits for some."""
    title = _title(process)
    return title is not None and (is_ray_train_worker(process) or not title.startswith(_OWN_TITLES))


def has_process_group(process: ProcessInfo) -> bool:
    """Whether it takes part in collectives: actors of libraries that build on Ray without Ray Train."""
    return any(thread.comm.startswith(_COLLECTIVE_THREADS) for thread in process.threads)


def ray_job_of(process: ProcessInfo) -> tuple[int, str] | None:
    """The raylet and the job number that tell the workers of one job on one node; None for other processes."""
    number = (process.env or {}).get("RAY_JOB_ID")
    return (process.ppid, number) if number and number != NO_JOB and is_ray_process(process) else None


def _title(process: ProcessInfo) -> str | None:
    match = _TITLE.match(process.cmdline[0] if process.cmdline else process.comm)
    return match[1] if match else None
