"""A job on eight GPUs of the fake driver, from its NVML calls to the findings: two minutes of readings taken in seconds."""

from __future__ import annotations

from pathlib import Path

from hwtop.collectors.gpu.holder import GpuHolders
from hwtop.feed.assemble import Assembler
from hwtop.model.frame import Frame
from hwtop.model.gpu.device import GpuReading
from hwtop.model.snapshot import Snapshot
from tests.derive.readings import cpu, dump, launcher, log_lines, logs, processes, rank, snapshot, stacks
from tests.fakenvml.fixture import FakeNvml
from tests.host import write_tree
from tests.parts import replace

EVERY_S = 4
SECONDS = 120
FIRST_PID = 110


def host_with(tmp_path: Path, pids: list[int]) -> GpuHolders:
    """A machine on which only these processes live."""
    stat = {f"{pid}/stat": f"{pid} (python) R " + " ".join(["1"] * 49) for pid in (1, *pids)}
    write_tree(tmp_path / "proc", {"self/ns/x": "", "sys/kernel/osrelease": "6.8.0", **stat})
    (tmp_path / "proc/self/ns/pid").symlink_to("pid:[4026531836]")
    return GpuHolders(str(tmp_path / "proc"))


def watched(fake: FakeNvml, tmp_path: Path, gpus: list[int], hangs_after_s: int | None = None) -> Frame:
    """Rank N trains on the GPU that the scenario calls that of `gpus[N]`; every other process that a GPU lists is gone.

    A job that hangs shows no stacks, only its GPUs and a silent log: as where ptrace is refused.
    """
    pids = [FIRST_PID + number for number in range(len(gpus))]
    names = "".join(f"rank{index} {pid}\n" for index, pid in zip(gpus, pids, strict=True))
    Path(fake.env["FAKENVML_PIDS"]).write_text(names)
    holders = host_with(tmp_path, pids)
    probe = fake.probe()
    assembler = Assembler()
    for second in range(0, SECONDS + 1, EVERY_S):
        if second == hangs_after_s:
            spin(fake)
        answer = probe.say("read")
        assert answer.reading is not None, answer.reason
        # the counters of the fake library go by real time, of which next to none passes here
        rows = tuple(replace(gpu, counters=None) for gpu in holders.reported(answer.reading.gpus))
        reading = replace(answer.reading, at_s=100.0 + second, gpus=rows)
        frame = assembler.advance(
            taken(
                reading, len(gpus), has_stacks=hangs_after_s is None, is_silent=second >= (hangs_after_s or SECONDS + 1)
            )
        )
        probe.say(f"advance {EVERY_S}")
    return frame


def spin(fake: FakeNvml) -> None:
    """All GPUs wait in a collective for number 5."""
    fake.set("all", util=100, mem_util=0, power=160, pcie_tx=10, pcie_rx=10, gpm_tensor=0, gpm_dram=0, gr=1980)
    fake.set(5, util=0, power=90)


def taken(reading: GpuReading, world: int, *, has_stacks: bool, is_silent: bool) -> Snapshot:
    at_s = reading.at_s
    ticks = int(at_s * 40)
    lines = [] if is_silent else log_lines("/logs/rank_0.log", at_s, f"step {int(at_s)} loss 2.5", first=int(at_s))
    dumps = [dump(FIRST_PID + number, at_s) for number in range(world)] if has_stacks else []
    return snapshot(
        at_s,
        interval_s=float(EVERY_S),
        gpu=reading,
        cpu=cpu(at_s, ticks),
        process=processes(at_s, launcher(), *(rank(number, world=world, user_ticks=ticks) for number in range(world))),
        stacks=stacks(at_s, *dumps),
        logs=logs(at_s, *lines),
    )


def test_eight_healthy_gpus_raise_nothing(fake_nvml: FakeNvml, tmp_path: Path) -> None:
    frame = watched(fake_nvml, tmp_path, list(range(8)))
    assert frame.derived.job is not None
    assert [each.gpus for each in frame.derived.job.ranks] == [(index,) for index in range(8)]
    assert [finding for finding in frame.findings if finding.severity != "info"] == []
    assert frame.verdict.level == "ok"


def test_memory_of_the_dead_and_a_rank_that_does_nothing_are_found(fake_nvml: FakeNvml, tmp_path: Path) -> None:
    """GPU 7 is held by a process that is gone; rank 4 holds 71 GB on GPU 6 and uses none of it."""
    fake_nvml.load("h100x8-idle")
    frame = watched(fake_nvml, tmp_path, [0, 1, 2, 3, 6])
    found = {finding.symptom: finding for finding in frame.findings}
    zombie = found["zombie-gpu-memory"]
    assert zombie.severity == "info", "no rank needs GPU 7"
    assert zombie.title == "GPU 7: 69.2 GiB held by processes that have ended"
    assert found["multi-gpu-imbalance"].ranks == (4,)
    assert found["multi-gpu-imbalance"].severity == "warning"
    assert {finding.symptom for finding in frame.findings if finding.severity == "critical"} == set()


def test_without_stacks_gpus_that_spin_point_at_the_one_that_does_not(fake_nvml: FakeNvml, tmp_path: Path) -> None:
    frame = watched(fake_nvml, tmp_path, list(range(8)), hangs_after_s=60)
    found = {finding.symptom: finding for finding in frame.findings}
    spins = found["gpu-busy-low-power"]
    assert (spins.severity, spins.ranks) == ("warning", (5,))
    assert spins.title.endswith("not on rank 5: check there first")
    assert "tensor cores and memory rest by the hardware's own counters" in spins.evidence
