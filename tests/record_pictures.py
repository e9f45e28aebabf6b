"""Makes the recordings behind the pictures anew: `python -m tests.record_pictures [NAME...]`.

Real jobs of `hwtop demo` (standard library), watched as usual; the GPUs are the fake driver's, each bound to the
process of a rank, because no single box has all these faults at hand.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from hwtop.demo.run import DemoJob
from hwtop.demo.scenarios import Scenario
from tests.fakenvml.fixture import HERE as FAKE
from tests.recording import RECORDINGS, nobodys
from tests.training import environment

LIGHT = ("--forward-ms", "5", "--backward-ms", "5", "--device-ms", "420", "--num-workers", "1", "--decode-ms", "5")
BUSY = "util = 91..100/12\nmem_util = 55..72/12\nmem_used = 71680~200\npower = 610..695/12\ntemp = 58..66/60\ngr = 1830~60\n"
NODE = (
    "mem_temp = 70..78/60\npcie_tx = 900000~200000\npcie_rx = 1400000~300000\n"
    "nvlinks = 18\nnvlink_tx = 110000..160000/8\nnvlink_rx = 110000..160000/8\n"
    "gpm_sm = 88..96/12\ngpm_occ = 34~3\ngpm_tensor = 52..64/12\ngpm_dram = 55..72/12\n"
    "[gpu 0-3]\nnuma = 0\ncpus = 0-47,96-143\n[gpu 4-7]\nnuma = 1\ncpus = 48-95,144-191\n"
)
"""What makes of eight GPUs a node: traffic, activity and the sockets."""
ILL = (
    "[gpu 1]\necc_dbe_vol = 2\necc_dbe_agg = 5\necc_sbe_vol = 133\necc_sbe_agg = 2051\nremap_unc = 2\nremap_pending = 1\n"
    "recovery_action = 1\nxid = 1 94\n"
    "[gpu 2]\npower_limit = 500\npower = 499~1\ngr = 1410~30\nthrottle = sw_power\nviol_power = 0.6\n"
    "[gpu 4]\npcie_width = 8\npcie_replay = 4711\n"
    "[gpu 6]\nnvlink_down = 4,11\nnvlink_crc = 4:120,11:9000\nnvlink_recovery = 11:2\n"
)
STARVED = (
    "util = 2..31/7\nmem_util = 1..12/7\nmem_used = 52680~200\npower = 96..240/7\ntemp = 38..44/60\ngr = 1980~20\n"
)
SPINS = "util = 100\nmem_util = 1\nmem_used = 71680~20\npower = 178~6\ntemp = 47..49/60\ngr = 1980\n"


@dataclass(frozen=True)
class Session:
    """One recording: a job, its GPUs before and after `turn_s`, and how long to watch."""

    arguments: tuple[str, ...]
    gpus: str
    later: str = ""
    """Scenario lines that are added `turn_s` after the watch began."""
    turn_s: float = 0.0
    ranks: int = 8
    seconds: float = 60.0


SESSIONS = {
    "healthy": Session(("--eval-every", "40", "--save-every", "60", *LIGHT), BUSY),
    "input-bound": Session(
        ("--forward-ms", "10", "--backward-ms", "10", "--device-ms", "15", "--num-workers", "1", "--decode-ms", "220"),
        STARVED,
        ranks=2,
    ),
    "hang": Session(
        ("--fault", "hang", "--fault-rank", "5", "--fault-step", "60", *LIGHT),
        BUSY,
        "[all]\n" + SPINS + "[gpu 5]\nutil = 0\npower = 118\n",
        turn_s=22.0,
        seconds=105.0,
    ),
    "gpu-errors": Session(LIGHT, BUSY + NODE, ILL, turn_s=25.0, seconds=55.0),
    "oom": Session(
        ("--fault", "cuda-oom", "--fault-rank", "1", "--fault-step", "60", *LIGHT),
        BUSY + "[gpu 1]\nmem_used = 80100~300\n",
        seconds=34.0,
    ),
    "gpu-lost": Session(LIGHT, BUSY, "[gpu 3]\nfail * = GPU_IS_LOST\n", turn_s=40.0),
}


def make(name: str, session: Session, library: Path) -> None:
    scenario = Scenario(name, "", None, False, session.arguments)
    with tempfile.TemporaryDirectory() as folder, DemoJob(scenario, Path(folder), rank_count=session.ranks) as job:
        pids = _rank_pids(job, session.ranks)
        live = Path(folder) / "live.scn"
        _write(live, session.gpus, pids, "")
        env = {**os.environ, "LD_LIBRARY_PATH": str(library), "FAKENVML_SCENARIO": str(live)}
        command = [sys.executable, "-m", "tests.recording", str(job.launcher_pid), str(RECORDINGS / f"{name}.mpk.zst")]
        command += ["--for", str(session.seconds)]
        command += [word for old, new in nobodys(Path(folder)).items() for word in ("--scrub", f"{old}={new}")]
        watcher = subprocess.Popen(command, env=env)
        time.sleep(session.turn_s)
        if session.later:
            _write(live, session.gpus, pids, session.later)
        watcher.wait()
    print(name, (RECORDINGS / f"{name}.mpk.zst").stat().st_size, "bytes")


def _rank_pids(job: DemoJob, count: int) -> dict[int, int]:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        ranks: dict[int, int] = {}
        for pid in sorted(job.members(job.launcher_pid)):
            rank = environment(pid).get("RANK")
            if rank is not None:
                ranks.setdefault(int(rank), pid)
        if len(ranks) == count:
            return ranks
        time.sleep(0.1)
    raise TimeoutError("the ranks did not start")


def _write(live: Path, gpus: str, pids: dict[int, int], later: str) -> None:
    """By rename: the fake driver reads the file at each call."""
    text = f"[system]\ngpus = {len(pids)}\ndriver = 580.95.05\n[all]\nname = NVIDIA H100 80GB HBM3\n{gpus}"
    text += "".join(f"[gpu {rank}]\nproc = {pid} 70912 sm=95 mem=63\n" for rank, pid in pids.items()) + later
    new = live.with_suffix(".new")
    new.write_text(text)
    new.rename(live)


def main() -> None:
    with tempfile.TemporaryDirectory() as library:
        subprocess.run(["make", "-s", "-C", str(FAKE), f"DIR={library}"], check=True, capture_output=True)
        for name in sys.argv[1:] or SESSIONS:
            make(name, SESSIONS[name], Path(library))


if __name__ == "__main__":
    main()
