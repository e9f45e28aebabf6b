from __future__ import annotations

import pytest

from hwtop.derive.job.output import log_targets, shared_with_absent, with_files
from hwtop.job.launch.tree import members
from hwtop.model.process import OpenFile
from hwtop.model.reported.log import LogFile
from tests.derive.readings import launcher, process, processes, rank


def targets(*files: OpenFile) -> list[str]:
    reading = processes(10.0, launcher(), rank(0, world=1, files=files))
    return [target.path for target in log_targets(reading, members(reading.processes)) if 110 in target.pids]


@pytest.mark.parametrize(
    "path",
    [
        "/exp/nemo_log_globalrank-0_localrank-0.txt",
        "/exp/log.txt.rank1",
        "/exp/train.log.2026-01-02",
        "/exp/lightning_logs/version_0/run.log",
        "/exp/deepspeed_rank0.log",
    ],
)
def test_files_that_are_named_like_logs_and_written(path: str) -> None:
    assert targets(OpenFile(fd=7, target=path, is_writable=True)) == [path]
    assert targets(OpenFile(fd=7, target=path)) == []


def test_a_rank_that_is_not_here_has_a_log_that_is_called_like_those_of_the_others() -> None:
    def absent(path: str, world: int = 2) -> list[str]:
        reading = processes(
            10.0, launcher(), rank(0, world=world, files=(OpenFile(fd=1, target=path, is_writable=True),))
        )
        found = log_targets(reading, members(reading.processes))
        assert [target.path for target in found if not target.may_lack] == [path]
        return [target.path for target in found if target.may_lack]

    assert absent("/exp/logs/rank0.log") == ["/exp/logs/rank1.log"]
    assert absent("/exp/run7/out_rank_00.txt", world=3) == ["/exp/run7/out_rank_01.txt", "/exp/run7/out_rank_02.txt"]
    assert absent("/exp/logs/rank0.log", world=1) == []
    assert absent("/exp/logs/train.log") == [], "it names no rank"
    assert absent("/exp/logs/rank5.log") == [], "that is not its own number"
    assert len(absent("/exp/logs/rank0.log", world=4096)) == 16


def test_logs_that_differ_in_the_numbers_of_their_ranks_tell_those_of_the_absent() -> None:
    def absent(*paths: str) -> dict[str, int | None]:
        ranks = [
            rank(number, world=3, files=(OpenFile(fd=1, target=path, is_writable=True),))
            for number, path in enumerate(paths)
        ]
        reading = processes(10.0, launcher(), *ranks)
        found = log_targets(reading, members(reading.processes))
        return {target.path: target.rank for target in found if target.may_lack}

    assert absent("/run1/hospital_0.log", "/run1/hospital_1.log") == {"/run1/hospital_2.log": 2}
    assert absent("/exp/w00.txt", "/exp/w01.txt") == {"/exp/w02.txt": 2}
    assert absent("/exp/hospital_0.log") == {}, "one file alone may have any number"
    assert absent("/exp/a_0.log", "/exp/b_1.log") == {}
    assert absent("/exp/try_7.log", "/exp/try_8.log") == {}, "these are not their numbers"


def test_of_ray_only_what_is_printed() -> None:
    folder = "/tmp/ray/session_2026-01-02_03-04-05_678901_23/logs"
    printed = [OpenFile(fd=fd, target=f"{folder}/worker-ab-01000000-40.{end}") for fd, end in ((1, "out"), (2, "err"))]
    own = OpenFile(fd=9, target=f"{folder}/python-core-worker-ab_40.log", is_writable=True)
    assert targets(*printed, own) == [file.target for file in printed]


def test_pipes_and_terminals_are_outputs_too() -> None:
    files = [OpenFile(fd=1, target="pipe:[123]"), OpenFile(fd=2, target="/dev/pts/3")]
    assert targets(*files) == ["pipe:[123]", "/dev/pts/3"]
    assert targets(OpenFile(fd=1, target="/dev/null"), OpenFile(fd=2, target="/dev/null")) == ["/dev/null"]


def test_slurmstepd_prints_nothing_of_its_own() -> None:
    files = (OpenFile(fd=1, target="/dev/null"), OpenFile(fd=2, target="pipe:[124]", is_writable=True))
    stepd = process(100, 1, comm="slurmstepd", cmdline=("slurmstepd: [12.0]",), files=files)
    reading = processes(10.0, stepd, rank(0, world=1, files=(OpenFile(fd=1, target="pipe:[123]"),)))
    assert [target.path for target in log_targets(reading, members(reading.processes))] == ["pipe:[123]"]


def test_a_file_behind_a_pipe_is_that_of_the_ranks_that_write_into_it() -> None:
    def file(path: str, *pids: int) -> LogFile:
        return LogFile(path=path, pids=pids, size_bytes=None if ":" in path else 1, age_s=None)

    known = {"/logs/0.log": (0,)}
    files = [file("/logs/0.log", 111), file("/logs/tee.log", 110, 7), file("/logs/by-hand.log"), file("pipe:[1]", 110)]
    assert with_files(known, files, {110: 0, 111: 1}) == {"/logs/0.log": (0, 1), "/logs/tee.log": (0,)}


@pytest.mark.parametrize(
    ("printed", "absent"),
    [
        ("/exp/job.log", {"/exp/job.log": (1,)}),  # the launcher prints there, too: so did the rank that is gone
        ("/exp/rank0.log", {"/exp/job.log": (1,)}),
    ],
)
def test_a_file_of_the_launcher_may_be_that_of_ranks_that_are_gone(
    printed: str, absent: dict[str, tuple[int, ...]]
) -> None:
    shared = (OpenFile(fd=1, target="/exp/job.log", is_writable=True),)
    reading = processes(10.0, launcher(files=shared), rank(0, log=printed))
    assert shared_with_absent(reading, members(reading.processes)) == absent
    whole = processes(10.0, launcher(files=shared), rank(0, log=printed), rank(1, log=printed))
    assert shared_with_absent(whole, members(whole.processes)) == {}
    other_node = {"RANK": "3", "LOCAL_RANK": "0", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "1"}
    alone = processes(10.0, launcher(files=shared), rank(3, log=printed, env=other_node))
    assert shared_with_absent(alone, members(alone.processes)) == {}
