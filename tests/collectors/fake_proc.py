"""Builds a /proc tree in a folder: from a table of processes, or from a recorded one."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

RECORDED_TORCHRUN = Path(__file__).parents[1] / "data" / "proc_torchrun" / "tree.json"
"""torchrun --standalone --nproc-per-node 2 --redirects 3, two forked DataLoader workers a rank, gloo (torch 2.13)."""


@dataclass
class FakeProcess:
    pid: int
    ppid: int
    argv: str
    """Words are split at blanks."""
    comm: str = ""
    env: dict[str, str] = field(default_factory=dict)
    state: str = "S"
    start_ticks: int = 0
    """The pid when 0."""
    exit_status: int = 0
    threads: tuple[str, ...] = ()
    """comms of the threads besides the main one."""
    flags: int = 0x400000
    rss_pages: int = 512

    @property
    def name(self) -> str:
        return self.comm or os.path.basename(self.argv.split()[0])[:15]


class FakeProc:
    """A root like /proc with these processes."""

    def __init__(self, root: Path, processes: list[FakeProcess], lists_children: bool = True) -> None:
        self.root = root
        self._lists_children = lists_children
        self._processes: dict[int, FakeProcess] = {}
        (root / "stat").write_text("cpu 1 1 1 1\nbtime 1700000000\n")
        (root / "uptime").write_text("10000.00 20000.00\n")
        for process in processes:
            self._write(process)
        self._write_children()

    def put(self, process: FakeProcess) -> None:
        """Add a process, or change one."""
        self._write(process)
        self._write_children()

    def _write(self, process: FakeProcess) -> None:
        self._processes[process.pid] = process
        folder = self.root / str(process.pid)
        folder.mkdir(exist_ok=True)
        (folder / "stat").write_text(_stat(process, process.pid, process.name))
        (folder / "status").write_text(_STATUS.format(pid=process.pid, uid=os.getuid()))
        (folder / "wchan").write_text("do_epoll_wait")
        (folder / "schedstat").write_text("5000000 7000000 42\n")
        self._replace(folder / "cmdline", process.argv.replace(" ", "\0") + "\0")
        self._replace(folder / "environ", "".join(f"{name}={value}\0" for name, value in process.env.items()))
        (folder / "io").write_text("rchar: 10\nwchar: 20\nsyscr: 1\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 8192\n")
        (folder / "limits").write_text("Max open files            1024                 4096                 files\n")
        (folder / "cgroup").write_text("0::/user.slice\n")
        (folder / "fd").mkdir(exist_ok=True)
        for name, target in (("exe", f"/usr/bin/{process.argv.split()[0]}"), ("cwd", "/home/ada")):
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(target)
        for index, comm in enumerate((process.name, *process.threads)):
            task = folder / "task" / str(process.pid + index * 100_000)
            task.mkdir(parents=True, exist_ok=True)
            (task / "stat").write_text(_stat(process, int(task.name), comm))

    def remove(self, pid: int) -> None:
        """The process ends; its children go to process 1."""
        del self._processes[pid]
        folder = self.root / str(pid)
        folder.rename(self.root / f"gone-{pid}-{len(os.listdir(self.root))}")
        for process in list(self._processes.values()):
            if process.ppid == pid:
                process.ppid = 1
                self.put(process)
        self._write_children()

    def block(self, pid: int, name: str) -> None:
        """Reading this file waits for ever, as on a process in uninterruptible sleep."""
        path = self.root / str(pid) / name
        path.unlink(missing_ok=True)
        os.mkfifo(path)

    def unblock(self, pid: int, name: str) -> None:
        """Let the readers of a blocked file go."""
        descriptor = os.open(self.root / str(pid) / name, os.O_RDWR | os.O_NONBLOCK)
        os.close(descriptor)

    def _replace(self, path: Path, text: str) -> None:
        if not path.is_fifo():
            path.write_text(text)

    def _write_children(self) -> None:
        if not self._lists_children:
            return
        children: defaultdict[int, list[str]] = defaultdict(list)
        for process in self._processes.values():
            children[process.ppid].append(str(process.pid))
        for pid in self._processes:
            for task in (self.root / str(pid) / "task").iterdir():
                (task / "children").write_text(" ".join(children[pid]) if task.name == str(pid) else "")


def replay_recorded(root: Path, recording: Path = RECORDED_TORCHRUN) -> None:
    """Write a recorded tree: {"files": {path: text}, "links": {path: target}}."""
    tree = json.loads(recording.read_text())
    for name, text in tree["files"].items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name, target in tree["links"].items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)


def _stat(process: FakeProcess, tid: int, comm: str) -> str:
    fields = ["0"] * 52
    fields[2], fields[3], fields[8] = process.state, str(process.ppid), str(process.flags)
    fields[13], fields[14] = "300", "40"
    fields[19] = str(1 if process.state == "Z" else 1 + len(process.threads))
    fields[21] = str(process.start_ticks or process.pid)
    fields[23] = str(process.rss_pages)
    fields[47] = str(hash(process.argv) & 0xFFFFFFFF)
    fields[51] = str(process.exit_status)
    return f"{tid} ({comm}) " + " ".join(fields[2:]) + "\n"


_STATUS = """Name:\tpython
Tgid:\t{pid}
Pid:\t{pid}
TracerPid:\t0
Uid:\t{uid}\t{uid}\t{uid}\t{uid}
NSpid:\t{pid}
VmRSS:\t    2048 kB
RssAnon:\t    1024 kB
VmSwap:\t       0 kB
SigCgt:\t0000000100000002
Cpus_allowed:\tf,ffffffff
voluntary_ctxt_switches:\t7
nonvoluntary_ctxt_switches:\t3
"""
