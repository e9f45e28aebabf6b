"""Memory and room on disks in powers of 1024, as on the screen, in `free -h`, `df -h` and the tools of the GPU vendors."""

from __future__ import annotations

MIB, GIB = 1 << 20, 1 << 30


def size(value_bytes: float) -> str:
    """For texts: "23.5 GiB", "812 MiB", "12 KiB"."""
    if value_bytes >= 1000 * MIB:
        return f"{value_bytes / GIB:.1f} GiB"
    return f"{value_bytes / MIB:.0f} MiB" if value_bytes >= MIB else f"{value_bytes / 1024:.0f} KiB"


def part(used_bytes: float, total_bytes: float) -> str:
    """ "598 MiB of 23.5 GiB", "22.4 of 23.5 GiB"."""
    used, total = size(used_bytes), size(total_bytes)
    number, _, unit = used.partition(" ")
    return f"{number if total.endswith(unit) else used} of {total}"
