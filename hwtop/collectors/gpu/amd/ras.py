"""Memory errors of an AMD GPU: /sys/.../ras/*_err_count and gpu_vram_bad_pages (Documentation/gpu/amdgpu/ras.rst)."""

from __future__ import annotations

import os

from hwtop.collectors.gpu.drm.sysfs import Files, NotReported
from hwtop.model.gpu.health import EccErrors, RetiredPages

_MEMORY = "umc"
"""The block that serves device memory; errors of all others are of caches and registers."""
_LINKS = ("xgmi_wafl", "pcie_bif")
"""Blocks whose errors are not of memory."""
_SUFFIX = "_err_count"


def read_ecc(files: Files, device: str) -> EccErrors:
    """Counts since the driver was loaded, over all blocks ("ue: 0", "ce: 12"; newer drivers add "de", errors put off).

    Raises:
        OSError, ValueError: the board has no such counters (Radeon), or they are not to be read now.
    """
    try:
        names = [name for name in os.listdir(f"{device}/ras") if name.endswith(_SUFFIX)]
    except FileNotFoundError:
        names = []
    if not names:
        raise NotReported("no error counters (RAS) on this GPU, or its driver has them off")
    counts = {
        name.removesuffix(_SUFFIX): _counts(files, f"{device}/ras/{name}")
        for name in sorted(names)
        if name.removesuffix(_SUFFIX) not in _LINKS
    }
    reported = {block: count for block, count in counts.items() if "ue" in count and "ce" in count}
    if not reported:
        raise NotReported("the error counters cannot be read now (GPU in reset?)")
    memory = reported.get(_MEMORY)
    return EccErrors(
        is_enabled=_is_enabled(files, device),
        volatile_corrected=sum(count["ce"] for count in reported.values()),
        volatile_uncorrected=sum(count["ue"] for count in reported.values()),
        sram_uncorrected=sum(count["ue"] for block, count in reported.items() if block != _MEMORY),
        dram_uncorrected=None if memory is None else memory["ue"],
    )


def read_retired(files: Files, device: str) -> RetiredPages:
    """Pages of device memory that are out of use: lines of "page : size : flag", R reserved, P waiting, F still in use.

    Raises:
        OSError, ValueError: the board keeps no such list.
    """
    flags = [line.rsplit(":", 1)[-1].strip() for line in files.text(f"{device}/ras/gpu_vram_bad_pages").splitlines()]
    known = [flag for flag in flags if flag in ("R", "P", "F")]
    if len(known) < len(flags):
        raise NotReported("gpu_vram_bad_pages is not in the known format")
    return RetiredPages(single_bit=None, double_bit=len(known), is_pending=any(flag in "PF" for flag in known))


def _counts(files: Files, path: str) -> dict[str, int]:
    try:
        lines = files.text(path).splitlines()
    except OSError:
        return {}
    pairs = (line.split(":") for line in lines if line.count(":") == 1)
    return {name.strip(): int(count) for name, count in pairs if count.strip().isdecimal() and len(count) < 20}


def _is_enabled(files: Files, device: str) -> bool | None:
    """ "feature mask: 0x3fff": which blocks are watched."""
    try:
        return int(files.text(f"{device}/ras/features").rpartition(":")[2].strip() or "x", 16) != 0
    except (OSError, ValueError):
        return None
