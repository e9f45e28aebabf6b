"""The heartbeat as a training calls it, read by the source of hwtop: in real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hwtop.collectors.metrics import heartbeat as heartbeat_source
from hwtop.collectors.metrics.heartbeat import HeartbeatSource, parse_page
from hwtop.collectors.process.files import read_stat
from hwtop.heartbeat import PAGE_BYTES
from hwtop.model.plan import SamplingPlan
from hwtop.model.reported.heartbeat import Pulse
from hwtop.model.reported.metrics import MetricsTarget

ROOT = Path(__file__).parent.parent


@contextmanager
def job(code: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A process that runs `code`; where that prints a line, this goes on. A line on its standard input lets it go on."""
    program = "import os, sys\nfrom hwtop import heartbeat\n" + textwrap.dedent(code)
    words = [sys.executable, *options, "-c", program]
    process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def target(pid: int) -> MetricsTarget:
    stat = read_stat(f"/proc/{pid}")
    return MetricsTarget(pid=pid, own_pid=pid, rank=3, uid=os.getuid(), start_ticks=stat.start_ticks)


@pytest.fixture(autouse=True)
def _a_busy_machine_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat_source, "_TOGETHER_S", 60.0)


def read(source: HeartbeatSource, *pids: int) -> tuple[Pulse, ...]:
    source.set_plan(SamplingPlan(metrics=tuple(target(pid) for pid in pids)))
    reading = source.read()
    assert reading is not None
    assert reading.missing == {}
    return reading.pulses


def pages(pid: int) -> list[Path]:
    return list(Path("/dev/shm").glob(f"hwtop-*-{pid}"))


def test_steps_and_numbers_arrive_once() -> None:
    code = """
    heartbeat(step=1, loss=2.5)
    heartbeat(step=2, loss=float("nan"), lr=0.1, tokens_per_s=1000)
    print("told", flush=True)
    sys.stdin.readline()
    heartbeat(step=3, loss=1)
    print("told", flush=True)
    sys.stdin.readline()
    """
    source = HeartbeatSource()
    with job(code) as process:
        assert line(process) == "told"
        (pulse,) = read(source, process.pid)
        assert (pulse.rank, pulse.count, pulse.is_first) == (3, 2, True)
        first, second = pulse.beats
        assert (first.step, first.values) == (1, {"loss": 2.5})
        assert second.values["loss"] != second.values["loss"]
        assert (second.values["lr"], second.values["tokens_per_s"]) == (0.1, 1000.0)
        assert 0 <= second.at_s - first.at_s < 5
        assert read(source, process.pid)[0].beats == ()
        go_on(process)
        assert line(process) == "told"
        (pulse,) = read(source, process.pid)
        assert [(beat.step, beat.values) for beat in pulse.beats] == [(3, {"loss": 1.0})]
        assert not pulse.is_first
        assert [path.stat().st_mode & 0o777 for path in pages(process.pid)] == [0o600]
        go_on(process)
        process.wait(60)
        assert pages(process.pid) == []


def test_whatever_is_given_nothing_is_raised_and_no_tensor_is_read() -> None:
    code = """
    class Tensor:
        def __float__(self): print("read", flush=True); return 1.0
    heartbeat(step=1, loss=Tensor(), lr=Tensor(), text="x", none=None, **{"long" * 100: 1.0})
    heartbeat(object(), [], grad_norm={})
    heartbeat(step=2**80, loss=10**400)
    heartbeat(step=float("nan"))
    heartbeat()
    for number in range(30):
        heartbeat(step=7, **{f"name{number}": 1.0})
    heartbeat(step=8, loss=0.5)
    print("done", flush=True)
    sys.stdin.readline()
    """
    with job(code, "-W", "error") as process:
        assert line(process) == "done"
        (pulse,) = read(HeartbeatSource(), process.pid)
        assert (pulse.beats[-1].step, pulse.beats[-1].values) == (8, {"loss": 0.5})
        assert set(pulse.refused) >= {"loss", "lr", "text", "step", "grad_norm"}


def test_a_forked_worker_does_not_write_to_the_page_of_its_parent() -> None:
    code = """
    heartbeat(step=1)
    if os.fork() == 0:
        heartbeat(step=99)
        print(os.getpid(), flush=True)
        sys.stdin.readline()
        os._exit(0)
    os.wait()
    heartbeat(step=2)
    print("done", flush=True)
    sys.stdin.readline()
    """
    with job(code) as process:
        child = int(line(process))
        (own,) = read(HeartbeatSource(), child)
        assert [beat.step for beat in own.beats] == [99]
        go_on(process)
        assert line(process) == "done"
        (pulse,) = read(HeartbeatSource(), process.pid)
        assert [beat.step for beat in pulse.beats] == [1, 2]


