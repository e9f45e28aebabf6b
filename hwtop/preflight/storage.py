"""Folders that a run writes to: where it is started, temporary files, caches of models and of compiled kernels."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from hwtop.collectors.host.mounts import mounts_of
from hwtop.collectors.procfs import reason_of
from hwtop.job.kernel.mount_use import mounts_of as mounts_below
from hwtop.preflight.check import Check, Family, Outcome, failed, passed, warned
from hwtop.preflight.machine import Machine, NotReadError
from hwtop.symptoms.host.storage import fullness, is_nearly_full

WRITTEN_UNITS = 32
"""MB written to each file system, to a file without a name: it is gone when it is closed."""
SLOW_MB_PER_S = 50.0
"""A checkpoint of 10 GB takes longer than three minutes. Engineering default."""
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "afs"})
"""File systems on which file locks and many small files are slow; parallel ones (Lustre, GPFS) are left out."""
_COMPILED = ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR")


def folders(machine: Machine) -> dict[str, Path]:
    """What it is for -> the folder, or the nearest folder above it that exists."""
    env = machine.env
    home = Path(env.get("HOME", "/"))
    cache = Path(env.get("XDG_CACHE_HOME") or home / ".cache")
    temporary = Path(env.get("TMPDIR") or "/tmp")
    wanted = {
        "working folder": Path(os.readlink(f"{machine.proc}/{machine.pid}/cwd")),
        "TMPDIR": temporary,
        "HF_HOME": Path(env.get("HF_HOME") or cache / "huggingface"),
        "TORCH_HOME": Path(env.get("TORCH_HOME") or cache / "torch"),
        _COMPILED[0]: Path(env.get(_COMPILED[0]) or home / ".triton"),
        _COMPILED[1]: Path(env.get(_COMPILED[1]) or temporary / "torchinductor"),
    }
    return {name: _existing(path) for name, path in wanted.items()}


def _space(machine: Machine) -> Outcome:
    used = mounts_below(map(str, folders(machine).values()), machine.state.mounts)
    full = [mount for mount in used if is_nearly_full(mount)]
    hung = [mount for mount in used if mount.reason is not None]
    if hung:
        return failed(f"{hung[0].mount_point}: {hung[0].reason}", f"stat -f {hung[0].mount_point}; check its server")
    if full:
        words = "; ".join(f"{mount.mount_point}: {fullness(mount)}" for mount in full)
        return warned(words, f"du -xh --max-depth=2 {full[0].mount_point} | sort -h | tail")
    if not used:
        raise NotReadError("mounts not reported")
    return passed("; ".join(f"{mount.mount_point}: {fullness(mount)}" for mount in used))


def _kind(machine: Machine) -> Outcome:
    """Compiled kernels and temporary files; data and checkpoints may well be on a file server."""
    known = folders(machine)
    table = mounts_of(machine.pid, machine.proc)
    kinds = {name: mount.fs_type for name, path in known.items() for mount in mounts_below([str(path)], table)}
    for name in ("TMPDIR", *_COMPILED):
        if kinds.get(name) in _NETWORK:
            words = f"{name} is on {kinds[name]} ({known[name]}): all ranks wait for its file locks"
            return warned(words, f"export {name}=/tmp/$USER   # a local disk")
    if not kinds:
        raise NotReadError("mounts not reported")
    return passed(", ".join(f"{name}: {kind}" for name, kind in kinds.items()))


def _write(machine: Machine) -> Outcome:
    if machine.is_job:
        raise NotReadError(machine.in_use)
    by_device: dict[int, tuple[str, Path]] = {}
    for name, path in folders(machine).items():
        by_device.setdefault(path.stat().st_dev, (name, path))
    speeds = []
    for name, path in by_device.values():
        try:
            mb_per_s = _mb_per_s(path)
        except OSError as error:
            error.filename = str(path)
            return failed(f"{name}: {reason_of(error)}", f"Choose another folder, or: ls -ld {path}; findmnt -T {path}")
        speeds.append(f"{name} ({path}): {mb_per_s:.0f} MB/s")
        if mb_per_s < SLOW_MB_PER_S:
            return warned(
                f"{speeds[-1]}: checkpoints take long", "iostat -x 1   # who else writes; or choose a faster disk"
            )
    return passed("; ".join(speeds))


def _mb_per_s(folder: Path) -> float:
    """With fsync, so that the page cache does not count."""
    block = os.urandom(1 << 20)
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        began_s = time.monotonic()
        for _ in range(WRITTEN_UNITS):
            file.write(block)
        os.fsync(file.fileno())
        return WRITTEN_UNITS * len(block) / 1e6 / (time.monotonic() - began_s)


def _existing(path: Path) -> Path:
    return next(each for each in (path, *path.parents) if each.is_dir())


STORAGE = Family(
    "Storage",
    (
        Check(id="folder-space", about="Hardly any room or inodes where the run writes", look=_space),
        Check(id="folder-kind", about="Temporary files or compiled kernels are on a file server", look=_kind),
        Check(
            id="folder-write",
            about="A folder that the run writes to is read-only or slow",
            look=_write,
            is_slow=True,
            deadline_s=30.0,
        ),
    ),
)
