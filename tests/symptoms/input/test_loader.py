"""input-bound-* and gpu-idle-cpu-busy."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu
from hwtop.model.process import SystemCall
from hwtop.model.rank import Rank
from hwtop.model.rank_stack import HotLine, HotSpot, Phase
from hwtop.model.reported.log import Progress
from hwtop.model.stack import StackDump, StackFrame, ThreadStack
from hwtop.symptoms.gpu.idle import check_gpu_idle
from hwtop.symptoms.history import History
from hwtop.symptoms.input.loader import check_cause
from hwtop.symptoms.input.loading import Cause, hot_spot
from tests.parts import replace
from tests.stack_jobs import stack
from tests.symptoms.derived_states import constant, cpu, derived, history, job, rank, row, shares, spot, worker

READ = StackFrame(name="read", filename="/home/me/data.py", short_filename="data.py", line=9)
SLEEP = StackFrame(name="wait_for_lock", filename="/home/me/data.py", short_filename="data.py", line=9)


READS: dict[str, Any] = {"workers": (), "phase_shares": shares(data_main=0.6), "hot": (spot("readinto"),)}


TAKES_A_BATCH = stack("_try_get_data torch/utils/data/dataloader.py 1310", "main train.py 9")
COLLECTS = stack("get multiprocessing/pool.py 765", "map multiprocessing/pool.py 367", "main evolve.py 9")


def dump_of(main: ThreadStack) -> StackDump:
    return StackDump(pid=1000, at_s=30.0, threads=(main,))


def starved(**fields: object) -> Rank:
    known: dict[str, Any] = {
        "phase": "data",
        "phase_shares": shares(data=0.7, forward=0.3),
        "state": "data-wait",
        "workers": (worker(2000), worker(2001)),
        "worker_hot": (spot(),),
    }
    return rank(0, **(known | fields))


def causes(watched: History) -> list[str]:
    every: tuple[Cause, ...] = ("cpu", "workers", "io")
    return [cause for cause in every if check_cause(cause, watched) is not None]


@pytest.mark.parametrize(
    ("busy_pct", "cause", "title", "said"),
    [
        (98.0, "cpu", "data from `clean.py` (PID 77), which keeps a core busy", "98 % of a core on average"),
        (12.0, "io", "data: loading waits for a pipe in `decode` (data.py:33)", "12 % of a core on average"),
    ],
)
def test_who_makes_what_is_read_from_a_pipe(busy_pct: float, cause: Cause, title: str, said: str) -> None:
    call = SystemCall(name="read", fd=0, target="pipe:[5]", peer_pids=(77,))
    reads = starved(**READS, os_state="S", wchan="anon_pipe_read", main_thread_cpu_pct=20.0, call=call)
    other = row(77, role="other", command="python -u /data/clean.py --fast", cpu_pct=busy_pct)
    watched = constant(replace(job(reads), processes=(other,)))
    assert causes(watched) == [cause]
    seen = check_cause(cause, watched)
    assert seen is not None
    assert seen.title == f"Rank 0 waits 60 % of the time for {title}"
    assert any(
        line.startswith("the other end is held by PID 77 (python -u /data/clean.py") and said in line
        for line in seen.evidence
    )
    assert any(" 77 " in step for step in seen.next_steps)


@pytest.mark.parametrize(
    ("job_pct", "asleep", "steps", "expected"),
    [
        (3.0, 0.97, 1, "The job hardly computes: rank 0 waits 97 % of the time in `get` (client.py:5) for PID 77 (store.py)"),
        (3.0, 0.97, 0, None),  # a hang
        (60.0, 0.97, 1, None),  # the answer is being worked out
        (3.0, 0.15, 1, None),
    ],
)  # fmt: skip
def test_a_rank_that_waits_for_answers_of_unknown_purpose(
    job_pct: float, asleep: float, steps: int, expected: str | None
) -> None:
    call = SystemCall(name="recvfrom", fd=3, target="socket:[7]", peer="127.0.0.1:9000", peer_pids=(77,))
    asks = starved(
        workers=(),
        worker_hot=(),
        phase="other",
        state="training",
        phase_shares=shares(other=asleep, forward=1 - asleep),
        hot=(HotSpot(function="get", file="client.py", line=5, share=asleep, samples=40),),
        os_state="S",
        wchan="wait_woken",
        main_thread_cpu_pct=2.0,
        call=call,
    )
    store = row(77, role="other", command="python -u /data/store.py", cpu_pct=job_pct)

    def at(second: int) -> DerivedState:
        trains = replace(asks, progress=replace(asks.progress, newest=Progress(step=steps * second, loss=0.5)))
        return derived(float(second), replace(job(trains), processes=(store,)))

    seen = check_cause("io", history(30, at))
    assert (seen.title if seen is not None else None) == expected
    if seen is not None:
        assert seen.severity == "warning"
        assert any("hwtop stacks 77" in step for step in seen.next_steps)
        assert not any("NVMe" in step for step in seen.next_steps)
        assert not any("loading" in line for line in seen.evidence), "nothing shows that it loads"


def test_a_line_that_takes_turns_at_a_pipe_and_has_no_core_is_not_computing() -> None:
    reads = starved(**READS, os_state="R", main_thread_cpu_pct=16.0, run_delay_pct=8.0)
    assert causes(constant(job(reads))) == ["io"], "of a core it wants a quarter"
    wants = starved(**READS, os_state="R", main_thread_cpu_pct=16.0, run_delay_pct=80.0)
    assert causes(constant(job(wants))) == ["workers"]


def test_busy_workers_are_bound_by_the_cpu() -> None:
    watched = constant(job(starved()))
    assert causes(watched) == ["cpu"]
    seen = check_cause("cpu", watched)
    assert seen is not None
    assert seen.title == "Rank 0 waits 70 % of the time for data: the loader is CPU-bound in `decode` (data.py:33)"
    assert any("2 loader workers (state RR), each 98 % of a core" in line for line in seen.evidence)
    assert any("num_workers=" in step for step in seen.next_steps)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"workers": (worker(state="D", cpu_pct=3.0),)}, "io"),
        ({"workers": (worker(state="S", cpu_pct=2.0, leaf=READ),)}, "io"),
        ({"workers": (worker(state="S", cpu_pct=2.0, leaf=SLEEP),)}, "workers"),
        ({"workers": (), "phase_shares": shares(data_main=0.6, forward=0.4)}, "workers"),
        (READS | {"os_state": "S", "main_thread_cpu_pct": 4.0}, "io"),
        (READS | {"os_state": "S", "main_thread_cpu_pct": 90.0}, "workers"),  # what it reads lies in memory
        (READS | {"os_state": "R", "main_thread_cpu_pct": 30.0}, "workers"),
        ({"workers": (), "phase_shares": shares(data_main=0.6), "os_state": "D"}, "io"),
        ({"workers": (), "cpu_pct": 99.0, "main_thread_cpu_pct": 4.0}, "cpu"),  # its own threads load
        ({"workers": (), "cpu_pct": 60.0, "main_thread_cpu_pct": 4.0}, "workers"),
        ({"workers": (worker(cpu_pct=71.0, state="S"),)}, "cpu"),
        ({"workers": (worker(cpu_pct=40.0),)}, "cpu"),  # runnable, but the machine is full
        ({"workers": (worker(state="S", cpu_pct=2.0, leaf=SLEEP, wchan="anon_pipe_read"),)}, "io"),
        ({"workers": (worker(state="S", cpu_pct=2.0, leaf=SLEEP, wchan="futex_do_wait"),)}, "workers"),
    ],
)
def test_what_the_loading_waits_for(fields: dict[str, Any], expected: str) -> None:
    assert causes(constant(job(starved(**fields)))) == [expected]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('rows = self.c.execute("SELECT a FROM f").fetchall()', "io"),  # waits for another writer's lock
        ("x = requests.get(url).content", "io"),
        ("buf = os.pread(fd, 4096, k)", "io"),
        ("time.sleep(0.5)", "workers"),
        ("batch = collate(rows)", "workers"),
        (None, "workers"),
    ],
)
def test_the_text_of_the_line_tells_a_read_whatever_its_function_is_called(code: str | None, expected: str) -> None:
    line = HotLine(function="rows_of", file="data.py", line=7, code=code, phase="data-main", share=0.6, samples=12)
    loads: dict[str, Any] = {"workers": (), "phase_shares": shares(data_main=0.6), "hot": (spot("rows_of"),)}
    one = starved(**loads, hot_lines=(line,), os_state="S", main_thread_cpu_pct=4.0)
    assert causes(constant(job(one))) == [expected]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"os_state": "D"}, "loading is blocked on storage"),
        ({"os_state": "S", "wchan": "anon_pipe_read"}, "loading waits for a pipe"),
        (
            {"os_state": "S", "call": SystemCall(name="recvfrom", fd=5, target="socket:[7]")},
            "loading waits for a socket",
        ),
        ({"os_state": "S", "hot": (spot("readinto"),)}, "loading waits in a read"),
    ],
)
def test_storage_is_only_blamed_where_the_kernel_shows_it(fields: dict[str, Any], expected: str) -> None:
    loads: dict[str, Any] = {"workers": (), "phase_shares": shares(data_main=0.6), "main_thread_cpu_pct": 4.0}
    seen = check_cause("io", constant(job(starved(**(loads | fields)))))
    assert seen is not None
    assert expected in seen.title


def test_a_function_called_read_that_sleeps_reads_nothing() -> None:
    line = HotLine(
        function="read_item", file="data.py", line=7, code="time.sleep(0.1)", phase="data-main", share=0.6, samples=12
    )
    loads: dict[str, Any] = READS | {"hot": (spot("read_item"),), "os_state": "S", "main_thread_cpu_pct": 1.0}
    assert causes(constant(job(starved(**loads, hot_lines=(line,))))) == ["workers"]
    asleep = starved(**loads, wchan="hrtimer_nanosleep")
    assert causes(constant(job(asleep))) == ["workers"]
    seen = check_cause("workers", constant(job(asleep)))
    assert seen is not None
    assert any("a sleep to end, in 100 % of the samples" in line for line in seen.evidence)
    assert any("loading sleeps: more workers need no core" in step for step in seen.next_steps)


@pytest.mark.parametrize(
    ("util_pct", "busy", "is_offered"), [(95.0, "7.6 of 8 cores", False), (40.0, "3.2 of 8", True)]
)
def test_busy_and_free_cores_of_a_card_are_one_number(util_pct: float, busy: str, is_offered: bool) -> None:
    seen = check_cause("cpu", constant(job(starved()), cpu=cpu(util_pct)))
    assert seen is not None
    assert any(line.startswith(busy) and line.endswith("free") for line in seen.evidence)
    assert any("DataLoader(num_workers=" in step for step in seen.next_steps) is is_offered


SELECT = (("select", "selectors.py"), ("_run_once", "asyncio/base_events.py"), ("run", "asyncio/runners.py"))


@pytest.mark.parametrize(
    ("inner", "outer", "expected"),
    [
        (SELECT, ("pump", "data.py"), "io"),
        ((("readinto", "socket.py"), ("read", "http/client.py")), ("fill", "data.py"), "io"),
        (SELECT, ("start", "site-packages/wandb/asyncio_manager.py"), "workers"),  # not the job's own
        ((("wait", "threading.py"),), ("fill", "data.py"), "workers"),
    ],
)
def test_who_fills_the_queue_that_a_rank_waits_at(
    inner: tuple[tuple[str, str], ...], outer: tuple[str, str], expected: str
) -> None:
    waits = ThreadStack(
        name="MainThread", os_thread_id=1, is_active=False, owns_gil=False, frames=frames(("get", "queue.py"))
    )
    fills = ThreadStack(name="fill", os_thread_id=2, is_active=False, owns_gil=False, frames=frames(*inner, outer))
    line = HotLine(function="train", file="train.py", line=7, code="q.get()", phase="data", share=0.7, samples=14)
    one = starved(
        workers=(),
        worker_hot=(),
        hot=(spot("step", 0.02),),
        hot_lines=(line,),
        cpu_pct=1.0,
        main_thread_cpu_pct=1.0,
        stack=StackDump(pid=1000, at_s=1.0, threads=(waits, fills)),
    )
    watched = constant(job(one))
    assert causes(watched) == [expected]
    seen = check_cause("io" if expected == "io" else "workers", watched)
    assert seen is not None
    assert "`train` (train.py:7)" in seen.title
    assert any("it waits at a queue" in text for text in seen.evidence)


def frames(*pairs: tuple[str, str]) -> tuple[StackFrame, ...]:
    """(function, short file name), leaf first; data.py is the user's."""
    return tuple(
        StackFrame(
            name=name,
            filename=("/home/me/" if file == "data.py" else "/opt/lib/python3.11/") + file,
            short_filename=file,
            line=7,
        )
        for name, file in pairs
    )


