"""Who holds a GPU's memory: processes that are there, that are gone, and that cannot be seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwtop.collectors.gpu.holder import GpuHolders
from hwtop.model.gpu.device import Gpu, GpuProcess
from tests.host import write_tree

GIB = 1 << 30
HOST = "pid:[4026531836]"


def stat(pid: int, state: str) -> str:
    return f"{pid} (python) {state} " + " ".join(["1"] * 49)


def proc(tmp_path: Path, namespace: str = HOST, release: str = "6.8.0-generic", *, is_hidden: bool = False) -> str:
    """PIDs 1, 4100 (sleeps) and 4101 (a zombie)."""
    files = {
        "self/ns/x": "",
        "sys/kernel/osrelease": release,
        "4100/stat": stat(4100, "S"),
        "4101/stat": stat(4101, "Z"),
    }
    if not is_hidden:
        files["1/stat"] = stat(1, "S")
    write_tree(tmp_path, files)
    (tmp_path / "self/ns/pid").symlink_to(namespace)
    return str(tmp_path)


def gpu(*held: tuple[int, int | None], used: int = 70 * GIB, **fields: object) -> Gpu:
    known = {"vendor": "nvidia"} | fields
    processes = tuple(GpuProcess(pid=pid, mem_bytes=size) for pid, size in held)
    return Gpu(index=0, name="H100", uuid=None, status="ok", mem_used_bytes=used, processes=processes, **known)  # type: ignore[arg-type]


def reported(root: str, device: Gpu) -> tuple[list[str | None], int | None]:
    (found,) = GpuHolders(root).reported([device])
    return [entry.state for entry in found.processes or ()], found.unlisted_bytes


def test_the_state_of_each_process_and_what_nobody_holds(tmp_path: Path) -> None:
    device = gpu((4100, 20 * GIB), (4101, 10 * GIB), (4194000, 30 * GIB))
    assert reported(proc(tmp_path), device) == (["S", "Z", "X"], 10 * GIB)


@pytest.mark.parametrize(
    ("namespace", "release", "is_hidden"),
    [
        ("pid:[4026532799]", "6.8.0-generic", False),
        (HOST, "5.15.153.1-microsoft-standard-WSL2", False),
        (HOST, "6.8.0-generic", True),
    ],
    ids=["container", "WSL", "hidepid"],
)
def test_where_not_all_processes_are_seen_nothing_is_said(
    tmp_path: Path, namespace: str, release: str, is_hidden: bool
) -> None:
    root = proc(tmp_path, namespace, release, is_hidden=is_hidden)
    assert reported(root, gpu((4194000, 30 * GIB))) == ([None], None)
    assert reported(root, gpu()) == ([], None)


def test_memory_of_nobody_needs_a_whole_list(tmp_path: Path) -> None:
    root = proc(tmp_path)
    assert reported(root, gpu()) == ([], 70 * GIB)
    assert reported(root, gpu((4100, None))) == (["S"], None)
    assert reported(root, gpu((4100, 71 * GIB))) == (["S"], 0)
    assert reported(root, gpu(mig_mode=True)) == ([], None)
    assert reported(root, gpu(vendor="amd")) == ([], None)


def test_a_list_that_cannot_be_read_stays_unknown(tmp_path: Path) -> None:
    device = Gpu(index=0, vendor="nvidia", name="H100", uuid=None, status="ok", mem_used_bytes=GIB)
    assert GpuHolders(proc(tmp_path)).reported([device]) == (device,)


def test_without_proc_nothing_is_said(tmp_path: Path) -> None:
    assert reported(str(tmp_path / "none"), gpu((1, GIB))) == ([None], None)
