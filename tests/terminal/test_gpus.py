"""The assembled program on fake GPUs: healthy, lost, and a driver that hangs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from tests.demo.test_run import rank_pids, wait_until
from tests.fakenvml.fixture import FakeNvml
from tests.terminal.conftest import Open, Start, scenario, use_ranks, wait_for_ticks
from tests.terminal.tmux import PROMPT, Tmux, hwtop

pytestmark = pytest.mark.real

ROW = re.compile(r"^│[ ▲◌✖●]+(\d)\s+(\d+|–)\s+(\d+)%", re.MULTILINE)
"""A GPU that shows numbers: its index, its rank, its use."""


def hwtop_json(fake: FakeNvml, *arguments: object) -> dict[str, Any]:
    command = [sys.executable, "-m", "hwtop", *map(str, arguments), "--json"]
    done = subprocess.run(command, env=fake.env, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def answering(screen: str) -> dict[int, str]:
    """GPU index -> rank, of the GPUs whose row shows how busy they are and is not stale."""
    rows = (ROW.match(line) for line in screen.splitlines() if "stale" not in line)
    return {int(row[1]): row[2] for row in rows if row}


def attach(open_terminal: Open, start: Start, fake: FakeNvml, width: int, height: int) -> Tmux:
    job = start()
    wait_until(lambda: len(rank_pids(job)) == 2, "two ranks")
    use_ranks(fake, rank_pids(job))
    terminal = open_terminal(width, height, env=fake.env)
    terminal.run(hwtop(job.launcher_pid))
    return terminal


def test_eight_gpus_with_names_ranks_and_numbers(open_terminal: Open, start: Start, fake_nvml: FakeNvml) -> None:
    terminal = attach(open_terminal, start, fake_nvml, 120, 40)
    screen = terminal.wait_until(lambda screen: len(answering(screen)) == 8, "eight rows with numbers")
    assert "8 × NVIDIA H100 80GB HBM3" in screen
    terminal.wait_until(lambda screen: (answering(screen).get(0), answering(screen).get(1)) == ("0", "1"), "the ranks")
    fake_nvml.set(5, util=7)
    terminal.wait_for(r"^│\W+5\s+–\s+7%")
    terminal.resize(80, 24)
    screen = terminal.wait_until(lambda screen: len(screen.splitlines()) <= 24 and len(answering(screen)) == 8, "80x24")
    assert re.search(r"^│\W+5\s+–\s+7%", screen, re.MULTILINE)
    fake_nvml.fail(3, "*", "GPU_IS_LOST")
    terminal.wait_for(r"✖ ?(GPU)? *3 +LOST")


def test_lost_gpu_is_one_row_in_words_and_comes_back(open_terminal: Open, start: Start, fake_nvml: FakeNvml) -> None:
    terminal = attach(open_terminal, start, fake_nvml, 120, 40)
    terminal.wait_until(lambda screen: len(answering(screen)) == 8, "eight rows with numbers")
    fake_nvml.fail(3, "*", "GPU_IS_LOST")
    screen = terminal.wait_for(r"✖ +3 +LOST .*no longer answers")
    assert sorted(answering(screen)) == [0, 1, 2, 4, 5, 6, 7]
    fake_nvml.undo()
    terminal.wait_until(lambda screen: len(answering(screen)) == 8, "eight rows with numbers again")


def test_the_gpu_page_tells_health_links_and_why_numbers_are_missing(
    open_terminal: Open, start: Start, fake_nvml: FakeNvml
) -> None:
    fake_nvml.load("errors")
    terminal = attach(open_terminal, start, fake_nvml, 160, 50)
    terminal.wait_until(lambda screen: len(answering(screen)) == 8, "eight rows with numbers")
    terminal.send("g")
    screen = terminal.wait_for("driver asks +✖ reset the GPU")
    assert "▸ ✖    1" in screen and "✖ NVLink 4,11 down" in screen
    assert re.search(r"6 NV16 NV16 NV16 NV16 NV16 NV16 +· NV16 +1  48-95,144-191", screen)
    assert "fan, retired pages: not supported by this GPU (all 8 GPUs)" in screen
    terminal.send("End")
    terminal.wait_for("▸ +7")
    terminal.send("Up", "Enter")
    terminal.wait_for("link 4 +✖ down")
    fake_nvml.xid(6, 79)
    terminal.wait_for(r"✖ Xid 79 +\w")


def test_hung_driver_leaves_the_screen_alive(open_terminal: Open, start: Start, fake_nvml: FakeNvml) -> None:
    terminal = attach(open_terminal, start, fake_nvml, 120, 40)
    terminal.wait_until(lambda screen: len(answering(screen)) == 8, "eight rows with numbers")
    fake_nvml.sleep("all", "*", "hang")
    screen = terminal.wait_until(lambda screen: screen.count("stale ") == 8, "eight stale rows")
    assert answering(screen) == {}
    terminal.wait_for(r"─ GPUs ─+ driver does not answer in time ─ 8 × NVIDIA H100")
    wait_for_ticks(terminal, 3)
    terminal.send("9")
    terminal.wait_for("─ Processes ")
    terminal.send("1")
    terminal.wait_for("─ GPUs ─")
    fake_nvml.undo()
    terminal.wait_until(lambda screen: len(answering(screen)) == 8, "eight rows with numbers again")


@pytest.mark.parametrize("key", ["q", "C-c"])
def test_leaving_does_not_wait_for_a_hung_driver(
    key: str, open_terminal: Open, start: Start, fake_nvml: FakeNvml
) -> None:
    fake_nvml.sleep("system", "*", "hang")
    terminal = attach(open_terminal, start, fake_nvml, 100, 30)
    terminal.wait_for("NVIDIA driver not answering: nvmlInit")
    wait_for_ticks(terminal)
    terminal.send(key)
    terminal.wait_for(rf"^hwtop: .*\n(.*\n)?{PROMPT}")


def test_snapshot_of_a_lost_gpu(fake_nvml: FakeNvml) -> None:
    fake_nvml.fail(3, "*", "GPU_IS_LOST")
    gpus = hwtop_json(fake_nvml, "snapshot")["gpus"]
    assert [(gpu["index"], gpu["status"]) for gpu in gpus] == [(n, "lost" if n == 3 else "ok") for n in range(8)]
    assert gpus[3]["util_pct"] is None and "no longer answers" in gpus[3]["reason"]
    assert gpus[0]["name"] == "NVIDIA H100 80GB HBM3"
    assert gpus[0]["mem_total_bytes"] == 81559 * 2**20 and gpus[0]["power_limit_w"] == 700
    assert gpus[0]["processes"][0]["pid"] == 4100
    assert all(90 <= gpu["util_pct"] <= 100 for gpu in gpus if gpu["index"] != 3)


def test_snapshot_and_diagnosis_under_a_hung_driver_say_so(start: Start, fake_nvml: FakeNvml) -> None:
    fake_nvml.sleep("all", "*", "hang")
    snapshot = hwtop_json(fake_nvml, "snapshot")
    assert all(gpu["status"] == "stale" and "not answering" in gpu["reason"] for gpu in snapshot["gpus"])
    assert snapshot["cpu"]["util_pct"] is not None
    fake_nvml.undo()
    fake_nvml.sleep("system", "*", "hang")
    diagnosis = hwtop_json(fake_nvml, "diagnose", start().launcher_pid, "--for", "3s")
    assert [rank["rank"] for rank in diagnosis["job"]["ranks"]] == [0, 1]
    assert any(blind["source"] == "gpu" and "not answering" in blind["reason"] for blind in diagnosis["blind"])


def test_gpu_idle_while_the_cpu_is_busy(start: Start, fake_nvml: FakeNvml) -> None:
    """One job, looked at twice: its GPU at 95 %, then at 3 %."""
    job = start(scenario("loader-in-main", "--device-ms", "0"), rank_count=1)
    wait_until(lambda: len(rank_pids(job)) == 1, "a rank")
    use_ranks(fake_nvml, rank_pids(job))

    def diagnose(for_s: int) -> dict[str, Any]:
        return hwtop_json(fake_nvml, "diagnose", job.launcher_pid, "--for", f"{for_s}s")

    fake_nvml.set("all", util=95)
    busy = diagnose(8)
    assert busy["job"]["ranks"][0]["gpu"] == 0
    assert "gpu-idle-cpu-busy" not in [finding["symptom"] for finding in busy["findings"]]
    fake_nvml.set("all", util=3, power=90)
    findings = {finding["symptom"]: finding for finding in diagnose(15)["findings"]}
    assert "gpu-idle-cpu-busy" in findings, findings
    found = findings["gpu-idle-cpu-busy"]
    assert found["ranks"] == [0] and found["severity"] == "warning"
    assert any(line.startswith("GPU 0: 3 % busy") for line in found["evidence"])