@pytest.mark.parametrize(
    ("share", "samples", "expected"),
    [(0.38, 20, True), (0.32, 20, False), (0.25, 200, True), (0.22, 200, False), (0.9, 7, False), (0.55, 10, True)],
)
def test_few_samples_must_prove_more(share: float, samples: int, expected: bool) -> None:
    one = starved(phase_shares=shares(data=share, forward=1 - share), samples=samples)
    assert bool(causes(constant(job(one)))) is expected


def test_what_loads_is_named_and_not_what_computes() -> None:
    def at(function: str, number: int, phase: Phase, share: float) -> HotLine:
        return HotLine(
            function=function,
            file="train.py",
            line=number,
            code=None,
            phase=phase,
            share=share,
            samples=int(100 * share),
        )

    lines = (
        at("<module>", 24, "backward", 0.5),
        at("elastic", 9, "data-main", 0.2),
        at("resize", 7, "data-main", 0.15),
        at("elastic", 12, "data-main", 0.1),
    )
    loads: dict[str, Any] = {"phase_shares": shares(backward=0.5, data_main=0.45), "hot": (spot("<module>", 0.5),)}
    found = hot_spot([starved(workers=(), worker_hot=(), hot_lines=lines, **loads)])
    assert found is not None
    assert (found.function, found.line, found.samples) == ("elastic", 9, 30)