def test_children_of_multiprocessing_remove_their_pages() -> None:
    code = """
    import multiprocessing
    def train():
        heartbeat(step=1)
        print(os.getpid(), flush=True)
    worker = multiprocessing.get_context("fork").Process(target=train)
    worker.start()
    worker.join()
    print("done", flush=True)
    """
    with job(code) as process:
        child = int(line(process))
        assert line(process) == "done"
        assert pages(child) == []


def test_the_page_of_a_killed_process_is_removed_by_the_next() -> None:
    with job('heartbeat(step=1)\nprint("told", flush=True)\nsys.stdin.readline()') as killed:
        assert line(killed) == "told"
        killed.send_signal(signal.SIGKILL)
        killed.wait(60)
        assert len(pages(killed.pid)) == 1
        with job('heartbeat(step=1)\nprint("told", flush=True)\nsys.stdin.readline()') as later:
            assert line(later) == "told"
            assert pages(killed.pid) == []
            assert len(pages(later.pid)) == 1


def test_a_page_of_an_earlier_process_is_none_of_this_one() -> None:
    with job('heartbeat(step=1)\nprint("told", flush=True)\nsys.stdin.readline()') as process:
        assert line(process) == "told"
        earlier = MetricsTarget(pid=process.pid, own_pid=process.pid, uid=os.getuid(), start_ticks=1)
        source = HeartbeatSource()
        source.set_plan(SamplingPlan(metrics=(earlier,)))
        reading = source.read()
        assert reading is not None
        assert reading.pulses == ()


def test_links_and_files_of_others_are_not_read(tmp_path: Path) -> None:
    namespace = os.readlink("/proc/self/ns/pid").strip("pid:[]")
    with job('print("up", flush=True)\nsys.stdin.readline()') as process:
        assert line(process) == "up"
        place = Path(f"/dev/shm/hwtop-{namespace}-{process.pid}")
        victim = tmp_path / "victim"
        victim.write_bytes(b"mine")
        place.symlink_to(victim)
        try:
            source = HeartbeatSource()
            source.set_plan(SamplingPlan(metrics=(target(process.pid),)))
            reading = source.read()
            assert reading is not None
            assert reading.pulses == ()
            assert "cannot read" in reading.missing[f"PID {process.pid}"]
        finally:
            place.unlink()


def test_a_link_in_its_place_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    code = """
    namespace = os.readlink("/proc/self/ns/pid").strip("pid:[]")
    os.symlink(sys.argv[1], f"/dev/shm/hwtop-{namespace}-{os.getpid()}")
    heartbeat(step=1)
    print("told", flush=True)
    sys.stdin.readline()
    """
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    with job(code.replace("sys.argv[1]", repr(str(victim)))) as process:
        assert line(process) == "told"
        assert victim.read_bytes() == b"mine"
        assert len(read(HeartbeatSource(), process.pid)[0].beats) == 1


def test_a_reader_never_sees_half_a_beat() -> None:
    code = """
    print("go", flush=True)
    step = 0
    while True:
        step += 1
        heartbeat(step=step, loss=float(step), twice=2.0 * step)
    """
    source = HeartbeatSource()
    seen = 0
    with job(code) as process:
        assert line(process) == "go"
        for _ in range(10_000):
            for pulse in read(source, process.pid) if process.poll() is None else ():
                for beat in pulse.beats:
                    seen += 1
                    assert beat.values == {"loss": float(beat.step or 0), "twice": 2.0 * (beat.step or 0)}
            source._missed_at_s.clear()
            if seen > 2000:
                break
    assert seen > 2000


@pytest.mark.parametrize("data", [b"", b"x" * PAGE_BYTES, bytes(PAGE_BYTES), b"hwtop-beat-9\n" + bytes(PAGE_BYTES)])
def test_anything_else_is_no_page(data: bytes) -> None:
    with pytest.raises(ValueError, match="no page"):
        parse_page(data, data)


def test_importing_it_imports_nothing_heavy() -> None:
    code = "import sys; from hwtop import heartbeat; print([name for name in ('textual', 'msgspec', 'click', 'psutil', 'mmap', 'pathlib', 'hwtop.model') if name in sys.modules])"
    bare = [sys.executable, "-S", "-c", code]
    answer = subprocess.run(bare, cwd=ROOT, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_the_printed_file_works_alone(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hwtop", "heartbeat"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    (tmp_path / "hwtop_heartbeat.py").write_text(printed.stdout)
    code = "import os; from hwtop_heartbeat import heartbeat; heartbeat(step=1); print([n for n in os.listdir('/dev/shm') if n.endswith(f'-{os.getpid()}')])"
    isolated = [sys.executable, "-S", "-c", code]
    answer = subprocess.run(isolated, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert answer.stdout.startswith("['hwtop-")
