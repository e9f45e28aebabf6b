"""Makes the fake driver repeat what a job's pretended devices do (tests/jobs/pretend_device.py)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from tests.jobs.pretend_device import SPINNING_W

EVERY_S = 0.4
IDLE_W = 75


@contextmanager
def mirrored(folder: Path, live: Path) -> Iterator[None]:
    """As long as the context is open, GPU N of the scenario `live` is as busy as `device_N` in `folder` says; the others idle."""
    is_over = Event()
    thread = Thread(target=_mirror, args=(folder, live, is_over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _mirror(folder: Path, live: Path, is_over: Event) -> None:
    scenario = live.read_text() + "[all]\nutil = 0\nmem_util = 0\npower = 75\nmem_used = 900\ngpm_sm = 0\n"
    before: dict[str, tuple[float, float]] = {}
    while not is_over.wait(EVERY_S):
        sections = []
        for book in folder.glob("device_*"):
            now_s, words = time.monotonic(), book.read_text().split()
            if len(words) != 2:  # it is being written
                continue
            busy_s, watts = float(words[0]), int(words[1])
            past_s, past_busy_s = before.get(book.name, (now_s - EVERY_S, busy_s))
            before[book.name] = now_s, busy_s
            share = min(1.0, (busy_s - past_busy_s) / (now_s - past_s))
            work = share
            if watts == SPINNING_W and share > 0.5:
                share, work = 1.0, 0.0  # a kernel that waits never leaves the device, and polls a few addresses
            sections.append(
                f"[gpu {book.name.removeprefix('device_')}]\nutil = {100 * share:.0f}\nmem_util = {60 * work:.0f}\n"
                f"gpm_tensor = {50 * work:.0f}\ngpm_dram = {60 * work:.0f}\npcie_tx = {9e5 * work:.0f}\n"
                f"pcie_rx = {1.4e6 * work:.0f}\nnvlink_tx = {1.1e5 * work:.0f}\nnvlink_rx = {1.1e5 * work:.0f}\n"
                f"gpm_sm = {90 * share:.0f}\nmem_used = 52000\npower = {IDLE_W + share * (watts - IDLE_W):.0f}\n"
            )
        ready = live.with_suffix(".new")
        ready.write_text(scenario + "".join(sections))
        ready.rename(live)