def test_a_loader_that_collects_garbage_is_slow_for_that() -> None:
    line = HotLine(
        function="load", file="data.py", line=7, code="gc.collect()", phase="data-main", share=0.6, samples=12
    )
    collects = starved(workers=(), phase_shares=shares(data_main=0.7, forward=0.3), hot_lines=(line,))
    assert causes(constant(job(collects))) == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"progress": None}, False),  # it reads the data set before the first step
        ({"progress": Progress(step=450, total_steps=1000)}, False),  # a bar over its files
        ({"progress": Progress(step=450, loss=2.0)}, True),
        ({"progress": None, "phase_shares": shares(data_main=0.98, backward=0.02)}, True),
        ({"progress": None, "phase_shares": shares(data=1.0), "stack": dump_of(TAKES_A_BATCH)}, True),
        # A main process that only collects what its pool works out: an evolution strategy, a search, a simulation.
        ({"progress": None, "phase_shares": shares(data=0.98, other=0.02), "stack": dump_of(COLLECTS)}, False),
    ],
)
def test_a_data_set_may_be_prepared_before_the_training(fields: dict[str, Any], expected: bool) -> None:
    one = starved(**({"workers": (), "phase_shares": shares(data_main=1.0)} | fields))
    assert bool(causes(constant(job(one)))) is expected


def test_waiting_for_child_processes_of_unknown_purpose_is_no_fault() -> None:
    """Simulators, actors, a search: a learner may well wait for them most of the time."""
    one = starved(worker_hot=(spot("simulator"),), stack=dump_of(COLLECTS))
    seen = check_cause("cpu", constant(job(one)))
    assert seen is not None
    assert seen.severity == "info"
    assert seen.title == (
        "Rank 0 waits 70 % of the time for `simulator` (data.py:33), in child processes; nothing shows that it loads data"
    )
    assert "rank 0 has 2 child processes (state RR), each 98 % of a core on average" in seen.evidence
    assert not any("DataLoader" in step for step in seen.next_steps)


@pytest.mark.parametrize(("function", "expected"), [("tokenize", "warning"), ("play", "info")])
def test_what_a_thread_of_the_rank_is_named_for_counts_as_well(function: str, expected: str) -> None:
    waits = stack("get queue.py 171", "main train.py 9")
    busy = replace(stack(f"{function} train.py 30", "run train.py 40"), is_active=True)
    dumps = StackDump(pid=1000, at_s=30.0, threads=(waits, busy))
    one = starved(workers=(), worker_hot=(), stack=dumps, hot=(spot("main"),))
    seen = check_cause("workers", constant(job(one))) or check_cause("cpu", constant(job(one)))
    assert seen is not None
    assert seen.severity == expected


def test_nothing_is_said_while_the_job_starts() -> None:
    assert causes(constant(job(starved(state="starting")))) == []


def gpu(util_pct: float | None) -> Gpu:
    return Gpu(index=0, vendor="nvidia", name="H100", uuid=None, status="ok", util_pct=util_pct)


BUSY = rank(0, gpus=(0,), main_thread_cpu_pct=95.0, hot=(spot("tokenize", 0.71),))


@pytest.mark.parametrize(
    ("util_pct", "cpu_pct", "expected"),
    [(4.0, 95.0, True), (29.0, 81.0, True), (31.0, 95.0, False), (4.0, 79.0, False), (None, 95.0, False)],
)
def test_gpu_idle_while_the_cpu_is_busy(util_pct: float | None, cpu_pct: float, expected: bool) -> None:
    one = rank(0, gpus=(0,), main_thread_cpu_pct=cpu_pct, os_state="S")
    assert (check_gpu_idle(constant(job(one), gpus=(gpu(util_pct),))) is not None) is expected


def test_a_rank_that_always_wants_the_cpu_counts_as_busy_on_a_full_machine() -> None:
    wanting = rank(0, gpus=(0,), main_thread_cpu_pct=55.0, os_state="R")
    seen = check_gpu_idle(constant(job(wanting), gpus=(gpu(4.0),)))
    assert seen is not None
    assert (
        "rank 0: busiest process at 55 % of a core, running or in line for a core in 100 % of the samples"
        in seen.evidence
    )


def test_the_headline_names_the_function() -> None:
    seen = check_gpu_idle(constant(job(BUSY), gpus=(gpu(4.0),)))
    assert seen is not None
    assert seen.title == "GPU idle, CPU busy: `tokenize` takes 71 % of the time"
    assert "GPU 0: 4 % busy over 10 s" in seen.evidence


def test_a_checkpoint_explains_an_idle_gpu() -> None:
    saving = rank(0, gpus=(0,), main_thread_cpu_pct=95.0, state="checkpoint")
    assert check_gpu_idle(constant(job(saving), gpus=(gpu(0.0),))) is None


def test_ten_seconds_must_have_been_seen() -> None:
    assert check_gpu_idle(constant(job(BUSY), seconds=5, gpus=(gpu(4.0),))) is None


@pytest.mark.parametrize(
    ("share", "main_pct", "severity"),
    [
        (0.35, 98.0, "info"),  # another core would make the steps a third shorter, and none is idle for it
        (0.35, 40.0, "warning"),  # the process sleeps while it loads
        (0.6, 98.0, "warning"),  # it does hardly anything else
    ],
)
def test_a_process_that_computes_and_loads_by_itself_wastes_nothing(
    share: float, main_pct: float, severity: str
) -> None:
    loads: dict[str, Any] = {"phase_shares": shares(data_main=share, forward=1 - share), "samples": 200}
    one = starved(workers=(), main_thread_cpu_pct=main_pct, gpus=(), **loads)
    every: tuple[Cause, ...] = ("cpu", "workers", "io")
    seen = [found for cause in every if (found := check_cause(cause, constant(job(one)))) is not None]
    assert [each.severity for each in seen] == [severity]
